#pragma once
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's entrance for programs that keep their own main. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
