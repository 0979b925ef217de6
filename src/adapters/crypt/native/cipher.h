/*
 * AES-256-GCM and single AES blocks. The arithmetic is OpenSSL's; this file only picks the implementation for the
 * processor and gives it an interface of five functions.
 */
#ifndef SVC_CIPHER_H
#define SVC_CIPHER_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/aes.h>
#include <openssl/modes.h>

enum { CIPHER_KEY = 32, CIPHER_NONCE = 12, CIPHER_TAG = 16, CIPHER_BLOCK = 16 };

/* Expanded keys of one AES-256 key. Holds no pointers; wipe it with cipher_wipe. */
typedef struct BlockKey {
  AES_KEY encrypt;
  AES_KEY decrypt;
} BlockKey;

/*
 * State of one stream of GCM calls. Not for two threads at a time: each open file has its own.
 * The BlockKey that it was made from must outlive it.
 */
typedef struct Gcm {
  GCM128_CONTEXT *context;
} Gcm;

/* Returns 0 when this processor has no AES implementation that runs in constant time. */
int cipher_is_supported(void);

void cipher_expand(BlockKey *key, const uint8_t bytes[CIPHER_KEY]);
void cipher_encrypt_block(const BlockKey *key, const uint8_t in[CIPHER_BLOCK], uint8_t out[CIPHER_BLOCK]);
void cipher_decrypt_block(const BlockKey *key, const uint8_t in[CIPHER_BLOCK], uint8_t out[CIPHER_BLOCK]);

/* Returns 0 when memory is short. */
int gcm_start(Gcm *gcm, const BlockKey *key);
void gcm_stop(Gcm *gcm);

/* What both directions need beside the text itself. */
typedef struct GcmCall {
  const uint8_t *nonce; /* CIPHER_NONCE bytes */
  const uint8_t *aad;
  size_t aad_size;
} GcmCall;

/* `in` and `out` must not overlap. Returns 0 on failure. */
int gcm_seal(Gcm *gcm, const GcmCall *call, const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[CIPHER_TAG]);
/* Returns 0, with `out` zeroed, when the tag does not fit. */
int gcm_open(Gcm *gcm, const GcmCall *call, const uint8_t *in, uint8_t *out, size_t size, const uint8_t tag[CIPHER_TAG]);

/* Overwrites memory in a way that the compiler keeps. */
void cipher_wipe(void *memory, size_t size);

#endif
