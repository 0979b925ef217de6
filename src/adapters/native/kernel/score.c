/*
 * The one loop in which the width of the processor's registers shows: compiled for two widths, chosen once.
 */
#include <stddef.h>

#include "rank.h"

typedef void Score(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores);

/* Rows that are read side by side: one alone keeps the memory waiting. */
enum { TOGETHER = 8 };

#define INLINE static inline __attribute__((always_inline))

INLINE void score_some(const int8_t *rows, uint32_t many, uint32_t dimension, const int16_t *question, int32_t *sums) {
  for (uint32_t k = 0; k < many; k++) sums[k] = 0;
  for (uint32_t j = 0; j < dimension; j++) {
    /* By way of 16 bits: compilers know this as one instruction. */
    for (uint32_t k = 0; k < many; k++) sums[k] += (int32_t)(int16_t)rows[j + (size_t)k * dimension] * question[j];
  }
}

INLINE void score_rows(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores) {
  int32_t sums[TOGETHER];
  for (uint32_t i = 0, many = 0; i < count; i += many) {
    const int8_t *here = rows + (size_t)i * dimension;
    many = count - i < TOGETHER ? 1 : TOGETHER;
    if (many == 1) {
      score_some(here, 1, dimension, question, sums);
    } else {
      score_some(here, TOGETHER, dimension, question, sums);
    }
    for (uint32_t k = 0; k < many; k++) scores[i + k] = (float)sums[k] * scales[i + k] * parameters[0] + parameters[2];
  }
}

static void score_plain(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores) {
  score_rows(rows, scales, count, dimension, question, parameters, scores);
}

#if defined(__x86_64__)

#include <cpuid.h>

__attribute__((target("avx2"))) static void score_avx2(const int8_t *rows, const float *scales, uint32_t count,
    uint32_t dimension, const int16_t *question, const float *parameters, float *scores) {
  score_rows(rows, scales, count, dimension, question, parameters, scores);
}

/*
 * By CPUID itself: __builtin_cpu_supports and target_clones choose nothing where the compiler brings no run-time part.
 * Registers of 512 bits were no faster: the rows come from memory.
 */
static Score *choose(void) {
  enum { OSXSAVE = 1 << 27, AVX2 = 1 << 5, XMM_AND_YMM = 6 };
  unsigned int a = 0;
  unsigned int b = 0;
  unsigned int c = 0;
  unsigned int d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE)) return score_plain;
  uint32_t kept = 0;
  uint32_t rest = 0;
  /* The registers that the operating system keeps for each thread. */
  __asm__("xgetbv" : "=a"(kept), "=d"(rest) : "c"(0));
  if ((kept & XMM_AND_YMM) != XMM_AND_YMM || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return score_plain;
  return b & AVX2 ? score_avx2 : score_plain;
}

#else

static Score *choose(void) { return score_plain; }

#endif

static Score *chosen = score_plain;

__attribute__((constructor)) static void choose_once(void) { chosen = choose(); }

void svckernel_score(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores) {
  chosen(rows, scales, count, dimension, question, parameters, scores);
}
