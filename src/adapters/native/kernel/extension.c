/*
 * The entry point: what SQL may call on the connections that load the library.
 */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <stddef.h>

#include "rank.h"
#include "vectors.h"
#include "words.h"

SVC_EXPORT int sqlite3_svckernel_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

/* FTS5 hands its interface out through a pointer that only C can bind. Returns NULL when this SQLite has none. */
static fts5_api *find_fts5(sqlite3 *db) {
  fts5_api *fts5 = NULL;
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, NULL) != SQLITE_OK) return NULL;
  sqlite3_bind_pointer(statement, 1, &fts5, "fts5_api_ptr", NULL);
  sqlite3_step(statement);
  sqlite3_finalize(statement);
  return fts5;
}

int sqlite3_svckernel_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  fts5_api *fts5 = find_fts5(db);
  if (fts5 == NULL || fts5->iVersion < 2) {
    *error = sqlite3_mprintf("this SQLite has no FTS5 that svckernel can join");
    return SQLITE_ERROR;
  }
  /*
   * Plan a statement once, whatever its parameters are. Otherwise SQLite makes a statement anew at each use when a
   * parameter's value might have led to another order of reading, which takes ten times as long as most statements run.
   */
  int rc = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
  const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY | SQLITE_DETERMINISTIC;
  if (rc == SQLITE_OK) rc = sqlite3_create_function_v2(
      db, "svckernel_cosine", 5, flags, NULL, sql_cosine, NULL, NULL, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_create_function_v2(
      db, "svckernel_vectors", 5, flags, NULL, NULL, sql_vectors_step, sql_vectors_final, NULL);
  Held *held = held_new();
  if (held == NULL) return SQLITE_NOMEM;
  /* What is held goes with the function that is made first, also when it cannot be made. */
  if (rc != SQLITE_OK) held_free(held);
  else rc = sqlite3_create_function_v2(
      db, "svckernel_best", 7, SQLITE_UTF8 | SQLITE_DIRECTONLY, held, sql_best, NULL, NULL, held_free);
  if (rc == SQLITE_OK) rc = sqlite3_create_function_v2(
      db, "svckernel_holding", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, held, sql_holding, NULL, NULL, NULL);
  if (rc == SQLITE_OK) rc = fts5->xCreateFunction(fts5, "svckernel_gather", held, fts5_gather, NULL);
  if (rc == SQLITE_OK) rc = fts5->xCreateFunction(fts5, "svckernel_lists", held, fts5_lists, NULL);
  return rc;
}
