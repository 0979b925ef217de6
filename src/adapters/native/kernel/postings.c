#include "postings.h"

#include <stdlib.h>
#include <string.h>

typedef struct Gathered {
  double *keys;
  float *frequencies;
  uint32_t count;
  uint32_t room;
  /* Where the list of each word ends. */
  uint32_t *ends;
  uint32_t lists;
  uint32_t lists_room;
} Gathered;

enum { FIRST_ROOM = 1024, KEPT_ROOM = 1 << 16 };

static _Thread_local Gathered gathered;

static void forget(void) {
  free(gathered.keys);
  free(gathered.frequencies);
  free(gathered.ends);
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

int gather(double key, float frequency) {
  if (!make_room()) return 0;
  gathered.keys[gathered.count] = key;
  gathered.frequencies[gathered.count] = frequency;
  gathered.count++;
  return 1;
}

int gather_merge(uint32_t start, uint32_t second) {
  if (second == start || second == gathered.count || gathered.keys[second - 1] < gathered.keys[second]) return 1;
  uint32_t first = second - start;
  double *keys = malloc(sizeof *keys * first);
  float *frequencies = malloc(sizeof *frequencies * first);
  int is_done = keys != NULL && frequencies != NULL;
  if (is_done) {
    memcpy(keys, gathered.keys + start, sizeof *keys * first);
    memcpy(frequencies, gathered.frequencies + start, sizeof *frequencies * first);
    /* What is written is never ahead of what is still to be read of the second run. */
    for (uint32_t from = 0, into = start; from < first; into++) {
      int is_second = second < gathered.count && gathered.keys[second] < keys[from];
      gathered.keys[into] = is_second ? gathered.keys[second] : keys[from];
      gathered.frequencies[into] = is_second ? gathered.frequencies[second++] : frequencies[from++];
    }
  }
  free(keys);
  free(frequencies);
  return is_done;
}

int gather_end(void) {
  if (gathered.lists == gathered.lists_room) {
    uint32_t room = gathered.lists_room == 0 ? FIRST_ROOM : 2 * gathered.lists_room;
    uint32_t *ends = realloc(gathered.ends, sizeof *ends * room);
    if (ends == NULL) return 0;
    gathered.ends = ends;
    gathered.lists_room = room;
  }
  gathered.ends[gathered.lists++] = gathered.count;
  return 1;
}

void fts5_gather(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments) {
  if (count < 1) {
    sqlite3_result_error(context, "svckernel_gather: a mask expected", -1);
    return;
  }
  double frequency = 0;
  int rc = frequency_in_row(api, fts, count - 1, arguments + 1, &frequency);
  if (rc == SQLITE_OK && !gather((double)(api->xRowid(fts) & sqlite3_value_int64(arguments[0])), (float)frequency)) {
    rc = SQLITE_NOMEM;
  }
  if (rc == SQLITE_OK) {
    sqlite3_result_int(context, 0);
  } else {
    sqlite3_result_error_code(context, rc);
  }
}

void svckernel_gather_begin(void) { gathered.count = gathered.lists = 0; }

uint32_t svckernel_gather_count(void) { return gathered.count; }

void svckernel_gather_ends(uint32_t *ends) { memcpy(ends, gathered.ends, sizeof *ends * gathered.lists); }

void svckernel_gather_take(double *keys, float *frequencies) {
  if (gathered.count > 0) {
    memcpy(keys, gathered.keys, sizeof *keys * gathered.count);
    memcpy(frequencies, gathered.frequencies, sizeof *frequencies * gathered.count);
  }
  gathered.count = 0;
  if (gathered.room > KEPT_ROOM) forget();
}
