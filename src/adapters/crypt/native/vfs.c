#include "vfs.h"

#include <string.h>

#include "file.h"
#include "sidecar.h"

enum {
  TEMPORARY = SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_SUBJOURNAL,
};

static sqlite3_vfs *real_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

/* Gives `file` its empty state, with the real file's object behind it. */
static void clear_file(CryptFile *file) {
  memset(file, 0, sizeof *file);
  file->real = (sqlite3_file *)((char *)file + CRYPT_FILE_ROOM);
  memset(file->real, 0, sizeof *file->real);
}

/* The caller has set nothing up that would have to be undone. */
static int open_real(sqlite3_vfs *vfs, const char *name, CryptFile *file, int flags, int *out_flags) {
  clear_file(file);
  int rc = real_of(vfs)->xOpen(real_of(vfs), name, file->real, flags, out_flags);
  if (rc != SQLITE_OK && file->real->pMethods != NULL) file->real->pMethods->xClose(file->real);
  return rc;
}

/* SQLite closes no file whose opening failed without methods. */
static int fail_open(CryptFile *file, int rc) {
  file->real->pMethods->xClose(file->real);
  file->base.pMethods = NULL;
  return rc;
}

static int open_main(sqlite3_vfs *vfs, const char *name, CryptFile *file, int flags, int *out_flags) {
  /* Without a key nothing is opened, so that nothing is created: an ATTACH or VACUUM INTO that forgot it must fail. */
  KeyEntry *key = key_hold(sqlite3_uri_int64(name, "kid", -1));
  if (key == NULL) return SQLITE_CANTOPEN;
  int rc = open_real(vfs, name, file, flags, out_flags);
  if (rc == SQLITE_OK) {
    rc = main_file_open(file, key);
    if (rc != SQLITE_OK) rc = fail_open(file, rc);
  }
  /* It holds a checksum of plain pages. */
  if (rc == SQLITE_OK && (flags & SQLITE_OPEN_READWRITE) != 0) drop_stale_index(file->real, name);
  if (rc != SQLITE_OK) key_release(key);
  return rc;
}

/*
 * A database in WAL mode needs no rollback journal, and one that lies beside it is not its own: it reads as empty, which
 * is to SQLite as if there were none.
 */
static int open_no_journal(sqlite3_file *base, int flags, int *out_flags) {
  ram_file_open(base);
  if (out_flags != NULL) *out_flags = flags;
  return SQLITE_OK;
}

static int open_log(sqlite3_vfs *vfs, sqlite3_filename name, CryptFile *file, int flags, int *out_flags) {
  sqlite3_file *base = sqlite3_database_file_object(name);
  if (!is_main_file(base)) return SQLITE_CANTOPEN;
  CryptFile *main_file = as_crypt_file(base);
  if (is_playback(flags) && main_file_uses_log(main_file)) return open_no_journal(&file->base, flags, out_flags);
  clear_file(file);
  int rc = sidecar_open(real_of(vfs), name, file->real, flags, out_flags);
  if (rc != SQLITE_OK) return rc;
  sqlite3_int64 size = 0;
  if (is_playback(flags)) rc = real_size(main_file, &size);
  if (is_playback(flags) && rc == SQLITE_OK) rc = journal_may_be_played(file->real, size, main_file->codec.page_size);
  if (rc == SQLITE_OK) {
    rc = (flags & SQLITE_OPEN_WAL) != 0 ? wal_file_open(file, main_file) : journal_file_open(file, main_file);
  }
  return rc == SQLITE_OK ? rc : fail_open(file, rc);
}

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *base, int flags, int *out_flags) {
  base->pMethods = NULL;
  if (name == NULL || (flags & TEMPORARY) != 0) {
    ram_file_open(base);
    if (out_flags != NULL) *out_flags = flags;
    return SQLITE_OK;
  }
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return open_main(vfs, name, as_crypt_file(base), flags, out_flags);
  if ((flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0) {
    return open_log(vfs, name, as_crypt_file(base), flags, out_flags);
  }
  /* Holds file names only, and no page. */
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) return super_journal_open(real_of(vfs), name, base, flags, out_flags);
  return SQLITE_CANTOPEN;
}

/* Whether the header of an opened database without encryption says WAL, and the size of its pages. */
static int plain_header(sqlite3_file *main_file, int *uses_log, uint32_t *page_size) {
  uint8_t header[PAGE1_CLEAR];
  int rc = main_file->pMethods->xRead(main_file, header, sizeof header, 0);
  if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ) return rc;
  *page_size = page_size_in(header);
  *uses_log = rc == SQLITE_OK && header[18] == 2 && header[19] == 2;
  return SQLITE_OK;
}

static int open_plain_playback(
    sqlite3_vfs *real, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags) {
  sqlite3_file *main_file = sqlite3_database_file_object(name);
  int uses_log = 0;
  uint32_t page_size = 0;
  sqlite3_int64 size = 0;
  int rc = plain_header(main_file, &uses_log, &page_size);
  if (rc != SQLITE_OK) return rc;
  if (uses_log) return open_no_journal(file, flags, out_flags);
  rc = sidecar_open(real, name, file, flags, out_flags);
  if (rc != SQLITE_OK) return rc;
  rc = main_file->pMethods->xFileSize(main_file, &size);
  if (rc == SQLITE_OK && page_size != 0) rc = journal_may_be_played(file, size, page_size);
  if (rc == SQLITE_OK) return rc;
  file->pMethods->xClose(file);
  file->pMethods = NULL;
  return rc;
}

/* Files without encryption: the real ones, with the rules for what lies beside them. */
static int plain_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags) {
  (void)vfs;
  sqlite3_vfs *real = vfs_real();
  if (name == NULL) return real->xOpen(real, name, file, flags, out_flags);
  if (is_playback(flags)) return open_plain_playback(real, name, file, flags, out_flags);
  if ((flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0) {
    return sidecar_open(real, name, file, flags, out_flags);
  }
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) return super_journal_open(real, name, file, flags, out_flags);
  return real->xOpen(real, name, file, flags, out_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder) {
  return real_of(vfs)->xDelete(real_of(vfs), name, sync_folder);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  return real_of(vfs)->xAccess(real_of(vfs), name, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out) {
  return real_of(vfs)->xFullPathname(real_of(vfs), name, size, out);
}

static void *vfs_dl_open(sqlite3_vfs *vfs, const char *name) { return real_of(vfs)->xDlOpen(real_of(vfs), name); }

static void vfs_dl_error(sqlite3_vfs *vfs, int size, char *out) { real_of(vfs)->xDlError(real_of(vfs), size, out); }

static void (*vfs_dl_sym(sqlite3_vfs *vfs, void *library, const char *name))(void) {
  return real_of(vfs)->xDlSym(real_of(vfs), library, name);
}

static void vfs_dl_close(sqlite3_vfs *vfs, void *library) { real_of(vfs)->xDlClose(real_of(vfs), library); }

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out) {
  return real_of(vfs)->xRandomness(real_of(vfs), size, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) { return real_of(vfs)->xSleep(real_of(vfs), microseconds); }

static int vfs_current_time(sqlite3_vfs *vfs, double *julian_day) {
  return real_of(vfs)->xCurrentTime(real_of(vfs), julian_day);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out) {
  return real_of(vfs)->xGetLastError(real_of(vfs), size, out);
}

static int vfs_current_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
  return real_of(vfs)->xCurrentTimeInt64(real_of(vfs), milliseconds);
}

static sqlite3_vfs crypt_vfs = {
    .iVersion = 2,
    .zName = VFS_NAME,
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_pathname,
    .xDlOpen = vfs_dl_open,
    .xDlError = vfs_dl_error,
    .xDlSym = vfs_dl_sym,
    .xDlClose = vfs_dl_close,
    .xRandomness = vfs_randomness,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_current_time,
    .xGetLastError = vfs_last_error,
    .xCurrentTimeInt64 = vfs_current_time_ms,
};

/* A copy of the real VFS, but for its name and how it opens. */
static sqlite3_vfs plain_vfs;

static int register_plain(sqlite3_vfs *real) {
  plain_vfs = *real;
  plain_vfs.zName = PLAIN_VFS_NAME;
  plain_vfs.pNext = NULL;
  plain_vfs.xOpen = plain_open;
  if (plain_vfs.szOsFile < RAM_FILE_ROOM) plain_vfs.szOsFile = RAM_FILE_ROOM;
  return sqlite3_vfs_register(&plain_vfs, 0);
}

static int register_once(void) {
  if (crypt_vfs.pAppData != NULL) return SQLITE_OK;
  sqlite3_vfs *real = sqlite3_vfs_find(NULL);
  if (real == NULL || real->iVersion < 2 || real->xCurrentTimeInt64 == NULL) return SQLITE_ERROR;
  int room = CRYPT_FILE_ROOM + real->szOsFile;
  crypt_vfs.szOsFile = room > RAM_FILE_ROOM ? room : RAM_FILE_ROOM;
  crypt_vfs.mxPathname = real->mxPathname;
  crypt_vfs.pAppData = real;
  int rc = sqlite3_vfs_register(&crypt_vfs, 0);
  if (rc == SQLITE_OK) rc = register_plain(real);
  if (rc != SQLITE_OK) crypt_vfs.pAppData = NULL;
  return rc;
}

/* Each thread loads the extension; the mutex lets one of them register, and the others see its result. */
int vfs_register(void) {
  sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2);
  sqlite3_mutex_enter(mutex);
  int rc = register_once();
  sqlite3_mutex_leave(mutex);
  return rc;
}

sqlite3_vfs *vfs_real(void) { return crypt_vfs.pAppData; }
