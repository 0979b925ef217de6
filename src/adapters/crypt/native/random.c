#include "random.h"

/*
 * Asked anew for each page, without a buffer of our own: a buffer would be copied by fork(), and two processes would then
 * encrypt different pages under equal nonces. The call costs a fraction of what encrypting a page costs.
 */
#if defined(_WIN32)

#include <windows.h>

#include <bcrypt.h>

int random_bytes(uint8_t *out, size_t size) {
  if (size > ULONG_MAX) return 0;
  return BCryptGenRandom(NULL, out, (ULONG)size, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

#elif defined(__APPLE__)

#include <sys/random.h>

int random_bytes(uint8_t *out, size_t size) { return getentropy(out, size) == 0; }

#else

#include <errno.h>
#include <sys/random.h>

int random_bytes(uint8_t *out, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t got = getrandom(out + done, size - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    done += (size_t)got;
  }
  return 1;
}

#endif
