#pragma once
#include <sys/prctl.h>

/* Swift cannot call functions of variable arity, so each use of one has a fixed shape here. */

static inline int process_keep_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

static inline int process_gain_nothing(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
