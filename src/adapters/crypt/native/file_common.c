#include <stdlib.h>
#include <string.h>

#include "file.h"

int crypt_file_prepare(CryptFile *file, const KeyEntry *key, uint32_t page_size) {
  file->codec.log_key = &key->log;
  file->codec.salt = key->salt;
  file->codec.check = key->check;
  file->codec.page_size = page_size;
  file->frame_offset = -1;
  file->image_offset = -1;
  file->checksum_offset = -1;
  file->disk_page = malloc(FRAME_HEADER + (size_t)page_size);
  file->text_page = malloc(page_size);
  if (file->disk_page == NULL || file->text_page == NULL || !gcm_start(&file->codec.gcm, &key->page)) {
    crypt_file_discard(file);
    return SQLITE_NOMEM;
  }
  return SQLITE_OK;
}

void crypt_file_discard(CryptFile *file) {
  gcm_stop(&file->codec.gcm);
  if (file->text_page != NULL) cipher_wipe(file->text_page, file->codec.page_size);
  free(file->text_page);
  free(file->disk_page);
  file->text_page = NULL;
  file->disk_page = NULL;
}

int crypt_close(sqlite3_file *base) {
  CryptFile *file = as_crypt_file(base);
  int rc = file->real->pMethods->xClose(file->real);
  crypt_file_discard(file);
  if (file->key != NULL) key_release(file->key);
  file->key = NULL;
  return rc;
}

int crypt_truncate(sqlite3_file *base, sqlite3_int64 size) {
  CryptFile *file = as_crypt_file(base);
  file->known_end = 0;
  file->frame_offset = -1;
  file->image_offset = -1;
  file->checksum_offset = -1;
  return file->real->pMethods->xTruncate(file->real, size);
}

int crypt_sync(sqlite3_file *base, int flags) {
  CryptFile *file = as_crypt_file(base);
  return file->real->pMethods->xSync(file->real, flags);
}

int crypt_file_size(sqlite3_file *base, sqlite3_int64 *size) { return real_size(as_crypt_file(base), size); }

int crypt_lock(sqlite3_file *base, int level) {
  CryptFile *file = as_crypt_file(base);
  return file->real->pMethods->xLock(file->real, level);
}

int crypt_unlock(sqlite3_file *base, int level) {
  CryptFile *file = as_crypt_file(base);
  /* Without a lock another process may cut the file. */
  if (level == SQLITE_LOCK_NONE) file->known_end = 0;
  return file->real->pMethods->xUnlock(file->real, level);
}

int crypt_check_reserved_lock(sqlite3_file *base, int *result) {
  CryptFile *file = as_crypt_file(base);
  return file->real->pMethods->xCheckReservedLock(file->real, result);
}

int crypt_file_control(sqlite3_file *base, int operation, void *argument) {
  CryptFile *file = as_crypt_file(base);
  switch (operation) {
    case SQLITE_FCNTL_MMAP_SIZE:
      /* A mapping would show ciphertext to SQLite. */
      *(sqlite3_int64 *)argument = 0;
      return SQLITE_OK;
    case SQLITE_FCNTL_CHUNK_SIZE:
    case SQLITE_FCNTL_SIZE_HINT:
      /* Both would extend the file by pages that are not encrypted. */
      return SQLITE_OK;
    case SQLITE_FCNTL_PRAGMA:
    case SQLITE_FCNTL_BEGIN_ATOMIC_WRITE:
      return SQLITE_NOTFOUND;
    case SQLITE_FCNTL_CKPT_START:
      /* Since the last checkpoint of this connection another process may have cut the file. */
      file->known_end = 0;
      break;
    default:
      break;
  }
  int rc = file->real->pMethods->xFileControl(file->real, operation, argument);
  if (operation == SQLITE_FCNTL_VFSNAME && rc == SQLITE_OK) {
    *(char **)argument = sqlite3_mprintf("svccrypt/%z", *(char **)argument);
  }
  return rc;
}

int crypt_sector_size(sqlite3_file *base) {
  CryptFile *file = as_crypt_file(base);
  return file->real->pMethods->xSectorSize(file->real);
}

int crypt_device_characteristics(sqlite3_file *base) {
  CryptFile *file = as_crypt_file(base);
  int real = file->real->pMethods->xDeviceCharacteristics(file->real);
  int kept = SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_SEQUENTIAL | SQLITE_IOCAP_SAFE_APPEND |
      SQLITE_IOCAP_IMMUTABLE;
  /*
   * Without POWERSAFE_OVERWRITE SQLite splits WAL frames at sector boundaries, and a part of a page cannot be encrypted.
   * Reads of parts of a page (SUBPAGE_READ) and atomic writes are never offered.
   */
  return (real & kept) | SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}
