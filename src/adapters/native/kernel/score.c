/*
 * The loops in which the width of the processor's registers shows: compiled for two widths, chosen once.
 */
#include <stddef.h>

#include "rank.h"

typedef void Score(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores);
typedef uint32_t Alike(const uint64_t *signatures, uint32_t count, uint32_t words, const uint64_t *question,
    uint32_t wanted, uint16_t *agreements, int32_t *found);

typedef uint32_t Likely(const uint64_t *signs, uint32_t count, uint32_t words, const uint64_t *asked, uint32_t wanted,
    uint32_t room, uint16_t *agreements, int32_t *found);
typedef void Weigh(const uint64_t *signs, const uint64_t *strong, const int32_t *positions, uint32_t count,
    uint32_t words, const uint64_t *asked, float *scores);

/* Rows that are read side by side: one alone keeps the memory waiting. */
enum { TOGETHER = 8 };
/* Rows far from each other that are asked for ahead, and the bytes that memory gives at once. */
enum { AHEAD = 8, LINE = 64 };
/* Words of a signature: at most, and of the usual model, for which the loop over them is unrolled. */
enum { WORDS_MAX = 64, WORDS_USUAL = 6, BITS = 64 };

#define INLINE static inline __attribute__((always_inline))

INLINE void sum_products(const int8_t *rows, uint32_t many, uint32_t dimension, const int16_t *question, int32_t *sums) {
  for (uint32_t k = 0; k < many; k++) sums[k] = 0;
  for (uint32_t j = 0; j < dimension; j++) {
    /* By way of 16 bits: compilers know this as one instruction. */
    for (uint32_t k = 0; k < many; k++) sums[k] += (int32_t)(int16_t)rows[j + (size_t)k * dimension] * question[j];
  }
}

INLINE void to_scores(const int32_t *sums, const float *scales, uint32_t many, const float *parameters, float *scores) {
  for (uint32_t k = 0; k < many; k++) scores[k] = (float)sums[k] * scales[k] * parameters[0] + parameters[2];
}

INLINE void score_rows(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores) {
  int32_t sums[TOGETHER];
  for (uint32_t i = 0, many = 0; i < count; i += many) {
    const int8_t *here = rows + (size_t)i * dimension;
    many = count - i < TOGETHER ? 1 : TOGETHER;
    if (many == 1) {
      sum_products(here, 1, dimension, question, sums);
    } else {
      sum_products(here, TOGETHER, dimension, question, sums);
    }
    to_scores(sums, scales + i, many, parameters, scores + i);
  }
}

/*
 * Keeps a row only while fewer than `wanted` of those before it agree in more bits, which hardly any row does after the
 * first thousands: what is read is compared at once, and next to nothing is written.
 */
INLINE uint32_t alike_rows(const uint64_t *signatures, uint32_t count, uint32_t words, const uint64_t *question,
    uint32_t wanted, uint16_t *agreements, int32_t *found) {
  uint32_t rows_with[WORDS_MAX * BITS + 1] = {0};
  uint32_t least = 0;
  uint32_t enough = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t same = 0;
    for (uint32_t k = 0; k < words; k++) {
      same += (uint32_t)__builtin_popcountll(~(signatures[(size_t)i * words + k] ^ question[k]));
    }
    if (same < least) continue;
    found[kept] = (int32_t)i;
    agreements[kept++] = (uint16_t)same;
    rows_with[same]++;
    enough++;
    while (enough - rows_with[least] >= wanted && least < words * BITS) enough -= rows_with[least++];
  }
  uint32_t many = 0;
  for (uint32_t i = 0; i < kept; i++) {
    found[many] = found[i];
    many += agreements[i] >= least;
  }
  return many;
}

INLINE uint32_t alike_of(const uint64_t *signatures, uint32_t count, uint32_t words, const uint64_t *question,
    uint32_t wanted, uint16_t *agreements, int32_t *found) {
  if (words == WORDS_USUAL) return alike_rows(signatures, count, WORDS_USUAL, question, wanted, agreements, found);
  return alike_rows(signatures, count, words, question, wanted, agreements, found);
}

/* Keeps the rows that agree in more than `least`, and the first `ties` of those that agree in as much. */
INLINE uint32_t keep_best(uint32_t kept, uint32_t least, uint32_t ties, uint16_t *agreements, int32_t *found) {
  uint32_t many = 0;
  for (uint32_t i = 0; i < kept; i++) {
    uint16_t same = agreements[i];
    if (same < least || (same == least && ties == 0)) continue;
    ties -= same == least;
    found[many] = found[i];
    agreements[many++] = same;
  }
  return many;
}

/* As alike_rows, with the two upper planes of the question's sizes; what is kept is thinned whenever the room is full. */
INLINE uint32_t likely_rows(const uint64_t *signs, uint32_t count, uint32_t words, const uint64_t *asked, uint32_t wanted,
    uint32_t room, uint16_t *agreements, int32_t *found) {
  enum { MOST = 3 };
  const uint64_t *once = asked + 2 * (size_t)words;
  const uint64_t *twice = asked + 3 * (size_t)words;
  uint32_t rows_with[MOST * WORDS_MAX * BITS + 1] = {0};
  uint32_t most = MOST * words * BITS;
  uint32_t least = 0;
  uint32_t enough = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t apart = 0;
    for (uint32_t k = 0; k < words; k++) {
      uint64_t other = signs[(size_t)i * words + k] ^ asked[k];
      apart += (uint32_t)__builtin_popcountll(other & once[k]) + 2 * (uint32_t)__builtin_popcountll(other & twice[k]);
    }
    uint32_t same = most - apart;
    if (same < least) continue;
    if (kept == room) {
      uint32_t ties = wanted - (enough - rows_with[least]);
      kept = keep_best(kept, least, ties, agreements, found);
      rows_with[least] = ties;
      enough = wanted;
    }
    found[kept] = (int32_t)i;
    agreements[kept++] = (uint16_t)same;
    rows_with[same]++;
    enough++;
    while (enough - rows_with[least] >= wanted && least < most) enough -= rows_with[least++];
  }
  return keep_best(kept, least, wanted - (enough - rows_with[least]), agreements, found);
}

INLINE uint32_t likely_of(const uint64_t *signs, uint32_t count, uint32_t words, const uint64_t *asked, uint32_t wanted,
    uint32_t room, uint16_t *agreements, int32_t *found) {
  if (words == WORDS_USUAL) return likely_rows(signs, count, WORDS_USUAL, asked, wanted, room, agreements, found);
  return likely_rows(signs, count, words, asked, wanted, room, agreements, found);
}

/* A number that is strong counts three times. */
INLINE void weigh_rows(const uint64_t *signs, const uint64_t *strong, const int32_t *positions, uint32_t count,
    uint32_t words, const uint64_t *asked, float *scores) {
  enum { PLANES = 3 };
  for (uint32_t i = 0; i < count; i++) {
    size_t later = (size_t)positions[i + AHEAD < count ? i + AHEAD : i] * words;
    __builtin_prefetch(signs + later);
    __builtin_prefetch(strong + later);
    const uint64_t *sign = signs + (size_t)positions[i] * words;
    const uint64_t *large = strong + (size_t)positions[i] * words;
    int32_t sum = 0;
    for (uint32_t k = 0; k < words; k++) {
      uint64_t other = sign[k] ^ asked[k];
      for (uint32_t plane = 0; plane < PLANES; plane++) {
        uint64_t sizes = asked[(plane + 1) * words + k];
        int32_t weight = __builtin_popcountll(large[k] & sizes) - __builtin_popcountll(other & sizes) -
            2 * __builtin_popcountll(other & large[k] & sizes);
        sum += weight * (1 << plane);
      }
    }
    scores[i] = (float)sum;
  }
}

static uint32_t likely_plain(const uint64_t *signs, uint32_t count, uint32_t words, const uint64_t *asked,
    uint32_t wanted, uint32_t room, uint16_t *agreements, int32_t *found) {
  return likely_of(signs, count, words, asked, wanted, room, agreements, found);
}

static void weigh_plain(const uint64_t *signs, const uint64_t *strong, const int32_t *positions, uint32_t count,
    uint32_t words, const uint64_t *asked, float *scores) {
  weigh_rows(signs, strong, positions, count, words, asked, scores);
}

static uint32_t alike_plain(const uint64_t *signatures, uint32_t count, uint32_t words, const uint64_t *question,
    uint32_t wanted, uint16_t *agreements, int32_t *found) {
  return alike_of(signatures, count, words, question, wanted, agreements, found);
}

static void score_plain(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores) {
  score_rows(rows, scales, count, dimension, question, parameters, scores);
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

/* Written out: of the plain loop clang uses half of a register's width. The sums are the same, since they are whole. */
__attribute__((target("avx2"), always_inline)) static inline void sum_products_avx2(
    const int8_t *rows, uint32_t many, uint32_t dimension, const int16_t *question, int32_t *sums) {
  enum { WIDTH = 16 };
  __m256i wide[TOGETHER];
  for (uint32_t k = 0; k < many; k++) wide[k] = _mm256_setzero_si256();
  uint32_t j = 0;
  for (; j + WIDTH <= dimension; j += WIDTH) {
    __m256i asked = _mm256_loadu_si256((const __m256i_u *)(question + j));
    for (uint32_t k = 0; k < many; k++) {
      __m128i bytes = _mm_loadu_si128((const __m128i_u *)(rows + j + (size_t)k * dimension));
      wide[k] = _mm256_add_epi32(wide[k], _mm256_madd_epi16(_mm256_cvtepi8_epi16(bytes), asked));
    }
  }
  for (uint32_t k = 0; k < many; k++) {
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(wide[k]), _mm256_extracti128_si256(wide[k], 1));
    half = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
    sums[k] = _mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 1);
    for (uint32_t rest = j; rest < dimension; rest++) sums[k] += rows[rest + (size_t)k * dimension] * question[rest];
  }
}

__attribute__((target("avx2"))) static void score_avx2(const int8_t *rows, const float *scales, uint32_t count,
    uint32_t dimension, const int16_t *question, const float *parameters, float *scores) {
  int32_t sums[TOGETHER];
  uint32_t i = 0;
  for (; i + TOGETHER <= count; i += TOGETHER) {
    sum_products_avx2(rows + (size_t)i * dimension, TOGETHER, dimension, question, sums);
    to_scores(sums, scales + i, TOGETHER, parameters, scores + i);
  }
  for (; i < count; i++) {
    sum_products_avx2(rows + (size_t)i * dimension, 1, dimension, question, sums);
    to_scores(sums, scales + i, 1, parameters, scores + i);
  }
}

__attribute__((target("avx2,popcnt"))) static uint32_t alike_avx2(const uint64_t *signatures, uint32_t count,
    uint32_t words, const uint64_t *question, uint32_t wanted, uint16_t *agreements, int32_t *found) {
  return alike_of(signatures, count, words, question, wanted, agreements, found);
}

__attribute__((target("avx2,popcnt"))) static uint32_t likely_avx2(const uint64_t *signs, uint32_t count,
    uint32_t words, const uint64_t *asked, uint32_t wanted, uint32_t room, uint16_t *agreements, int32_t *found) {
  return likely_of(signs, count, words, asked, wanted, room, agreements, found);
}

__attribute__((target("avx2,popcnt"))) static void weigh_avx2(const uint64_t *signs, const uint64_t *strong,
    const int32_t *positions, uint32_t count, uint32_t words, const uint64_t *asked, float *scores) {
  weigh_rows(signs, strong, positions, count, words, asked, scores);
}

/*
 * By CPUID itself: __builtin_cpu_supports and target_clones choose nothing where the compiler brings no run-time part.
 * Registers of 512 bits were no faster: the rows come from memory.
 */
int has_avx2(void) {
  enum { POPCNT = 1 << 23, OSXSAVE = 1 << 27, F16C = 1 << 29, AVX2 = 1 << 5, XMM_AND_YMM = 6 };
  unsigned int a = 0;
  unsigned int b = 0;
  unsigned int c = 0;
  unsigned int d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE) || !(c & POPCNT) || !(c & F16C)) return 0;
  uint32_t kept = 0;
  uint32_t rest = 0;
  /* The registers that the operating system keeps for each thread. */
  __asm__("xgetbv" : "=a"(kept), "=d"(rest) : "c"(0));
  return (kept & XMM_AND_YMM) == XMM_AND_YMM && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & AVX2) != 0;
}

#endif

static Score *chosen_score = score_plain;
static Alike *chosen_alike = alike_plain;
static Likely *chosen_likely = likely_plain;
static Weigh *chosen_weigh = weigh_plain;

#if defined(__x86_64__)

__attribute__((constructor)) static void choose_once(void) {
  if (!has_avx2()) return;
  chosen_score = score_avx2;
  chosen_alike = alike_avx2;
  chosen_likely = likely_avx2;
  chosen_weigh = weigh_avx2;
}

#endif

void svckernel_score(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores) {
  chosen_score(rows, scales, count, dimension, question, parameters, scores);
}

void svckernel_score_some(const int8_t *rows, const float *scales, const int32_t *positions, uint32_t count,
    uint32_t dimension, const int16_t *question, const float *parameters, float *scores) {
  for (uint32_t i = 0; i < count; i++) {
    const int8_t *later = rows + (size_t)positions[i + AHEAD < count ? i + AHEAD : i] * dimension;
    for (uint32_t byte = 0; byte < dimension; byte += LINE) __builtin_prefetch(later + byte);
    size_t at = (size_t)positions[i];
    chosen_score(rows + at * dimension, scales + at, 1, dimension, question, parameters, &scores[i]);
  }
}

uint32_t svckernel_alike(const uint64_t *signatures, uint32_t count, uint32_t words, const uint64_t *question,
    uint32_t wanted, uint16_t *agreements, int32_t *found) {
  if (words > WORDS_MAX) return 0;
  return chosen_alike(signatures, count, words, question, wanted, agreements, found);
}

uint32_t svckernel_likely(const uint64_t *signs, uint32_t count, uint32_t words, const uint64_t *asked, uint32_t wanted,
    uint32_t room, uint16_t *agreements, int32_t *found) {
  if (words > WORDS_MAX) return 0;
  return chosen_likely(signs, count, words, asked, wanted, room, agreements, found);
}

void svckernel_weigh(const uint64_t *signs, const uint64_t *strong, const int32_t *positions, uint32_t count,
    uint32_t words, const uint64_t *asked, float *scores) {
  chosen_weigh(signs, strong, positions, count, words, asked, scores);
}
