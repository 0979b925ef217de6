#ifndef SVC_RANDOM_H
#define SVC_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fills `out` with at most 256 bytes from the system's generator. Returns 0 on failure; `out` must then not be used. */
int random_bytes(uint8_t *out, size_t size);

#endif
