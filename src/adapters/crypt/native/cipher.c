#include "cipher.h"

#include <internal/cryptlib.h>
#include <openssl/crypto.h>
#include <string.h>

/*
 * Why not EVP: any use of it links every algorithm of OpenSSL's default provider, 3.8 MB that would have to be unpacked,
 * hashed and mapped at each start; what is used here takes a fiftieth of that. The AES routines below are the assembly
 * behind EVP's aes-256-gcm, declared in no public header; vendor/openssl has their source. Tests compare every page with
 * another implementation.
 */
typedef int ExpandKey(const unsigned char *bytes, int bits, AES_KEY *key);
typedef void CryptBlock(const unsigned char *in, unsigned char *out, const AES_KEY *key);
typedef void CountBlocks(
    const unsigned char *in, unsigned char *out, size_t blocks, const void *key, const unsigned char counter[16]);

/* AES in vector registers, without tables indexed by secrets. Slower than the processor's own AES instructions. */
extern ExpandKey vpaes_set_encrypt_key;
extern ExpandKey vpaes_set_decrypt_key;
extern CryptBlock vpaes_encrypt;
extern CryptBlock vpaes_decrypt;

#if defined(__x86_64__)

extern ExpandKey aesni_set_encrypt_key;
extern ExpandKey aesni_set_decrypt_key;
extern CryptBlock aesni_encrypt;
extern CryptBlock aesni_decrypt;
extern CountBlocks aesni_ctr32_encrypt_blocks;

#define HARDWARE(name) aesni_##name

/* What CPUID says in register ECX for leaf 1. */
enum { PCLMUL = 1 << 1, SSSE3 = 1 << 9, AESNI = 1 << 25 };

static int has_all(unsigned int abilities) { return (OPENSSL_ia32cap_P[1] & abilities) == abilities; }
static int has_vector_aes(void) { return has_all(SSSE3); }
static int has_hardware_aes(void) { return has_all(SSSE3 | AESNI | PCLMUL); }

#elif defined(__aarch64__)

#include <arm_arch.h>

extern ExpandKey aes_v8_set_encrypt_key;
extern ExpandKey aes_v8_set_decrypt_key;
extern CryptBlock aes_v8_encrypt;
extern CryptBlock aes_v8_decrypt;
extern CountBlocks aes_v8_ctr32_encrypt_blocks;

#define HARDWARE(name) aes_v8_##name

static int has_vector_aes(void) { return 1; }
static int has_hardware_aes(void) { return (OPENSSL_armcap_P & ARMV8_AES) != 0; }

#else
#error "no AES implementation was chosen for this processor"
#endif

/* Lets a test run the slower routines on a processor that would never choose them. */
#if !defined(SVC_WITHOUT_AES_INSTRUCTIONS)
#define SVC_WITHOUT_AES_INSTRUCTIONS 0
#endif

static int use_hardware(void) { return !SVC_WITHOUT_AES_INSTRUCTIONS && has_hardware_aes(); }

int cipher_is_supported(void) { return has_vector_aes(); }

void cipher_expand(BlockKey *key, const uint8_t bytes[CIPHER_KEY]) {
  memset(key, 0, sizeof *key);
  if (use_hardware()) {
    HARDWARE(set_encrypt_key)(bytes, 8 * CIPHER_KEY, &key->encrypt);
    HARDWARE(set_decrypt_key)(bytes, 8 * CIPHER_KEY, &key->decrypt);
  } else {
    vpaes_set_encrypt_key(bytes, 8 * CIPHER_KEY, &key->encrypt);
    vpaes_set_decrypt_key(bytes, 8 * CIPHER_KEY, &key->decrypt);
  }
}

void cipher_encrypt_block(const BlockKey *key, const uint8_t in[CIPHER_BLOCK], uint8_t out[CIPHER_BLOCK]) {
  if (use_hardware()) {
    HARDWARE(encrypt)(in, out, &key->encrypt);
  } else {
    vpaes_encrypt(in, out, &key->encrypt);
  }
}

void cipher_decrypt_block(const BlockKey *key, const uint8_t in[CIPHER_BLOCK], uint8_t out[CIPHER_BLOCK]) {
  if (use_hardware()) {
    HARDWARE(decrypt)(in, out, &key->decrypt);
  } else {
    vpaes_decrypt(in, out, &key->decrypt);
  }
}

/* The shape of block128_f, which knows nothing of AES_KEY. */
static void encrypt_for_gcm(const unsigned char in[16], unsigned char out[16], const void *key) {
  if (use_hardware()) {
    HARDWARE(encrypt)(in, out, key);
  } else {
    vpaes_encrypt(in, out, key);
  }
}

int gcm_start(Gcm *gcm, const BlockKey *key) {
  /* OpenSSL takes the key as `void *` and only reads it. */
  gcm->context = CRYPTO_gcm128_new((void *)&key->encrypt, encrypt_for_gcm);
  return gcm->context != NULL;
}

void gcm_stop(Gcm *gcm) {
  if (gcm->context != NULL) CRYPTO_gcm128_release(gcm->context);
  gcm->context = NULL;
}

static int begin(Gcm *gcm, const GcmCall *call) {
  CRYPTO_gcm128_setiv(gcm->context, call->nonce, CIPHER_NONCE);
  return CRYPTO_gcm128_aad(gcm->context, call->aad, call->aad_size) == 0;
}

int gcm_seal(Gcm *gcm, const GcmCall *call, const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[CIPHER_TAG]) {
  if (!begin(gcm, call)) return 0;
  int failed = use_hardware()
      ? CRYPTO_gcm128_encrypt_ctr32(gcm->context, in, out, size, HARDWARE(ctr32_encrypt_blocks))
      : CRYPTO_gcm128_encrypt(gcm->context, in, out, size);
  if (failed) return 0;
  CRYPTO_gcm128_tag(gcm->context, tag, CIPHER_TAG);
  return 1;
}

int gcm_open(
    Gcm *gcm, const GcmCall *call, const uint8_t *in, uint8_t *out, size_t size, const uint8_t tag[CIPHER_TAG]) {
  int opened = 0;
  if (begin(gcm, call)) {
    int failed = use_hardware()
        ? CRYPTO_gcm128_decrypt_ctr32(gcm->context, in, out, size, HARDWARE(ctr32_encrypt_blocks))
        : CRYPTO_gcm128_decrypt(gcm->context, in, out, size);
    opened = !failed && CRYPTO_gcm128_finish(gcm->context, tag, CIPHER_TAG) == 0;
  }
  if (!opened) memset(out, 0, size);
  return opened;
}

void cipher_wipe(void *memory, size_t size) { OPENSSL_cleanse(memory, size); }
