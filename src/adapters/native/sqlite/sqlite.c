/*
 * SQLite for systems whose Bun has none inside, with the options of the one that Bun has inside elsewhere, so that a pack meets
 * the same SQLite everywhere. A test compares the list with what Bun says of its own.
 */
#define SQLITE_API __attribute__((visibility("default")))

#define SQLITE_ENABLE_COLUMN_METADATA 1
#define SQLITE_ENABLE_DBSTAT_VTAB 1
#define SQLITE_ENABLE_FTS3 1
#define SQLITE_ENABLE_FTS3_PARENTHESIS 1
#define SQLITE_ENABLE_FTS5 1
#define SQLITE_ENABLE_GEOPOLY 1
#define SQLITE_ENABLE_MATH_FUNCTIONS 1
#define SQLITE_ENABLE_PERCENTILE 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#define SQLITE_ENABLE_RBU 1
#define SQLITE_ENABLE_RTREE 1
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_MAX_VARIABLE_NUMBER 250000
#define SQLITE_THREADSAFE 1

#include <sqlite3.c>
