#define _GNU_SOURCE
#include "receive.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

/* The contexts by socket. A context is at an even address; an odd one marks a TLS connection. */
static _Atomic(uintptr_t) contexts[receive_sockets];
static _Atomic(receive_filter) the_filter;

typedef ssize_t (*tls_receive)(void *session, void *buffer, size_t room);
static _Atomic(tls_receive) real_tls_receive;

/* Of the TLS library, which the HTTP library brings with it. */
extern int gnutls_transport_get_int(void *session);

static uintptr_t context_of(int socket) {
  if (socket < 0 || socket >= receive_sockets) return 0;
  return atomic_load_explicit(&contexts[socket], memory_order_acquire);
}

void receive_use(receive_filter filter) { atomic_store(&the_filter, filter); }

bool receive_register(int socket, void *context, bool is_tls) {
  if (socket < 0 || socket >= receive_sockets) return false;
  uintptr_t marked = context ? (uintptr_t)context | (is_tls ? 1 : 0) : 0;
  atomic_store_explicit(&contexts[socket], marked, memory_order_release);
  return true;
}

ssize_t recv(int socket, void *buffer, size_t room, int flags) {
  uintptr_t context = context_of(socket);
  if (context == 0 || (context & 1) != 0)
    return recvfrom(socket, buffer, room, flags, NULL, NULL);
  struct receive_source source = {socket, NULL};
  return atomic_load_explicit(&the_filter, memory_order_relaxed)((void *)context, buffer, room,
                                                                &source);
}

static ssize_t raw_tls(void *session, void *buffer, size_t room) {
  tls_receive real = atomic_load_explicit(&real_tls_receive, memory_order_relaxed);
  if (!real) {
    real = (tls_receive)dlsym(RTLD_NEXT, "gnutls_record_recv");
    atomic_store(&real_tls_receive, real);
  }
  return real(session, buffer, room);
}

ssize_t gnutls_record_recv(void *session, void *buffer, size_t room) {
  struct receive_source source = {gnutls_transport_get_int(session), session};
  uintptr_t context = context_of(source.socket);
  if ((context & 1) == 0) return raw_tls(session, buffer, room);
  return atomic_load_explicit(&the_filter, memory_order_relaxed)((void *)(context & ~(uintptr_t)1),
                                                                buffer, room, &source);
}

ssize_t receive_raw(const struct receive_source *source, void *buffer, size_t room) {
  if (source->session) return raw_tls(source->session, buffer, room);
  return recvfrom(source->socket, buffer, room, 0, NULL, NULL);
}

bool receive_is_interposed(void) {
  return dlsym(RTLD_DEFAULT, "recv") == (void *)recv &&
         dlsym(RTLD_DEFAULT, "gnutls_record_recv") == (void *)gnutls_record_recv;
}

int64_t receive_acknowledged(int socket) {
  struct tcp_info info;
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
  /* An older kernel knows less. */
  if (size < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return -1;
  return (int64_t)info.tcpi_bytes_acked;
}
