/*
 * Open files. A CryptFile is what SQLite sees; the file object of the real VFS lies directly behind it in the same
 * allocation and does all input and output.
 */
#ifndef SVC_FILE_H
#define SVC_FILE_H

#include "key_table.h"
#include "page_codec.h"
#include "sqlite.h"

typedef struct CryptFile {
  sqlite3_file base; /* must be first: SQLite knows this type only */
  sqlite3_file *real;
  KeyEntry *key;      /* held by main files; logs borrow it from theirs, which is open for longer */
  PageCodec codec;
  uint8_t *disk_page; /* FRAME_HEADER + page_size bytes for ciphertext */
  uint8_t *text_page; /* page_size bytes for plain text; wiped on close */

  /* Main file: a length that the file has at least, so that most writes need no look at the real one. */
  sqlite3_int64 known_end;

  /* WAL: the frame whose header was written last, and its page number. -1: none. */
  sqlite3_int64 frame_offset;
  uint32_t frame_pgno;

  /* Rollback journal: where the image of a page must begin to be one, -1: nowhere; and the last image and its mask. */
  sqlite3_int64 image_offset;
  uint32_t image_pgno;
  sqlite3_int64 checksum_offset;
  uint8_t checksum_mask[4];
} CryptFile;

/* Room that CryptFile takes in front of the real file object, aligned for anything. */
enum { CRYPT_FILE_ROOM = (sizeof(CryptFile) + 15) / 16 * 16 };

/*
 * Opens the encrypted main file over the opened `real` one. SQLITE_NOTADB: not an encrypted file, or another key's.
 * SQLITE_IOERR_DATA: the key is right, the first page is damaged. SQLITE_CORRUPT: less than a page is left. On failure the caller closes `real`.
 */
int main_file_open(CryptFile *file, KeyEntry *key);
/* Whether its first page is authentic and says that the database is in WAL mode. Overwrites the buffers of the file. */
int main_file_uses_log(CryptFile *file);
int wal_file_open(CryptFile *file, const CryptFile *main_file);
int journal_file_open(CryptFile *file, const CryptFile *main_file);

/* Whether an open file is an encrypted main file of ours. */
int is_main_file(const sqlite3_file *file);

/* A file in memory for everything temporary. Needs RAM_FILE_ROOM bytes and no real file. */
void ram_file_open(sqlite3_file *file);
extern const int RAM_FILE_ROOM;

/* file_common.c: what all encrypted files share. */
int crypt_file_prepare(CryptFile *file, const KeyEntry *key, uint32_t page_size);
void crypt_file_discard(CryptFile *file);
int crypt_close(sqlite3_file *base);
int crypt_truncate(sqlite3_file *base, sqlite3_int64 size);
int crypt_sync(sqlite3_file *base, int flags);
int crypt_file_size(sqlite3_file *base, sqlite3_int64 *size);
int crypt_lock(sqlite3_file *base, int level);
int crypt_unlock(sqlite3_file *base, int level);
int crypt_check_reserved_lock(sqlite3_file *base, int *result);
int crypt_file_control(sqlite3_file *base, int operation, void *argument);
int crypt_sector_size(sqlite3_file *base);
int crypt_device_characteristics(sqlite3_file *base);

static inline CryptFile *as_crypt_file(sqlite3_file *base) { return (CryptFile *)base; }

static inline int real_read(const CryptFile *file, void *out, size_t size, sqlite3_int64 offset) {
  return file->real->pMethods->xRead(file->real, out, (int)size, offset);
}

static inline int real_write(const CryptFile *file, const void *in, size_t size, sqlite3_int64 offset) {
  return file->real->pMethods->xWrite(file->real, in, (int)size, offset);
}

static inline int real_size(const CryptFile *file, sqlite3_int64 *size) {
  return file->real->pMethods->xFileSize(file->real, size);
}

#endif
