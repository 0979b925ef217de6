/*
 * The documents that hold a word and how often, gathered while SQLite walks the word's list. The rows do not go through
 * JavaScript one by one, nor is anything looked up for a document that will not matter.
 */
#ifndef SVC_POSTINGS_H
#define SVC_POSTINGS_H

#include "rank.h"
#include "sqlite.h"

/*
 * As an auxiliary function of FTS5, svckernel_gather(table, mask, weight of column 0, ...): adds the current row to what
 * this thread gathers: its rowid, of which only the bits of the mask are kept, and the sum of the weights of the columns
 * of the expression's occurrences. Returns 0, so that as a condition it lets no row through.
 */
void fts5_gather(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments);

/*
 * svckernel_lists(table, words, lowest rowid, highest, mask, weights ...): the same of all documents of each word within the
 * rowids, read where FTS5 keeps the lists. The words are separated by line breaks. Returns 1; 0 when it cannot tell, so that
 * FTS5 must be asked.
 */
void fts5_lists(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments);

/* Adds a document. Returns 0 when there is no memory, as do the next two. */
int gather(double key, float frequency);
/* Merges two runs of ascending keys: from `start`, and from `second` to the end. */
int gather_merge(uint32_t start, uint32_t second);
/* The list of a word ends here. */
int gather_end(void);

/* Forgets what this thread has gathered. */
SVC_EXPORT void svckernel_gather_begin(void);
/* How many rows this thread has gathered. */
SVC_EXPORT uint32_t svckernel_gather_count(void);
/* Copies where the list of each word ends. */
SVC_EXPORT void svckernel_gather_ends(uint32_t *ends);
/* Copies what was gathered: keys in the order of the walk, and frequencies. Frees it when it was much. */
SVC_EXPORT void svckernel_gather_take(double *keys, float *frequencies);

#endif
