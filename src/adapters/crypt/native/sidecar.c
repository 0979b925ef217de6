#include "sidecar.h"

#include <string.h>

#include "bytes.h"
#include "names.h"

/* What a journal begins with, and where in that header its numbers lie. */
enum { JOURNAL_HEADER = 28, AT_PAGE_COUNT = 16, AT_PAGE_SIZE = 24 };
static const uint8_t JOURNAL_MAGIC[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

static int open_trusted(
    sqlite3_vfs *real, const char *name, const char *database, sqlite3_file *file, int flags, int *out_flags) {
  file->pMethods = NULL;
  if (!name_is_trusted(name, database, 0)) return SQLITE_CANTOPEN;
  int rc = real->xOpen(real, name, file, flags, out_flags);
  /* Again: what was put there in between would be open now. */
  if (rc == SQLITE_OK && !name_is_trusted(name, database, 1)) rc = SQLITE_CANTOPEN;
  if (rc != SQLITE_OK && file->pMethods != NULL) file->pMethods->xClose(file);
  if (rc != SQLITE_OK) file->pMethods = NULL;
  return rc;
}

int sidecar_open(sqlite3_vfs *real, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags) {
  return open_trusted(real, name, sqlite3_filename_database(name), file, flags, out_flags);
}

void drop_stale_index(sqlite3_file *file, const char *name) {
  char *index = sqlite3_mprintf("%s-shm", name);
  if (index == NULL) return;
  if (name_is_taken(index) && file->pMethods->xLock(file, SQLITE_LOCK_SHARED) == SQLITE_OK) {
    if (file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK) name_remove(index);
    file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
  }
  sqlite3_free(index);
}

/* `<database>-mj`, six hexadecimal digits, 9 and two more. */
static int is_super_journal(const char *name) {
  size_t length = strlen(name);
  if (length < 13) return 0;
  const char *tail = name + length - 12;
  return memcmp(tail, "-mj", 3) == 0 && tail[9] == '9' && strspn(tail + 3, "0123456789ABCDEF") == 9;
}

int super_journal_open(sqlite3_vfs *real, const char *name, sqlite3_file *file, int flags, int *out_flags) {
  file->pMethods = NULL;
  if (!is_super_journal(name)) return SQLITE_CANTOPEN;
  return open_trusted(real, name, NULL, file, flags, out_flags);
}

int journal_may_be_played(sqlite3_file *journal, sqlite3_int64 size, sqlite3_int64 page_size) {
  uint8_t header[JOURNAL_HEADER];
  int rc = journal->pMethods->xRead(journal, header, sizeof header, 0);
  /* Shorter, or wiped after its end: SQLite does not play it back. */
  if (rc == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
  if (rc != SQLITE_OK || memcmp(header, JOURNAL_MAGIC, sizeof JOURNAL_MAGIC) != 0) return rc;
  sqlite3_int64 pages = (size + page_size - 1) / page_size;
  uint32_t stated = get_u32(header + AT_PAGE_SIZE);
  int fits = get_u32(header + AT_PAGE_COUNT) <= pages && (stated == 0 || stated == page_size);
  return fits ? SQLITE_OK : SQLITE_CORRUPT;
}
