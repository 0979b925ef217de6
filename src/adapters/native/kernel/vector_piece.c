/*
 * A part of a large blob. SQL reads the whole blob to take a part of it; this reads the pages that hold the part, and
 * keeps the blob's handle from row to row of one statement.
 */
#include "vector_piece.h"

#include <stddef.h>

enum { SCHEMA, TABLE, COLUMN, ROW, OFFSET, LENGTH };
enum { PIECE_MAX = 1 << 20 };

static void close_blob(void *blob) { sqlite3_blob_close(blob); }

/* The blob of a row. Returns NULL when there is none. */
static sqlite3_blob *open_blob(sqlite3_context *context, sqlite3_value **arguments) {
  sqlite3_int64 row = sqlite3_value_int64(arguments[ROW]);
  sqlite3_blob *blob = sqlite3_get_auxdata(context, SCHEMA);
  /* A handle that failed to move stays useless, and is closed by what takes its place. */
  if (blob != NULL && sqlite3_blob_reopen(blob, row) == SQLITE_OK) return blob;
  sqlite3_blob *opened = NULL;
  int rc = sqlite3_blob_open(sqlite3_context_db_handle(context), (const char *)sqlite3_value_text(arguments[SCHEMA]),
      (const char *)sqlite3_value_text(arguments[TABLE]), (const char *)sqlite3_value_text(arguments[COLUMN]), row, 0,
      &opened);
  if (rc != SQLITE_OK) return NULL;
  sqlite3_set_auxdata(context, SCHEMA, opened, close_blob);
  /* Where the first argument is no constant the handle is closed already. */
  return sqlite3_get_auxdata(context, SCHEMA);
}

void sql_piece(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  sqlite3_int64 offset = sqlite3_value_int64(arguments[OFFSET]);
  sqlite3_int64 length = sqlite3_value_int64(arguments[LENGTH]);
  if (offset < 0 || length <= 0 || length > PIECE_MAX) return;
  sqlite3_blob *blob = open_blob(context, arguments);
  if (blob == NULL || offset + length > sqlite3_blob_bytes(blob)) return;
  unsigned char *piece = sqlite3_malloc64((sqlite3_uint64)length);
  if (piece == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  if (sqlite3_blob_read(blob, piece, (int)length, (int)offset) != SQLITE_OK) {
    sqlite3_free(piece);
    return;
  }
  sqlite3_result_blob(context, piece, (int)length, sqlite3_free);
}
