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
 * svckernel_gather_all(table, mask, weights ...): the same of all rows of an expression of one phrase, in place of the first
 * of them, without SQLite's steps from row to row. Returns 1.
 */
void fts5_gather_all(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments);

/* Forgets what this thread has gathered. */
SVC_EXPORT void svckernel_gather_begin(void);
/* How many rows this thread has gathered. */
SVC_EXPORT uint32_t svckernel_gather_count(void);
/* Copies what was gathered: keys in the order of the walk, and frequencies. Frees it when it was much. */
SVC_EXPORT void svckernel_gather_take(double *keys, float *frequencies);

#endif
