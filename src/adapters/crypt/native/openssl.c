/*
 * OpenSSL's GCM as it is in vendor/openssl, found by way of `-isystem` so that our warnings spare it, and the one function
 * that its assembly asks of C.
 */
#define GHASH_ASM
#define OPENSSL_CPUID_OBJ
#define OPENSSL_NO_INLINE_ASM
#include <gcm128.c>

unsigned long long OPENSSL_ia32_cpuid(unsigned int abilities[OPENSSL_IA32CAP_P_MAX_INDEXES]);
void OPENSSL_cpuid_setup(void);

/*
 * Stands for OpenSSL's cpuid.c, which lets an environment variable hide abilities. Called by the assembly's .init section
 * where the linker makes use of it, and as a constructor everywhere.
 */
__attribute__((constructor)) void OPENSSL_cpuid_setup(void) {
  enum { IS_SET = 1 << 10 };
  if (OPENSSL_ia32cap_P[0] & IS_SET) return;
  unsigned long long first = OPENSSL_ia32_cpuid(OPENSSL_ia32cap_P);
  OPENSSL_ia32cap_P[1] = (unsigned int)(first >> 32);
  OPENSSL_ia32cap_P[0] = (unsigned int)first | IS_SET;
}
