#ifndef SVC_VECTORS_H
#define SVC_VECTORS_H

#include "sqlite.h"

/*
 * A row of vectors is a blob of numbers of 32 bits, which is searched as it is, or of 16 bits: a turn of a conversation. That is
 * searched as own + weight * previous + weight * next, with the vectors of the turns beside it (NULL: none).
 */

/* svckernel_cosine(question, weight, own, previous, next) -> the cosine; 0 where one of the two is a zero vector, NULL where one is not of numbers */
void sql_cosine(sqlite3_context *context, int count, sqlite3_value **arguments);

/* svckernel_vectors(dimension, weight, own, previous, next) -> the vectors of all rows, of length one, as numbers of 32 bits */
void sql_vectors_step(sqlite3_context *context, int count, sqlite3_value **arguments);
void sql_vectors_final(sqlite3_context *context);

#endif
