#pragma once
#include <microhttpd.h>
#include <string.h>

/* Swift cannot call functions of variable arity, so each use of one has a fixed shape here. */

struct httpd_callbacks {
  void *context;
  MHD_AccessHandlerCallback receive;
  MHD_NotifyConnectionCallback connection_changed;
  void *(*request_line)(void *context, const char *uri, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback request_completed;
};

struct httpd_limits {
  unsigned int threads;
  unsigned int connections;
  size_t memory_per_connection;
};

/* A path that was unescaped early could no longer tell "/" from "%2F" inside a segment. */
static size_t httpd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/* Starts a pool of epoll threads that serve the connections given to MHD_add_connection.
   The function that gives each connection its certificate is needed for TLS, and NULL without. */
static inline struct MHD_Daemon *httpd_start(const struct httpd_callbacks *callbacks,
                                             const struct httpd_limits *limits,
                                             void *identity_giver) {
  struct MHD_OptionItem tls[] = {
      {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, identity_giver},
      {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
      {MHD_OPTION_END, 0, NULL},
  };
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                       MHD_USE_NO_LISTEN_SOCKET | (identity_giver ? MHD_USE_TLS : 0);
  return MHD_start_daemon(
      flags, 0, NULL, NULL, callbacks->receive, callbacks->context,
      MHD_OPTION_NOTIFY_CONNECTION, callbacks->connection_changed, callbacks->context,
      MHD_OPTION_URI_LOG_CALLBACK, callbacks->request_line, callbacks->context,
      MHD_OPTION_NOTIFY_COMPLETED, callbacks->request_completed, callbacks->context,
      MHD_OPTION_UNESCAPE_CALLBACK, &httpd_keep_escapes, NULL,
      MHD_OPTION_STRICT_FOR_CLIENT, (int)1,
      MHD_OPTION_THREAD_POOL_SIZE, limits->threads,
      MHD_OPTION_CONNECTION_LIMIT, limits->connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits->memory_per_connection,
      MHD_OPTION_ARRAY, identity_giver ? tls : tls + 2, MHD_OPTION_END);
}

/* Starts a pool that listens by itself, with nothing but a handler: what MHD can do at best. */
static inline struct MHD_Daemon *httpd_start_bare(const struct sockaddr *address,
                                                  unsigned int threads,
                                                  MHD_AccessHandlerCallback receive,
                                                  void *context) {
  return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, receive, context,
                          MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_THREAD_POOL_SIZE, threads,
                          MHD_OPTION_END);
}

static inline int httpd_socket(struct MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static inline void *httpd_socket_context(struct MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* Where the connection comes from; NULL where that is not known. */
static inline const struct sockaddr *httpd_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}
