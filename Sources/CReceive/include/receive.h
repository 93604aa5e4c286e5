#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whose bytes go through a filter before the HTTP library sees them, and how.

   The library gives no way to look at bytes before it parses them. It reads by recv(), or by
   gnutls_record_recv() where it decrypts; this file has functions of these names, which the dynamic
   linker finds first. A socket that was not registered is read as ever. */

/* Where a filter gets bytes from: a socket, or a TLS session over it. */
struct receive_source {
  int socket;
  void *session;
};

/* Gives what recv() gives. */
typedef ssize_t (*receive_filter)(void *context, void *buffer, size_t room,
                                  const struct receive_source *source);

/* Sockets with higher numbers cannot be registered. */
enum { receive_sockets = 1 << 18 };

/* The one filter of this process. */
void receive_use(receive_filter filter);

/* From now on, or until context is NULL, the filter reads that socket. */
bool receive_register(int socket, void *context, bool is_tls);

/* Bytes as they come; as recv(), or as gnutls_record_recv() where there is a session. */
ssize_t receive_raw(const struct receive_source *source, void *buffer, size_t room);

/* Whether the dynamic linker took the functions of this file. */
bool receive_is_interposed(void);

/* How many bytes the other end of a TCP connection has acknowledged since its beginning; -1 if the system
   does not say. */
int64_t receive_acknowledged(int socket);
