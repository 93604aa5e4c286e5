#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Certificates with their keys, as TLS shows them to clients. Each new connection gets one, so that a
   certificate can be replaced while a server runs. */
struct identity;

/* From two PEM texts; NULL unless the key is the certificate's. Lasts as long as the process: connections
   may show it for as long as they are open. */
struct identity *identity_load(const void *certificate, size_t certificate_length, const void *key,
                               size_t key_length);

/* When the first certificate ends, in seconds since 1970. */
int64_t identity_ends(const struct identity *identity);

/* What a connection on that socket will show. */
void identity_use(int socket, struct identity *identity);

/* For MHD_OPTION_HTTPS_CERT_CALLBACK: gives a session what its socket shows. */
void *identity_giver(void);
