#include "postings.h"

#include <stdlib.h>
#include <string.h>

typedef struct Gathered {
  double *keys;
  float *frequencies;
  uint32_t count;
  uint32_t room;
} Gathered;

enum { FIRST_ROOM = 1024, KEPT_ROOM = 1 << 16 };

static _Thread_local Gathered gathered;

static void forget(void) {
  free(gathered.keys);
  free(gathered.frequencies);
  memset(&gathered, 0, sizeof gathered);
}

static int make_room(void) {
  if (gathered.count < gathered.room) return 1;
  uint32_t room = gathered.room == 0 ? FIRST_ROOM : 2 * gathered.room;
  double *keys = realloc(gathered.keys, sizeof *keys * room);
  if (keys == NULL) return 0;
  gathered.keys = keys;
  float *frequencies = realloc(gathered.frequencies, sizeof *frequencies * room);
  if (frequencies == NULL) return 0;
  gathered.frequencies = frequencies;
  gathered.room = room;
  return 1;
}

/* The weighted number of occurrences of all phrases in the current row. */
static int frequency_in_row(const Fts5ExtensionApi *api, Fts5Context *fts, int weights, sqlite3_value **weight,
    double *frequency) {
  *frequency = 0;
  int phrases = api->xPhraseCount(fts);
  for (int phrase = 0; phrase < phrases; phrase++) {
    Fts5PhraseIter iterator;
    int column = 0;
    int offset = 0;
    int rc = api->xPhraseFirst(fts, phrase, &iterator, &column, &offset);
    if (rc != SQLITE_OK) return rc;
    while (column >= 0) {
      *frequency += column < weights ? sqlite3_value_double(weight[column]) : 1.0;
      api->xPhraseNext(fts, &iterator, &column, &offset);
    }
  }
  return SQLITE_OK;
}

/* The mask and the weights of the columns. */
typedef struct Columns {
  sqlite3_value **values;
  int count;
} Columns;

static int gather_row(const Fts5ExtensionApi *api, Fts5Context *fts, const Columns *columns) {
  double frequency = 0;
  int rc = frequency_in_row(api, fts, columns->count - 1, columns->values + 1, &frequency);
  if (rc == SQLITE_OK && !make_room()) rc = SQLITE_NOMEM;
  if (rc != SQLITE_OK) return rc;
  gathered.keys[gathered.count] = (double)(api->xRowid(fts) & sqlite3_value_int64(columns->values[0]));
  gathered.frequencies[gathered.count] = (float)frequency;
  gathered.count++;
  return SQLITE_OK;
}

static int gather_next(const Fts5ExtensionApi *api, Fts5Context *fts, void *columns) {
  return gather_row(api, fts, columns);
}

static void finish(sqlite3_context *context, int rc, int answer) {
  if (rc == SQLITE_OK) {
    sqlite3_result_int(context, answer);
  } else {
    sqlite3_result_error_code(context, rc);
  }
}

void fts5_gather(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments) {
  if (count < 1) {
    sqlite3_result_error(context, "svckernel_gather: a mask expected", -1);
    return;
  }
  Columns columns = {arguments, count};
  finish(context, gather_row(api, fts, &columns), 0);
}

void fts5_gather_all(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments) {
  if (count < 1 || api->xPhraseCount(fts) != 1) {
    sqlite3_result_error(context, "svckernel_gather_all: a mask and a question of one phrase expected", -1);
    return;
  }
  Columns columns = {arguments, count};
  finish(context, api->xQueryPhrase(fts, 0, &columns, gather_next), 1);
}

void svckernel_gather_begin(void) { gathered.count = 0; }

uint32_t svckernel_gather_count(void) { return gathered.count; }

void svckernel_gather_take(double *keys, float *frequencies) {
  if (gathered.count > 0) {
    memcpy(keys, gathered.keys, sizeof *keys * gathered.count);
    memcpy(frequencies, gathered.frequencies, sizeof *frequencies * gathered.count);
  }
  gathered.count = 0;
  if (gathered.room > KEPT_ROOM) forget();
}
