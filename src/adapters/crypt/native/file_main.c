/* The database file itself: encrypted pages at multiples of the page size. */
#include <string.h>

#include "file.h"

/* SQLite keeps its lock bytes here; the page that holds them is never written or read. */
enum { LOCK_BYTE = 0x40000000 };
/* What SQLite reads of a file to learn its page size, before anything else. */
enum { PROBE_SIZE = 100 };
/* How far beyond its end a file may be written. SQLite leaves out no more than its cache holds; a forged size would fill the disk. */
enum { GAP_MAX = 64 << 20 };

static sqlite3_int64 page_start(const CryptFile *file, uint32_t pgno) {
  return (sqlite3_int64)(pgno - 1) * file->codec.page_size;
}

static uint32_t page_at(const CryptFile *file, sqlite3_int64 offset) {
  return (uint32_t)(offset / file->codec.page_size) + 1;
}

/*
 * The header of a file that is still empty. SQLite takes page size and reserved bytes from it, so that a new database
 * needs no pragma to be encrypted, and none can change its page size.
 */
static void empty_header(const CryptFile *file, uint8_t *out, size_t size) {
  uint8_t header[PROBE_SIZE] = {0};
  put_page_size(header, file->codec.page_size);
  header[18] = 1;
  header[19] = 1;
  header[20] = PAGE_RESERVE;
  memcpy(out, header, size);
}

/*
 * The header of a page 1 whose tag does not fit. The page may be torn by a crash and about to be restored from a journal
 * or the WAL, for which SQLite needs the page size first; if it is not restored, the first real read of it fails.
 */
static void clear_header(const CryptFile *file, uint8_t *out, size_t size) {
  uint8_t header[PROBE_SIZE] = "SQLite format 3";
  memcpy(header + 16, file->disk_page + 16, 5);
  memcpy(out, header, size);
}

static int read_past_end(const CryptFile *file, uint8_t *out, size_t size, sqlite3_int64 offset) {
  sqlite3_int64 end = 0;
  int rc = real_size(file, &end);
  if (rc != SQLITE_OK) return rc;
  memset(out, 0, size);
  /* Part of a page: the file was cut. SQLite would take zeros for its content. */
  if (end > page_start(file, page_at(file, offset))) return SQLITE_IOERR_DATA;
  if (end == 0 && offset == 0 && size == PROBE_SIZE) empty_header(file, out, size);
  return SQLITE_IOERR_SHORT_READ;
}

static int main_read(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset) {
  CryptFile *file = as_crypt_file(base);
  size_t size = (size_t)amount;
  uint32_t pgno = page_at(file, offset);
  size_t within = (size_t)(offset - page_start(file, pgno));
  if (within + size > file->codec.page_size) return SQLITE_IOERR_READ;

  int rc = real_read(file, file->disk_page, file->codec.page_size, page_start(file, pgno));
  if (rc == SQLITE_IOERR_SHORT_READ) return read_past_end(file, out, size, offset);
  if (rc != SQLITE_OK) return rc;

  uint8_t *plain = size == file->codec.page_size ? out : file->text_page;
  if (!page_open_main(&file->codec, pgno, file->disk_page, plain)) {
    memset(out, 0, size);
    if (pgno != 1 || within != 0 || size != PROBE_SIZE) return SQLITE_IOERR_DATA;
    clear_header(file, out, size);
    return SQLITE_OK;
  }
  if (plain != out) memcpy(out, plain + within, size);
  return SQLITE_OK;
}

static int write_page(CryptFile *file, uint32_t pgno, const uint8_t *plain) {
  if (!page_seal_main(&file->codec, pgno, plain, file->disk_page)) return SQLITE_IOERR_WRITE;
  sqlite3_int64 start = page_start(file, pgno);
  int rc = real_write(file, file->disk_page, file->codec.page_size, start);
  sqlite3_int64 end = start + file->codec.page_size;
  if (rc == SQLITE_OK && end > file->known_end) file->known_end = end;
  return rc;
}

/*
 * Pages that SQLite leaves out because their content does not matter would be holes, which read as zeros and fail their
 * check when a backup or VACUUM reads them after all: they become encrypted pages of zeros.
 */
static int fill_gap(CryptFile *file, sqlite3_int64 until) {
  if (until <= file->known_end) return SQLITE_OK;
  sqlite3_int64 end = 0;
  int rc = real_size(file, &end);
  if (rc != SQLITE_OK) return rc;
  file->known_end = end;
  if (end >= until) return SQLITE_OK;
  if (until - end > GAP_MAX) return SQLITE_CORRUPT;
  memset(file->text_page, 0, file->codec.page_size);
  for (uint32_t pgno = page_at(file, end); page_start(file, pgno) < until && rc == SQLITE_OK; pgno++) {
    if (pgno != 1 && page_start(file, pgno) != LOCK_BYTE) rc = write_page(file, pgno, file->text_page);
  }
  return rc;
}

static int main_write(sqlite3_file *base, const void *in, int amount, sqlite3_int64 offset) {
  CryptFile *file = as_crypt_file(base);
  /* Anything but a whole page cannot be encrypted, and nothing else is written to the disk. */
  if ((uint32_t)amount != file->codec.page_size || offset % amount != 0) return SQLITE_IOERR_WRITE;
  int rc = fill_gap(file, offset);
  return rc == SQLITE_OK ? write_page(file, page_at(file, offset), in) : rc;
}

static int main_shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **out) {
  sqlite3_file *real = as_crypt_file(base)->real;
  /* The -shm file holds page numbers, hashes of them, and the checksum of the last frame of the log. */
  return real->pMethods->xShmMap(real, region, size, extend, out);
}

static int main_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
  sqlite3_file *real = as_crypt_file(base)->real;
  return real->pMethods->xShmLock(real, offset, count, flags);
}

static void main_shm_barrier(sqlite3_file *base) {
  sqlite3_file *real = as_crypt_file(base)->real;
  real->pMethods->xShmBarrier(real);
}

static int main_shm_unmap(sqlite3_file *base, int remove) {
  sqlite3_file *real = as_crypt_file(base)->real;
  return real->pMethods->xShmUnmap(real, remove);
}

static int main_fetch(sqlite3_file *base, sqlite3_int64 offset, int amount, void **out) {
  (void)base;
  (void)offset;
  (void)amount;
  *out = NULL;
  return SQLITE_OK;
}

static int main_unfetch(sqlite3_file *base, sqlite3_int64 offset, void *page) {
  (void)base;
  (void)offset;
  (void)page;
  return SQLITE_OK;
}

static const sqlite3_io_methods MAIN_METHODS = {
    .iVersion = 3,
    .xClose = crypt_close,
    .xRead = main_read,
    .xWrite = main_write,
    .xTruncate = crypt_truncate,
    .xSync = crypt_sync,
    .xFileSize = crypt_file_size,
    .xLock = crypt_lock,
    .xUnlock = crypt_unlock,
    .xCheckReservedLock = crypt_check_reserved_lock,
    .xFileControl = crypt_file_control,
    .xSectorSize = crypt_sector_size,
    .xDeviceCharacteristics = crypt_device_characteristics,
    .xShmMap = main_shm_map,
    .xShmLock = main_shm_lock,
    .xShmBarrier = main_shm_barrier,
    .xShmUnmap = main_shm_unmap,
    .xFetch = main_fetch,
    .xUnfetch = main_unfetch,
};

int is_main_file(const sqlite3_file *file) { return file != NULL && file->pMethods == &MAIN_METHODS; }

/*
 * Proves the key before SQLite sees the file. This matters most when a WAL lies beside it: under a wrong key its frames
 * would look torn, and SQLite would drop them as the tail of a crash.
 */
static int prove_key(CryptFile *file) {
  uint32_t page_size = file->codec.page_size;
  int rc = real_read(file, file->disk_page, page_size, 0);
  if (rc != SQLITE_OK) return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : rc;
  if (memcmp(file->disk_page, file->codec.salt, PAGE_SALT) != 0) return SQLITE_NOTADB;
  uint8_t *check = file->disk_page + page_size - PAGE_CHECK;
  if (memcmp(check, file->codec.check, PAGE_CHECK) == 0) return SQLITE_OK;
  /* If the page opens with its check value put right, only that value was damaged. */
  memcpy(check, file->codec.check, PAGE_CHECK);
  int opened = page_open_main(&file->codec, 1, file->disk_page, file->text_page);
  return opened ? SQLITE_IOERR_DATA : SQLITE_NOTADB;
}

int main_file_uses_log(CryptFile *file) {
  if (real_read(file, file->disk_page, file->codec.page_size, 0) != SQLITE_OK) return 0;
  const uint8_t *plain = file->text_page;
  return page_open_main(&file->codec, 1, file->disk_page, file->text_page) && plain[18] == 2 && plain[19] == 2;
}

int main_file_open(CryptFile *file, KeyEntry *key) {
  uint8_t clear[PAGE1_CLEAR];
  sqlite3_int64 size = 0;
  int rc = real_size(file, &size);
  if (rc != SQLITE_OK) return rc;
  uint32_t page_size = key->page_size;
  if (size > 0) {
    rc = real_read(file, clear, sizeof clear, 0);
    if (rc != SQLITE_OK) return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_NOTADB : rc;
    if (!page1_is_encrypted(clear)) return SQLITE_NOTADB;
    page_size = page_size_in(clear);
  }
  rc = crypt_file_prepare(file, key, page_size);
  if (rc != SQLITE_OK) return rc;
  if (size > 0) rc = prove_key(file);
  if (rc != SQLITE_OK) {
    crypt_file_discard(file);
    return rc;
  }
  file->key = key;
  file->base.pMethods = &MAIN_METHODS;
  return SQLITE_OK;
}
