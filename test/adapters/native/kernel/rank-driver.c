/* Calls every function of rank.h with arrays of exactly the size that they may touch. Prints what was checked. */
#include "rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t state = 1;

static float next_number(void) {
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / (float)(1 << 24) - 0.5f;
}

static float *numbers(uint32_t count) {
  float *values = malloc(sizeof *values * count);
  for (uint32_t i = 0; i < count; i++) values[i] = next_number();
  return values;
}

static double exact(const float *a, const float *b, uint32_t dimension) {
  double product = 0;
  double left = 0;
  double right = 0;
  for (uint32_t i = 0; i < dimension; i++) {
    product += (double)a[i] * b[i];
    left += (double)a[i] * a[i];
    right += (double)b[i] * b[i];
  }
  return product / sqrt(left * right);
}

static void fail(const char *what) {
  printf("%s\n", what);
  exit(1);
}

static void check(uint32_t count, uint32_t dimension) {
  float *vectors = numbers(count * dimension);
  float *question = numbers(dimension);
  float *mean = calloc(dimension, sizeof *mean);
  int8_t *rows = malloc((size_t)count * dimension);
  float *scales = malloc(sizeof *scales * count);
  float *errors = malloc(sizeof *errors * count);
  float *scores = malloc(sizeof *scores * count);
  int16_t *asked = malloc(sizeof *asked * dimension);
  int32_t *found = malloc(sizeof *found * count);
  float parameters[3];
  double threshold = 0;
  mean[0] = 0.25f;
  if (svckernel_quantise(vectors, count, dimension, mean, rows, scales, errors) != count) fail("rows are missing");
  if (svckernel_question(question, dimension, mean, asked, parameters) != 1) fail("no question");
  svckernel_score(rows, scales, count, dimension, asked, parameters, scores);
  for (uint32_t i = 0; i < count; i++) {
    double off = fabs(scores[i] - exact(vectors + (size_t)i * dimension, question, dimension));
    if (off > errors[i] * (1 + parameters[1]) + 2 * parameters[1] + 1e-5) fail("a cosine is off");
  }
  uint32_t wanted = count / 3 + 1;
  uint32_t many = svckernel_select(scores, errors, parameters[1], count, wanted, found, &threshold);
  if (many < wanted && many != count) fail("too few were found");
  many = svckernel_select(scores, NULL, 0, count, count, found, &threshold);
  if (many != count || !isinf(threshold)) fail("not all were found");
  free(vectors), free(question), free(mean), free(rows), free(scales), free(errors), free(scores), free(asked), free(found);
}

/* Codes, in as little room as is allowed; all rows are alike where `is_same`. */
static void check_codes(uint32_t count, uint32_t dimension, int is_same) {
  uint32_t words = (dimension + 63) / 64;
  uint32_t wanted = count / 3 + 1;
  uint32_t room = 2 * wanted;
  float *vectors = numbers(count * dimension);
  float *mean = calloc(dimension, sizeof *mean);
  uint64_t *signs = malloc(sizeof *signs * count * words);
  uint64_t *strong = malloc(sizeof *strong * count * words);
  uint64_t *asked = malloc(sizeof *asked * 4 * words);
  uint16_t *agreements = malloc(sizeof *agreements * room);
  int32_t *found = malloc(sizeof *found * room);
  float *scores = malloc(sizeof *scores * room);
  for (uint32_t i = 1; is_same && i < count; i++) memcpy(vectors + i * dimension, vectors, sizeof *vectors * dimension);
  if (svckernel_code(vectors, count, dimension, mean, 0.1f, signs, strong) != count) fail("codes are missing");
  svckernel_ask(vectors, dimension, asked);
  uint32_t many = svckernel_likely(signs, count, words, asked, wanted, room, agreements, found);
  if (many != wanted) fail("not as many as wanted are likely");
  if (found[0] != 0) fail("a row is not like itself");
  svckernel_weigh(signs, strong, found, many, words, asked, scores);
  for (uint32_t i = 1; i < many; i++) {
    if (found[i] <= found[i - 1]) fail("likely rows are out of order");
    if (scores[i] > scores[0]) fail("a row is nearer than the same one");
  }
  free(vectors), free(mean), free(signs), free(strong), free(asked), free(agreements), free(found), free(scores);
}

int main(void) {
  for (uint32_t count = 1; count < 40; count += 3) {
    for (uint32_t dimension = 1; dimension < 130; dimension += 7) check(count, dimension);
  }
  check(200, 384);
  for (uint32_t count = 1; count < 200; count += 9) {
    for (uint32_t dimension = 20; dimension < 200; dimension += 31) {
      check_codes(count, dimension, 0);
      check_codes(count, dimension, 1);
    }
  }
  check_codes(2000, 384, 0);
  float odd[4] = {0, 0, INFINITY, NAN};
  float mean[2] = {0, 0};
  int8_t rows[4];
  float scales[2];
  float errors[2];
  int16_t asked[2];
  float parameters[3];
  if (svckernel_quantise(odd, 2, 2, mean, rows, scales, errors) != 0) fail("a row without a direction was made");
  if (svckernel_question(odd + 2, 2, mean, asked, parameters) != 0) fail("a question without a direction was made");
  printf("sound\n");
  return 0;
}
