/* Ours: what OpenSSL's headers ask of this one and of opensslconf.h. */
#define OSSL_DEPRECATEDIN_3_0
#define OPENSSL_NO_OCB
#define OPENSSL_NO_SIV
