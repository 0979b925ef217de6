/*
 * SQLite's extension interface: every sqlite3_* call goes through the table that the loading SQLite hands over.
 */
#ifndef SVC_SQLITE_H
#define SVC_SQLITE_H

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

/* Newer than the headers of some distributions. */
#ifndef SQLITE_IOCAP_SUBPAGE_READ
#define SQLITE_IOCAP_SUBPAGE_READ 0x00008000
#endif

#endif
