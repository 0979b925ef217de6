/*
 * Vectors as bytes, and bounds on their cosines with a question: what a search needs to read only the rows that matter.
 * Called from JavaScript; every array is the caller's and as long as said.
 */
#ifndef SVC_RANK_H
#define SVC_RANK_H

#include <stdint.h>

#if defined(_WIN32)
#define SVC_EXPORT __declspec(dllexport)
#else
#define SVC_EXPORT __attribute__((visibility("default")))
#endif

/* Whether the processor has AVX2, POPCNT and F16C, on which all with AVX2 agree; only on x64. */
int has_avx2(void);

/*
 * Turns `count` vectors into rows of one byte a number: row[i] = (direction[i] - mean[i]) / scale, rounded. What all
 * directions have in common, `mean`, would take most of a byte's range. `errors` gets the length of what rounding took
 * away, rounded up. Returns how many rows it made: fewer when a vector has no direction.
 */
SVC_EXPORT uint32_t svckernel_quantise(const float *vectors, uint32_t count, uint32_t dimension, const float *mean,
    int8_t *rows, float *scales, float *errors);

/*
 * Turns a question into numbers of two bytes. `parameters` gets its scale, the length of its rounding error, and its
 * product with the mean. Returns 0 when the question has no direction.
 */
SVC_EXPORT uint32_t svckernel_question(
    const float *vector, uint32_t dimension, const float *mean, int16_t *question, float *parameters);

/* The approximate cosine of each row with the question. */
SVC_EXPORT void svckernel_score(const int8_t *rows, const float *scales, uint32_t count, uint32_t dimension,
    const int16_t *question, const float *parameters, float *scores);

/* The same of the rows whose numbers are in `positions`; `scores` has one for each of those. */
SVC_EXPORT void svckernel_score_some(const int8_t *rows, const float *scales, const int32_t *positions, uint32_t count,
    uint32_t dimension, const int16_t *question, const float *parameters, float *scores);

/*
 * Writes the signature of each row: one bit a number, set where it is above 0, in words of 64 bits. `signatures` has room
 * for count * ((dimension + 63) / 64) words.
 */
SVC_EXPORT void svckernel_sign(const int8_t *rows, uint32_t count, uint32_t dimension, uint64_t *signatures);

/*
 * Finds the `wanted` rows whose signatures of `words` words agree with the question's in most bits, and all that agree in
 * as many as the last of them: the more bits, the smaller the angle is likely to be. `agreements` and `found` have room for
 * `count` numbers; `found` gets the rows in order. Returns how many were found; 0 for signatures of more than 64 words.
 */
SVC_EXPORT uint32_t svckernel_alike(const uint64_t *signatures, uint32_t count, uint32_t words, const uint64_t *question,
    uint32_t wanted, uint16_t *agreements, int32_t *found);

/*
 * Turns `count` vectors into codes of two bits a number, in words of 64: `signs` where direction[i] - mean[i] is above 0,
 * `strong` where its size is above `limit`. Returns how many codes it made: fewer when a vector has no direction.
 */
SVC_EXPORT uint32_t svckernel_code(const float *vectors, uint32_t count, uint32_t dimension, const float *mean,
    float limit, uint64_t *signs, uint64_t *strong);

/*
 * Turns a question into what codes are compared with: its signs, then three words of bits for each of those, the sizes of
 * its numbers from 0 to 7. `asked` has room for 4 * words.
 */
SVC_EXPORT void svckernel_ask(const float *vector, uint32_t dimension, uint64_t *asked);

/*
 * Finds about `wanted` rows by their signs alone, weighed by the sizes of the question's numbers. `agreements` and `found`
 * have room for `room` numbers, at least 2 * wanted; `found` gets the rows in order. Returns how many were found, `room` at
 * most; 0 for signatures of more than 64 words.
 */
SVC_EXPORT uint32_t svckernel_likely(const uint64_t *signs, uint32_t count, uint32_t words, const uint64_t *asked,
    uint32_t wanted, uint32_t room, uint16_t *agreements, int32_t *found);

/* What the codes of the rows whose numbers are in `positions` tell of their products with the question: more is nearer. */
SVC_EXPORT void svckernel_weigh(const uint64_t *signs, const uint64_t *strong, const int32_t *positions, uint32_t count,
    uint32_t words, const uint64_t *asked, float *scores);

/*
 * Finds every row that may be among the `wanted` best, when scores[i] is off by `slack` plus (1 + slack) * errors[i] at most
 * (`errors` NULL: by nothing). `found` has room for `count` numbers and gets the rows, in no order; `threshold` gets a
 * value that `wanted` rows reach for certain and no row left out does. Returns how many were found.
 */
SVC_EXPORT uint32_t svckernel_select(const float *scores, const float *errors, float slack, uint32_t count,
    uint32_t wanted, int32_t *found, double *threshold);

#endif
