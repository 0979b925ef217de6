/*
 * OpenSSL's GCM as it is in vendor/openssl, found by way of `-isystem` so that our warnings spare it, and the one function
 * that its assembly asks of C.
 */
#if defined(__x86_64__)
/* There is assembly for processors without carry-less multiplication, too. */
#define GHASH_ASM
#endif
#define OPENSSL_CPUID_OBJ
#define OPENSSL_NO_INLINE_ASM
#include <gcm128.c>

/*
 * Stands for OpenSSL's cpuid.c and armcap.c, which let an environment variable hide abilities. A constructor everywhere; some
 * linkers make use of the assembly's own call as well.
 */
__attribute__((constructor)) void OPENSSL_cpuid_setup(void);

#if defined(__x86_64__)

unsigned long long OPENSSL_ia32_cpuid(unsigned int abilities[OPENSSL_IA32CAP_P_MAX_INDEXES]);

void OPENSSL_cpuid_setup(void) {
  enum { IS_SET = 1 << 10 };
  if (OPENSSL_ia32cap_P[0] & IS_SET) return;
  unsigned long long first = OPENSSL_ia32_cpuid(OPENSSL_ia32cap_P);
  OPENSSL_ia32cap_P[1] = (unsigned int)(first >> 32);
  OPENSSL_ia32cap_P[0] = (unsigned int)first | IS_SET;
}

#else

unsigned int OPENSSL_armcap_P;

#if defined(__APPLE__)

/* Every processor of Apple's own computers has them. */
void OPENSSL_cpuid_setup(void) { OPENSSL_armcap_P = ARMV7_NEON | ARMV8_AES | ARMV8_PMULL; }

#else

#include <sys/auxv.h>

void OPENSSL_cpuid_setup(void) {
  enum { HAS_AES = 1 << 3, HAS_PMULL = 1 << 4 };
  unsigned long abilities = getauxval(AT_HWCAP);
  OPENSSL_armcap_P = ARMV7_NEON;
  if (abilities & HAS_AES) OPENSSL_armcap_P |= ARMV8_AES;
  if (abilities & HAS_PMULL) OPENSSL_armcap_P |= ARMV8_PMULL;
}

#endif

#endif
