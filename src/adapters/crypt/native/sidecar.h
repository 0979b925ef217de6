/*
 * The files beside a database. SQLite opens them by name alone and obeys what they say, so anyone who may make a file beside
 * a pack could change it: these rules stand before every opening of one.
 */
#ifndef SVC_SIDECAR_H
#define SVC_SIDECAR_H

#include "sqlite.h"

/*
 * Opens a log or journal through `real`. SQLITE_CANTOPEN, with `file` closed: it is no regular file with one name, or it
 * belongs neither to this user nor to the owner of the database. `name` is one that SQLite's pager made.
 */
int sidecar_open(sqlite3_vfs *real, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags);

/*
 * Removes the index (-shm) of the opened database `file` that a crash left, if nobody has the database open: a process
 * that has it open holds a lock on it, and SQLite removes the index of a closed one under the same lock.
 */
void drop_stale_index(sqlite3_file *file, const char *name);

/*
 * Opens the list of journals of a transaction over several files, under no other names than SQLite gives to such a list:
 * a journal may name any file as its list, and SQLite deletes a list that it has done with.
 */
int super_journal_open(sqlite3_vfs *real, const char *name, sqlite3_file *file, int flags, int *out_flags);

/* Of an opening of a journal that is there already, to see whether a crash left it and to play it back. */
static inline int is_playback(int flags) {
  return (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 && (flags & SQLITE_OPEN_CREATE) == 0;
}

/*
 * Whether the opened journal may be played back into a database of `size` bytes with pages of `page_size`: SQLITE_CORRUPT
 * when the size that it restores is above that, or its pages have another size.
 */
int journal_may_be_played(sqlite3_file *journal, sqlite3_int64 size, sqlite3_int64 page_size);

#endif
