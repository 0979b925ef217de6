/*
 * The rollback journal: a header, then records of a page number, the page and a checksum, one write for each part.
 * A pack in WAL mode has one only for the moment of its creation.
 */
#include <string.h>

#include "bytes.h"
#include "file.h"

/* Longest name of a super-journal, as long as SQLite's own limit for a path. */
enum { NAME_MAX_SIZE = 1024 };

/*
 * Portions that hold no page: numbers (4), one byte that ends a journal, its magic (8, 12), a wiped header (28), a header
 * (512, the sector size of a file with POWERSAFE_OVERWRITE), and the absolute name of a super-journal.
 */
static int is_metadata(const uint8_t *bytes, int amount) {
  switch (amount) {
    case 1:
    case 4:
    case 8:
    case 12:
    case 28:
    case 512:
      return 1;
    default:
      return amount > 0 && amount <= NAME_MAX_SIZE && bytes[0] == '/';
  }
}

static void expect_checksum(CryptFile *file, sqlite3_int64 offset, const uint8_t *image) {
  file->checksum_offset = offset + file->codec.page_size;
  journal_checksum_mask(&file->codec, image, file->checksum_mask);
}

static void apply_mask(const CryptFile *file, uint8_t number[4]) {
  for (int i = 0; i < 4; i++) number[i] ^= file->checksum_mask[i];
}

static int write_image(CryptFile *file, const uint8_t *plain, sqlite3_int64 offset) {
  if (!page_seal_image(&file->codec, PAGE_JOURNAL, file->image_pgno, plain, file->disk_page)) return SQLITE_IOERR_WRITE;
  expect_checksum(file, offset, file->disk_page);
  file->image_offset = -1;
  return real_write(file, file->disk_page, file->codec.page_size, offset);
}

static int write_number(CryptFile *file, const uint8_t *in, sqlite3_int64 offset) {
  uint8_t number[4];
  memcpy(number, in, sizeof number);
  if (offset == file->checksum_offset) {
    apply_mask(file, number);
    file->image_offset = -1;
  } else {
    /* Of a page, most likely: its image then follows directly. */
    file->image_offset = offset + 4;
    file->image_pgno = get_u32(number);
  }
  return real_write(file, number, sizeof number, offset);
}

static int journal_write(sqlite3_file *base, const void *in, int amount, sqlite3_int64 offset) {
  CryptFile *file = as_crypt_file(base);
  if ((uint32_t)amount == file->codec.page_size && offset == file->image_offset) return write_image(file, in, offset);
  if (amount == 4) return write_number(file, in, offset);
  if (!is_metadata(in, amount)) return SQLITE_IOERR_WRITE;
  return real_write(file, in, (size_t)amount, offset);
}

/* An image that does not open ends the playback, as the unsynced tail of a journal does. */
static int read_image(CryptFile *file, uint8_t *out, sqlite3_int64 offset) {
  uint8_t number[4];
  size_t page_size = file->codec.page_size;
  memset(out, 0, page_size);
  int rc = real_read(file, number, sizeof number, offset - 4);
  if (rc == SQLITE_OK) rc = real_read(file, file->disk_page, page_size, offset);
  if (rc != SQLITE_OK) return rc;
  if (!page_open_image(&file->codec, PAGE_JOURNAL, get_u32(number), file->disk_page, out)) {
    return SQLITE_IOERR_SHORT_READ;
  }
  expect_checksum(file, offset, file->disk_page);
  return SQLITE_OK;
}

static int journal_read(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset) {
  CryptFile *file = as_crypt_file(base);
  if ((uint32_t)amount == file->codec.page_size && offset >= 4) return read_image(file, out, offset);
  int rc = real_read(file, out, (size_t)amount, offset);
  if (rc == SQLITE_OK && amount == 4 && offset == file->checksum_offset) apply_mask(file, out);
  return rc;
}

static const sqlite3_io_methods JOURNAL_METHODS = {
    .iVersion = 1,
    .xClose = crypt_close,
    .xRead = journal_read,
    .xWrite = journal_write,
    .xTruncate = crypt_truncate,
    .xSync = crypt_sync,
    .xFileSize = crypt_file_size,
    .xLock = crypt_lock,
    .xUnlock = crypt_unlock,
    .xCheckReservedLock = crypt_check_reserved_lock,
    .xFileControl = crypt_file_control,
    .xSectorSize = crypt_sector_size,
    .xDeviceCharacteristics = crypt_device_characteristics,
};

int journal_file_open(CryptFile *file, const CryptFile *main_file) {
  int rc = crypt_file_prepare(file, main_file->key, main_file->codec.page_size);
  if (rc == SQLITE_OK) file->base.pMethods = &JOURNAL_METHODS;
  return rc;
}
