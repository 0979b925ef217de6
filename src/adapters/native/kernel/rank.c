#include "rank.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* Numbers, not enumerators: clang warns of those in sums of floating point. */
#define BYTE_MAX 127
#define QUESTION_MAX 32767
#define SIZE_MOST 7.0

/* Above any error of the few roundings that an error bound itself goes through. */
static const double ROUND_UP = 1.0001;

/* The length of a vector; 0 when it has no direction. */
static double length_of(const float *vector, uint32_t dimension) {
  double sum = 0;
  for (uint32_t i = 0; i < dimension; i++) sum += (double)vector[i] * vector[i];
  return isfinite(sum) ? sqrt(sum) : 0;
}

static double limited(double value, double most) { return value > most ? most : value < -most ? -most : value; }

static int quantise_row(
    const float *vector, uint32_t dimension, const float *mean, int8_t *row, float *scale, float *error) {
  double length = length_of(vector, dimension);
  if (length == 0) return 0;
  double per_length = 1 / length;
  double largest = 0;
  for (uint32_t i = 0; i < dimension; i++) {
    double size = fabs(vector[i] * per_length - mean[i]);
    if (size > largest) largest = size;
  }
  *scale = (float)(largest / BYTE_MAX);
  double per_step = *scale == 0 ? 0 : 1 / (double)*scale;
  double lost = 0;
  for (uint32_t i = 0; i < dimension; i++) {
    double value = vector[i] * per_length - mean[i];
    /* To the nearest step, or beside it: the error that follows is the true one. */
    double steps = (int)limited(value * per_step + (value < 0 ? -0.5 : 0.5), BYTE_MAX);
    row[i] = (int8_t)steps;
    double rest = value - steps * *scale;
    lost += rest * rest;
  }
  *error = (float)(sqrt(lost) * ROUND_UP);
  return 1;
}

uint32_t svckernel_quantise(const float *vectors, uint32_t count, uint32_t dimension, const float *mean, int8_t *rows,
    float *scales, float *errors) {
  uint32_t made = 0;
  while (made < count) {
    size_t start = (size_t)made * dimension;
    if (!quantise_row(vectors + start, dimension, mean, rows + start, &scales[made], &errors[made])) break;
    made++;
  }
  return made;
}

void svckernel_sign(const int8_t *rows, uint32_t count, uint32_t dimension, uint64_t *signatures) {
  enum { WORD = 64 };
  uint32_t words = (dimension + WORD - 1) / WORD;
  for (uint32_t i = 0; i < count; i++) {
    const int8_t *row = rows + (size_t)i * dimension;
    uint64_t *signature = signatures + (size_t)i * words;
    for (uint32_t k = 0; k < words; k++) signature[k] = 0;
    for (uint32_t j = 0; j < dimension; j++) signature[j / WORD] |= (uint64_t)(row[j] > 0) << (j % WORD);
  }
}

uint32_t svckernel_code(const float *vectors, uint32_t count, uint32_t dimension, const float *mean, float limit,
    uint64_t *signs, uint64_t *strong) {
  enum { WORD = 64 };
  uint32_t words = (dimension + WORD - 1) / WORD;
  for (uint32_t i = 0; i < count; i++) {
    const float *vector = vectors + (size_t)i * dimension;
    double length = length_of(vector, dimension);
    if (length == 0) return i;
    double per_length = 1 / length;
    uint64_t *sign = signs + (size_t)i * words;
    uint64_t *large = strong + (size_t)i * words;
    for (uint32_t k = 0; k < words; k++) sign[k] = large[k] = 0;
    for (uint32_t j = 0; j < dimension; j++) {
      double value = vector[j] * per_length - mean[j];
      sign[j / WORD] |= (uint64_t)(value > 0) << (j % WORD);
      large[j / WORD] |= (uint64_t)(fabs(value) > (double)limit) << (j % WORD);
    }
  }
  return count;
}

void svckernel_ask(const float *vector, uint32_t dimension, uint64_t *asked) {
  enum { WORD = 64, PLANES = 3 };
  uint32_t words = (dimension + WORD - 1) / WORD;
  double usual = length_of(vector, dimension) / sqrt(dimension);
  /* The largest size stands for what is more than 2.8 times the usual. */
  double per_step = usual == 0 ? 0 : SIZE_MOST / 2.8 / usual;
  for (uint32_t k = 0; k < (PLANES + 1) * words; k++) asked[k] = 0;
  for (uint32_t j = 0; j < dimension; j++) {
    uint32_t size = (uint32_t)limited(fabs(vector[j]) * per_step + 0.5, SIZE_MOST);
    asked[j / WORD] |= (uint64_t)(vector[j] > 0) << (j % WORD);
    for (uint32_t plane = 0; plane < PLANES; plane++) {
      asked[(plane + 1) * words + j / WORD] |= (uint64_t)(size >> plane & 1) << (j % WORD);
    }
  }
}

uint32_t svckernel_question(
    const float *vector, uint32_t dimension, const float *mean, int16_t *question, float *parameters) {
  double length = length_of(vector, dimension);
  /* So small that the sum of all products fits into 32 bits. */
  double most = fmin(floor(2147483647.0 / BYTE_MAX / dimension), QUESTION_MAX);
  if (length == 0 || most < BYTE_MAX) return 0;
  double largest = 0;
  for (uint32_t i = 0; i < dimension; i++) largest = fmax(largest, fabs(vector[i] / length));
  double scale = (float)(largest / most);
  double lost = 0;
  double common = 0;
  for (uint32_t i = 0; i < dimension; i++) {
    double value = vector[i] / length;
    double steps = limited(round(value / scale), most);
    question[i] = (int16_t)steps;
    double rest = value - steps * scale;
    lost += rest * rest;
    common += value * mean[i];
  }
  parameters[0] = (float)scale;
  parameters[1] = (float)(sqrt(lost) * ROUND_UP);
  parameters[2] = (float)common;
  return 1;
}

/* Puts a value into the place of the smallest of a heap whose smallest is first. */
static void replace_smallest(double *heap, uint32_t size, double value) {
  uint32_t at = 0;
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && heap[child + 1] < heap[child]) child++;
    if (heap[child] >= value) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = value;
}

static double error_of(const float *errors, double slack, uint32_t i) {
  return errors == NULL ? slack : slack + (1 + slack) * errors[i];
}

/* What `wanted` rows reach for certain; below everything when memory is short, so that all rows are found. */
static double certain(const float *scores, const float *errors, double slack, uint32_t count, uint32_t wanted) {
  double *heap = malloc(sizeof *heap * wanted);
  if (heap == NULL) return -INFINITY;
  for (uint32_t i = 0; i < wanted; i++) heap[i] = -INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    double least = scores[i] - error_of(errors, slack, i);
    if (least > heap[0]) replace_smallest(heap, wanted, least);
  }
  double threshold = heap[0];
  free(heap);
  return threshold;
}

uint32_t svckernel_select(const float *scores, const float *errors, float slack, uint32_t count, uint32_t wanted,
    int32_t *found, double *threshold) {
  *threshold = wanted == 0 || wanted >= count ? -INFINITY : certain(scores, errors, slack, count, wanted);
  uint32_t many = 0;
  for (uint32_t i = 0; i < count; i++) {
    found[many] = (int32_t)i;
    many += scores[i] + error_of(errors, slack, i) >= *threshold;
  }
  return many;
}
