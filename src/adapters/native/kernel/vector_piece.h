#ifndef SVC_VECTOR_PIECE_H
#define SVC_VECTOR_PIECE_H

#include "sqlite.h"

/* svckernel_piece(schema, table, column, row, offset, length) -> that part of a blob; NULL when it is not there */
void sql_piece(sqlite3_context *context, int count, sqlite3_value **arguments);

#endif
