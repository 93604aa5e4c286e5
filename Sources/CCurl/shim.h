#pragma once
#include <curl/curl.h>

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

static inline CURLcode http_get_status(CURL *handle, long *status) {
  return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
}

static inline CURLMcode http_set_pool_number(CURLM *pool, CURLMoption option, long value) {
  return curl_multi_setopt(pool, option, value);
}
