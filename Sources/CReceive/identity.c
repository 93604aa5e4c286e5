#include "identity.h"
#include "receive.h"
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { chain_limit = 16 };

struct identity {
  gnutls_pcert_st chain[chain_limit];
  unsigned int length;
  gnutls_privkey_t key;
  int64_t ends;
};

static _Atomic(struct identity *) identities[receive_sockets];

/* The library itself finds out whether the two belong together. */
static bool match(const gnutls_datum_t *certificate, const gnutls_datum_t *key) {
  gnutls_certificate_credentials_t both;
  if (gnutls_certificate_allocate_credentials(&both) != GNUTLS_E_SUCCESS) return false;
  int result = gnutls_certificate_set_x509_key_mem(both, certificate, key, GNUTLS_X509_FMT_PEM);
  gnutls_certificate_free_credentials(both);
  return result >= 0;
}

static int64_t end_of(const gnutls_pcert_st *certificate) {
  gnutls_x509_crt_t read;
  if (gnutls_x509_crt_init(&read) != GNUTLS_E_SUCCESS) return 0;
  int64_t ends = 0;
  if (gnutls_x509_crt_import(read, &certificate->cert, GNUTLS_X509_FMT_DER) == GNUTLS_E_SUCCESS)
    ends = (int64_t)gnutls_x509_crt_get_expiration_time(read);
  gnutls_x509_crt_deinit(read);
  return ends;
}

struct identity *identity_load(const void *certificate, size_t certificate_length, const void *key,
                               size_t key_length) {
  gnutls_datum_t certificate_text = {(unsigned char *)certificate, (unsigned int)certificate_length};
  gnutls_datum_t key_text = {(unsigned char *)key, (unsigned int)key_length};
  if (!match(&certificate_text, &key_text)) return NULL;
  struct identity *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->length = chain_limit;
  if (gnutls_pcert_list_import_x509_raw(made->chain, &made->length, &certificate_text,
                                        GNUTLS_X509_FMT_PEM, 0) < 0 ||
      made->length == 0 || gnutls_privkey_init(&made->key) < 0 ||
      gnutls_privkey_import_x509_raw(made->key, &key_text, GNUTLS_X509_FMT_PEM, NULL, 0) < 0) {
    free(made);
    return NULL;
  }
  made->ends = end_of(&made->chain[0]);
  return made;
}

int64_t identity_ends(const struct identity *identity) { return identity->ends; }

void identity_use(int socket, struct identity *identity) {
  if (socket < 0 || socket >= receive_sockets) return;
  atomic_store_explicit(&identities[socket], identity, memory_order_release);
}

static int give(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                gnutls_pcert_st **chain, unsigned int *length, gnutls_privkey_t *key) {
  (void)authorities, (void)authority_count, (void)algorithms, (void)algorithm_count;
  int socket = gnutls_transport_get_int(session);
  if (socket < 0 || socket >= receive_sockets) return -1;
  struct identity *found = atomic_load_explicit(&identities[socket], memory_order_acquire);
  if (!found) return -1;
  *chain = found->chain;
  *length = found->length;
  *key = found->key;
  return 0;
}

void *identity_giver(void) { return (void *)&give; }
