#pragma once
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Swift cannot call functions of variable arity, so each use of one has a fixed shape here. */

static inline CURLcode http_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode http_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode http_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode http_set_body(CURL *handle, const void *bytes, curl_off_t count) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, count);
  return code ? code : curl_easy_setopt(handle, CURLOPT_POSTFIELDS, bytes);
}

static inline CURLcode http_set_receiver(CURL *handle, CURLoption option, curl_write_callback receive) {
  return curl_easy_setopt(handle, option, receive);
}

static inline CURLcode http_set_opener(CURL *handle, curl_opensocket_callback open) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
}

/* The address's bytes, and how many there are: 4, 16 or, for other families, 0. */
static inline int http_address(const struct sockaddr *address, unsigned char bytes[16]) {
  if (address->sa_family == AF_INET) {
    __builtin_memcpy(bytes, &((const struct sockaddr_in *)address)->sin_addr, 4);
    return 4;
  }
  if (address->sa_family == AF_INET6) {
    __builtin_memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    return 16;
  }
  return 0;
}

static inline int http_socket_address(const struct curl_sockaddr *address, unsigned char bytes[16]) {
  return http_address(&address->addr, bytes);
}

static inline int http_open_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static inline CURLcode http_get_status(CURL *handle, long *status) {
  return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
}

static inline CURLMcode http_set_pool_number(CURLM *pool, CURLMoption option, long value) {
  return curl_multi_setopt(pool, option, value);
}
