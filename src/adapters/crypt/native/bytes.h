/*
 * Numbers as bytes. Everything of ours on the disk is big-endian, as in SQLite's own formats.
 */
#ifndef SVC_BYTES_H
#define SVC_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t get_u32(const uint8_t *from) {
  return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static inline void put_u32(uint8_t *to, uint32_t value) {
  to[0] = (uint8_t)(value >> 24);
  to[1] = (uint8_t)(value >> 16);
  to[2] = (uint8_t)(value >> 8);
  to[3] = (uint8_t)value;
}

static inline void put_u64(uint8_t *to, uint64_t value) {
  put_u32(to, (uint32_t)(value >> 32));
  put_u32(to + 4, (uint32_t)value);
}

static inline int all_zero(const uint8_t *bytes, size_t count) {
  uint8_t seen = 0;
  for (size_t i = 0; i < count; i++) seen |= bytes[i];
  return seen == 0;
}

#endif
