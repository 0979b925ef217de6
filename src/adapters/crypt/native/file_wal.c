/*
 * The write-ahead log: a header of 32 bytes, then frames of a 24-byte header and a page. SQLite reads and writes it in few
 * fixed portions; everything else is refused rather than guessed.
 */
#include <string.h>

#include "bytes.h"
#include "file.h"

enum { WAL_HEADER = 32 };

static sqlite3_int64 frame_size(const CryptFile *file) { return FRAME_HEADER + (sqlite3_int64)file->codec.page_size; }

/* Where in its frame an offset lies. */
static sqlite3_int64 offset_in_frame(const CryptFile *file, sqlite3_int64 offset) {
  return (offset - WAL_HEADER) % frame_size(file);
}

static int write_header(CryptFile *file, const uint8_t *header, sqlite3_int64 offset) {
  uint8_t sealed[FRAME_HEADER];
  frame_header_seal(&file->codec, (uint64_t)offset, header, sealed);
  file->frame_offset = offset;
  file->frame_pgno = get_u32(header);
  return real_write(file, sealed, sizeof sealed, offset);
}

/* The page number of a frame: SQLite writes a page that it changes twice in a transaction without its header. */
static int pgno_of_frame(CryptFile *file, sqlite3_int64 frame, uint32_t *pgno) {
  uint8_t number[4];
  if (frame != file->frame_offset) {
    int rc = real_read(file, number, sizeof number, frame);
    if (rc != SQLITE_OK) return rc;
    file->frame_offset = frame;
    file->frame_pgno = get_u32(number);
  }
  *pgno = file->frame_pgno;
  return SQLITE_OK;
}

static int write_body(CryptFile *file, const uint8_t *plain, sqlite3_int64 offset) {
  uint32_t pgno = 0;
  if (pgno_of_frame(file, offset - FRAME_HEADER, &pgno) != SQLITE_OK) return SQLITE_IOERR_WRITE;
  if (!page_seal_image(&file->codec, PAGE_WAL, pgno, plain, file->disk_page)) return SQLITE_IOERR_WRITE;
  return real_write(file, file->disk_page, file->codec.page_size, offset);
}

static int wal_write(sqlite3_file *base, const void *in, int amount, sqlite3_int64 offset) {
  CryptFile *file = as_crypt_file(base);
  if (offset == 0 && amount == WAL_HEADER) {
    file->frame_offset = -1;
    return real_write(file, in, WAL_HEADER, 0);
  }
  if (offset < WAL_HEADER) return SQLITE_IOERR_WRITE;
  sqlite3_int64 within = offset_in_frame(file, offset);
  if (within == 0 && amount == FRAME_HEADER) return write_header(file, in, offset);
  if (within == FRAME_HEADER && (uint32_t)amount == file->codec.page_size) return write_body(file, in, offset);
  return SQLITE_IOERR_WRITE;
}

/* A frame as recovery reads it. A body that does not open is no error there but the torn end of the log. */
static int read_frame(CryptFile *file, uint8_t *out, sqlite3_int64 offset) {
  uint32_t page_size = file->codec.page_size;
  int rc = real_read(file, file->disk_page, FRAME_HEADER + (size_t)page_size, offset);
  if (rc != SQLITE_OK) {
    memset(out, 0, FRAME_HEADER + (size_t)page_size);
    return rc;
  }
  frame_header_open(&file->codec, (uint64_t)offset, file->disk_page, out);
  /* Zeros in place of the page do not fit the frame's checksum, which ends the recovery at this frame. */
  (void)page_open_image(&file->codec, PAGE_WAL, get_u32(out), file->disk_page + FRAME_HEADER, out + FRAME_HEADER);
  return SQLITE_OK;
}

static int read_header(CryptFile *file, uint8_t *out, size_t size, sqlite3_int64 offset) {
  uint8_t sealed[FRAME_HEADER];
  uint8_t plain[FRAME_HEADER];
  sqlite3_int64 within = offset_in_frame(file, offset);
  sqlite3_int64 frame = offset - within;
  int rc = real_read(file, sealed, sizeof sealed, frame);
  if (rc != SQLITE_OK) {
    memset(out, 0, size);
    return rc;
  }
  frame_header_open(&file->codec, (uint64_t)frame, sealed, plain);
  memcpy(out, plain + within, size);
  return SQLITE_OK;
}

static int read_body(CryptFile *file, uint8_t *out, size_t size, sqlite3_int64 offset) {
  uint32_t page_size = file->codec.page_size;
  int rc = real_read(file, file->disk_page, FRAME_HEADER + (size_t)page_size, offset - FRAME_HEADER);
  memset(out, 0, size);
  if (rc != SQLITE_OK) return rc;
  uint8_t *plain = size == page_size ? out : file->text_page;
  uint32_t pgno = get_u32(file->disk_page);
  if (!page_open_image(&file->codec, PAGE_WAL, pgno, file->disk_page + FRAME_HEADER, plain)) return SQLITE_IOERR_DATA;
  if (plain != out) memcpy(out, plain, size);
  return SQLITE_OK;
}

static int wal_read(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset) {
  CryptFile *file = as_crypt_file(base);
  size_t size = (size_t)amount;
  if (offset + amount <= WAL_HEADER) return real_read(file, out, size, offset);
  if (offset < WAL_HEADER) return SQLITE_IOERR_READ;
  sqlite3_int64 within = offset_in_frame(file, offset);
  if (within == 0 && amount == frame_size(file)) return read_frame(file, out, offset);
  if (within + amount <= FRAME_HEADER) return read_header(file, out, size, offset);
  if (within == FRAME_HEADER && size <= file->codec.page_size) return read_body(file, out, size, offset);
  return SQLITE_IOERR_READ;
}

static const sqlite3_io_methods WAL_METHODS = {
    .iVersion = 1,
    .xClose = crypt_close,
    .xRead = wal_read,
    .xWrite = wal_write,
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

int wal_file_open(CryptFile *file, const CryptFile *main_file) {
  int rc = crypt_file_prepare(file, main_file->key, main_file->codec.page_size);
  if (rc == SQLITE_OK) file->base.pMethods = &WAL_METHODS;
  return rc;
}
