/* Ours: nothing that aes.h needs is configured. */
