/*
 * The best documents by BM25: the lists of words are read where FTS5 keeps them, and kept in memory, as are the lengths of
 * documents. What is kept belongs to a part of the index that never changes; a part that did is another part.
 */
#ifndef SVC_WORDS_H
#define SVC_WORDS_H

#include <stdint.h>

#include "sqlite.h"

/* Documents whose numbers differ in their last bits alone share a window. */
enum { WINDOW_BITS = 12, WINDOW = 1 << WINDOW_BITS };

/* The documents of a list in a window: from here to where the next run begins. */
typedef struct Run {
  uint64_t window;
  uint32_t from;
} Run;

/* A document with more occurrences than a byte tells. */
typedef struct Many {
  uint32_t at;
  uint32_t halves;
} Many;

/* The documents of a word in a part of the index, ascending: places within windows, and halves of weighed occurrences. */
typedef struct List {
  struct List *chained;
  struct List *newer;
  struct List *older;
  uint64_t hash;
  uint8_t *key;
  uint32_t key_size;
  uint16_t *places;
  uint8_t *halves;
  uint32_t count;
  uint32_t room;
  Run *runs;
  uint32_t run_count;
  uint32_t run_room;
  Many *many;
  uint32_t many_count;
  uint32_t many_room;
} List;

enum { HALVES_MANY = 255 };

/* Adds a document behind those that the list has. Returns 0 when there is no memory. */
int list_grow(List *list, uint64_t row, uint32_t halves);
static inline int list_add(List *list, uint64_t row, uint32_t halves) {
  if (list->count == list->room || halves >= HALVES_MANY || list->run_count == 0 ||
      list->runs[list->run_count - 1].window != row >> WINDOW_BITS) {
    return list_grow(list, row, halves);
  }
  list->places[list->count] = row & (WINDOW - 1);
  list->halves[list->count++] = (uint8_t)halves;
  return 1;
}

/* A part of the index. */
typedef struct Part {
  int64_t id;
  uint32_t first;
  uint32_t last;
  uint64_t from;
  uint64_t until;
  uint64_t entries;
  /* Documents deleted from it, and their hash tables, read when first needed. */
  uint64_t dead_entries;
  uint32_t dead_pages;
  uint8_t **dead;
  uint32_t *dead_sizes;
  /* What tells it from a later part with the same numbers; its number in this memory, and that for lengths. */
  uint64_t print;
  uint16_t slot;
  uint16_t lengths;
} Part;

typedef struct Parts {
  Part *all;
  uint32_t count;
} Parts;

/* Statements on the tables of the index, prepared when first needed. */
typedef struct Reader {
  sqlite3 *db;
  sqlite3_stmt *pages;
  sqlite3_stmt *terms;
  uint32_t halves[3];
} Reader;

int reader_open(Reader *reader);
void reader_close(Reader *reader);
/* Reads which parts there are. Returns 0 when FTS5 must be asked, as do the next two. */
int parts_read(const uint8_t *structure, uint32_t size, Parts *parts);
/* Reads how many documents were deleted from a part, where the part itself does not tell, and what its first page has. */
int part_identify(Reader *reader, const Parts *parts, Part *part);
/* Reads the documents of a term in a part. */
int list_read(Reader *reader, Part *part, const uint8_t *term, uint32_t size, List *list);
void parts_free(Parts *parts);
/* The number behind `at`. Returns the position after it; 0 when it does not end before `end`. */
uint32_t number_read(const uint8_t *bytes, uint32_t at, uint32_t end, uint64_t *number);

typedef struct Held Held;
/* What a connection keeps. */
Held *held_new(void);
void held_free(void *held);

/*
 * svckernel_lists(table, structure, words, weights of an occurrence in three columns ...): begins a question. The words are
 * separated by line breaks, their forms by tabs; before a form stands '2', or '1' where an occurrence counts half. A word
 * without forms, and all when the structure is NULL, are left to svckernel_gather. Returns 1; 0 when FTS5 must be asked for
 * all words.
 */
void fts5_lists(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments);

/*
 * svckernel_gather(table, word, form, weights ...): adds the current row to the documents of a form of a word: its number,
 * and the weights of the occurrences in each column. Returns 0, so that as a condition it lets no row through.
 */
void fts5_gather(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments);

/* svckernel_holding(lowest rowid, highest): of each word, how many documents within those hold it, as doubles. */
void sql_holding(sqlite3_context *context, int count, sqlite3_value **arguments);

/*
 * svckernel_best(lowest rowid, highest, mask, rules, words, wanted, others): the `wanted` best documents within the rowids.
 * `rules`: k1, b, and the mean length of a document. `words`: for each that counts its number and its rarity, in the order of
 * addition. `others`: rowids, of which only the bits of the mask need be given, whose scores are also wanted. All are
 * doubles, as is the answer: how many of the best there are, then key and score of those, best first, then of the others
 * that match.
 */
void sql_best(sqlite3_context *context, int count, sqlite3_value **arguments);

#endif
