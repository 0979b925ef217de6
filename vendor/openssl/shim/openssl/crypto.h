/* Ours: memory for gcm128.c, and what the assembly has for it. */
#include <stdlib.h>

#define OPENSSL_malloc malloc
#define OPENSSL_clear_free(memory, size) (OPENSSL_cleanse(memory, size), free(memory))

void OPENSSL_cleanse(void *memory, size_t size);
int CRYPTO_memcmp(const void *a, const void *b, size_t size);
