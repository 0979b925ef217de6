#include "vectors.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rank.h"

#define INLINE static inline __attribute__((always_inline))

enum { HALF = 2, FULL = 4 };
/* Numbers that are mixed at a time, and sums that are kept side by side: the same on every processor. */
enum { BLOCK = 64, LANES = 8 };
enum { DIMENSION_MAX = 1 << 16 };

/* Numbers of 16 bits to 32. */
typedef void Decode(const uint8_t *halves, uint32_t count, float *numbers);

/* What a row is searched by. A vector that is not there is NULL. */
typedef struct Mixed {
  uint32_t dimension;
  uint32_t width;
  const uint8_t *own;
  const uint8_t *beside[2];
  double weight;
} Mixed;

/* A question; kept from row to row of a statement. */
typedef struct Question {
  uint32_t dimension;
  double length;
  float numbers[];
} Question;

typedef double Product(const Mixed *mixed, const Question *question, double *square);

static void decode_plain(const uint8_t *halves, uint32_t count, float *numbers) {
#if defined(__aarch64__)
  for (uint32_t i = 0; i < count; i++) {
    __fp16 half;
    memcpy(&half, halves + (size_t)i * HALF, HALF);
    numbers[i] = half;
  }
#else
  enum { SIGN = 0x8000, REST = 0x7fff, SHIFT = 13, INFINITE = 0x7c00 };
  for (uint32_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy(&half, halves + (size_t)i * HALF, HALF);
    uint32_t bits = (uint32_t)(half & REST) << SHIFT;
    float size;
    memcpy(&size, &bits, FULL);
    /* The exponent begins elsewhere; this is right for the smallest numbers too. */
    size *= 0x1p112f;
    memcpy(&bits, &size, FULL);
    if ((half & REST) >= INFINITE) bits |= 0x7f800000u;
    bits |= (uint32_t)(half & SIGN) << 16;
    memcpy(&numbers[i], &bits, FULL);
  }
#endif
}

INLINE void mix_block(const Mixed *mixed, uint32_t from, uint32_t count, Decode *decode, double *sums) {
  float numbers[BLOCK];
  if (mixed->width == FULL) memcpy(numbers, mixed->own + (size_t)from * FULL, (size_t)count * FULL);
  else decode(mixed->own + (size_t)from * HALF, count, numbers);
  for (uint32_t i = 0; i < count; i++) sums[i] = numbers[i];
  for (uint32_t side = 0; side < 2; side++) {
    if (mixed->beside[side] == NULL) continue;
    decode(mixed->beside[side] + (size_t)from * HALF, count, numbers);
    for (uint32_t i = 0; i < count; i++) sums[i] += mixed->weight * numbers[i];
  }
}

INLINE double product_of(const Mixed *mixed, const Question *question, Decode *decode, double *square) {
  double sums[BLOCK];
  double products[LANES] = {0};
  double squares[LANES] = {0};
  for (uint32_t from = 0; from < mixed->dimension; from += BLOCK) {
    uint32_t count = mixed->dimension - from < BLOCK ? mixed->dimension - from : BLOCK;
    mix_block(mixed, from, count, decode, sums);
    for (uint32_t i = count; i % LANES != 0; i++) sums[i] = 0;
    for (uint32_t i = 0; i < count; i += LANES) {
      /* The question has room for whole blocks. */
      for (uint32_t k = 0; k < LANES; k++) {
        products[k] += sums[i + k] * question->numbers[from + i + k];
        squares[k] += sums[i + k] * sums[i + k];
      }
    }
  }
  double product = 0;
  *square = 0;
  for (uint32_t k = 0; k < LANES; k++) {
    product += products[k];
    *square += squares[k];
  }
  return product;
}

static double product_plain(const Mixed *mixed, const Question *question, double *square) {
  return product_of(mixed, question, decode_plain, square);
}

static Decode *chosen_decode = decode_plain;
static Product *chosen_product = product_plain;

#if defined(__x86_64__)

#include <immintrin.h>

__attribute__((target("avx2,f16c"))) static void decode_f16c(const uint8_t *halves, uint32_t count, float *numbers) {
  enum { WIDTH = 8 };
  uint32_t i = 0;
  for (; i + WIDTH <= count; i += WIDTH) {
    __m128i some = _mm_loadu_si128((const __m128i_u *)(halves + (size_t)i * HALF));
    _mm256_storeu_ps(numbers + i, _mm256_cvtph_ps(some));
  }
  decode_plain(halves + (size_t)i * HALF, count - i, numbers + i);
}

__attribute__((target("avx2,f16c"))) static double product_avx2(
    const Mixed *mixed, const Question *question, double *square) {
  return product_of(mixed, question, decode_f16c, square);
}

__attribute__((constructor)) static void choose_once(void) {
  if (!has_avx2()) return;
  chosen_decode = decode_f16c;
  chosen_product = product_avx2;
}

#endif

/* Reads own, previous and next. Returns 0, with an error, when the row has another dimension. */
static int read_mixed(sqlite3_context *context, uint32_t dimension, double weight, sqlite3_value **rows, Mixed *mixed) {
  uint32_t bytes = (uint32_t)sqlite3_value_bytes(rows[0]);
  *mixed = (Mixed){.dimension = dimension, .own = sqlite3_value_blob(rows[0]), .weight = weight};
  mixed->width = bytes == dimension * FULL ? FULL : HALF;
  if (mixed->own == NULL || bytes != dimension * mixed->width) {
    sqlite3_result_error(context, "a vector has another dimension", -1);
    return 0;
  }
  for (uint32_t side = 0; side < 2 && mixed->width == HALF; side++) {
    const uint8_t *blob = sqlite3_value_blob(rows[side + 1]);
    if ((uint32_t)sqlite3_value_bytes(rows[side + 1]) == dimension * HALF) mixed->beside[side] = blob;
  }
  return 1;
}

static Question *new_question(sqlite3_value *value) {
  const uint8_t *bytes = sqlite3_value_blob(value);
  uint32_t dimension = (uint32_t)sqlite3_value_bytes(value) / FULL;
  if (bytes == NULL || dimension == 0 || dimension > DIMENSION_MAX) return NULL;
  size_t room = (dimension + BLOCK - 1) / BLOCK * BLOCK * sizeof(float);
  Question *question = sqlite3_malloc64(sizeof *question + room);
  if (question == NULL) return NULL;
  memset(question->numbers, 0, room);
  memcpy(question->numbers, bytes, (size_t)dimension * FULL);
  question->dimension = dimension;
  double square = 0;
  for (uint32_t i = 0; i < dimension; i++) square += (double)question->numbers[i] * question->numbers[i];
  question->length = sqrt(square);
  return question;
}

void sql_cosine(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  Question *question = sqlite3_get_auxdata(context, 0);
  int is_kept = question != NULL;
  if (!is_kept) question = new_question(arguments[0]);
  if (question == NULL) {
    sqlite3_result_error(context, "a question has no vector", -1);
    return;
  }
  Mixed mixed;
  if (read_mixed(context, question->dimension, sqlite3_value_double(arguments[1]), arguments + 2, &mixed)) {
    double square = 0;
    double product = chosen_product(&mixed, question, &square);
    double lengths = question->length * sqrt(square);
    double cosine = lengths == 0 ? 0 : product / lengths;
    /* In single precision, like all cosines. */
    if (isfinite(cosine)) sqlite3_result_double(context, (double)(float)cosine);
  }
  if (!is_kept) sqlite3_set_auxdata(context, 0, question, sqlite3_free);
}

/* The vectors of the rows so far, and room for the sums of one. */
typedef struct Gathered {
  float *numbers;
  double *sums;
  uint64_t count;
  uint64_t room;
} Gathered;

static int make_room(Gathered *gathered, uint32_t dimension) {
  enum { FIRST = 64 };
  if (gathered->sums == NULL) gathered->sums = sqlite3_malloc64(dimension * sizeof *gathered->sums);
  if (gathered->sums == NULL) return 0;
  if (gathered->count + dimension <= gathered->room) return 1;
  uint64_t room = 2 * gathered->room + (uint64_t)FIRST * dimension;
  float *larger = sqlite3_realloc64(gathered->numbers, room * sizeof *larger);
  if (larger == NULL) return 0;
  gathered->numbers = larger;
  gathered->room = room;
  return 1;
}

/* In the order in which the program does it without this library. */
static void write_vector(const Mixed *mixed, double *sums, float *numbers) {
  for (uint32_t from = 0; from < mixed->dimension; from += BLOCK) {
    uint32_t count = mixed->dimension - from < BLOCK ? mixed->dimension - from : BLOCK;
    mix_block(mixed, from, count, chosen_decode, sums + from);
  }
  double square = 0;
  for (uint32_t i = 0; i < mixed->dimension; i++) square += sums[i] * sums[i];
  double length = sqrt(square);
  if (length > 0) {
    for (uint32_t i = 0; i < mixed->dimension; i++) numbers[i] = (float)(sums[i] / length);
  } else {
    chosen_decode(mixed->own, mixed->dimension, numbers);
  }
}

void sql_vectors_step(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  sqlite3_int64 dimension = sqlite3_value_int64(arguments[0]);
  Gathered *gathered = sqlite3_aggregate_context(context, sizeof *gathered);
  Mixed mixed;
  if (gathered == NULL || dimension <= 0 || dimension > DIMENSION_MAX || !make_room(gathered, (uint32_t)dimension)) {
    sqlite3_result_error_nomem(context);
    return;
  }
  if (!read_mixed(context, (uint32_t)dimension, sqlite3_value_double(arguments[1]), arguments + 2, &mixed)) return;
  float *numbers = gathered->numbers + gathered->count;
  if (mixed.width == FULL) memcpy(numbers, mixed.own, (size_t)dimension * FULL);
  else write_vector(&mixed, gathered->sums, numbers);
  gathered->count += (uint64_t)dimension;
}

void sql_vectors_final(sqlite3_context *context) {
  Gathered *gathered = sqlite3_aggregate_context(context, 0);
  if (gathered == NULL) return;
  sqlite3_free(gathered->sums);
  if (gathered->numbers == NULL) return;
  sqlite3_result_blob64(context, gathered->numbers, gathered->count * sizeof(float), sqlite3_free);
}
