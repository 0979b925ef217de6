/* Ours: where the assembly finds the abilities of the processor, as CPUID tells them. */
#define OPENSSL_IA32CAP_P_MAX_INDEXES 10

extern unsigned int OPENSSL_ia32cap_P[OPENSSL_IA32CAP_P_MAX_INDEXES];
