/*
 * Temporary databases, sorts and statement journals hold plain pages: they stay in memory, whatever temp_store says, and
 * their memory is wiped before it is given back.
 */
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* Pieces of fixed size: a file that grew by realloc would leave unwiped copies of itself behind. */
enum { PIECE = 65536 };

typedef struct RamFile {
  sqlite3_file base;
  uint8_t **pieces;
  size_t piece_count;
  sqlite3_int64 size;
} RamFile;

const int RAM_FILE_ROOM = (int)sizeof(RamFile);

static RamFile *as_ram_file(sqlite3_file *base) { return (RamFile *)base; }

static void keep_pieces(RamFile *file, size_t count) {
  while (file->piece_count > count) {
    uint8_t *piece = file->pieces[--file->piece_count];
    cipher_wipe(piece, PIECE);
    free(piece);
  }
}

static int ram_close(sqlite3_file *base) {
  RamFile *file = as_ram_file(base);
  keep_pieces(file, 0);
  free(file->pieces);
  file->pieces = NULL;
  return SQLITE_OK;
}

static int reserve(RamFile *file, sqlite3_int64 size) {
  size_t wanted = (size_t)((size + PIECE - 1) / PIECE);
  if (wanted <= file->piece_count) return SQLITE_OK;
  uint8_t **pieces = realloc(file->pieces, wanted * sizeof *pieces);
  if (pieces == NULL) return SQLITE_NOMEM;
  file->pieces = pieces;
  while (file->piece_count < wanted) {
    uint8_t *piece = calloc(1, PIECE);
    if (piece == NULL) return SQLITE_NOMEM;
    pieces[file->piece_count++] = piece;
  }
  return SQLITE_OK;
}

/* The bytes at `offset` that lie in one piece, at most `size`. */
static uint8_t *piece_at(const RamFile *file, sqlite3_int64 offset, size_t size, size_t *length) {
  size_t within = (size_t)(offset % PIECE);
  *length = PIECE - within < size ? PIECE - within : size;
  return file->pieces[offset / PIECE] + within;
}

static int ram_read(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset) {
  RamFile *file = as_ram_file(base);
  uint8_t *to = out;
  size_t wanted = (size_t)amount;
  sqlite3_int64 left = file->size > offset ? file->size - offset : 0;
  size_t present = left < amount ? (size_t)left : wanted;
  memset(to + present, 0, wanted - present);
  for (size_t done = 0, length = 0; done < present; done += length) {
    const uint8_t *from = piece_at(file, offset + (sqlite3_int64)done, present - done, &length);
    memcpy(to + done, from, length);
  }
  return present == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int ram_write(sqlite3_file *base, const void *in, int amount, sqlite3_int64 offset) {
  RamFile *file = as_ram_file(base);
  const uint8_t *from = in;
  size_t size = (size_t)amount;
  int rc = reserve(file, offset + amount);
  if (rc != SQLITE_OK) return rc;
  for (size_t done = 0, length = 0; done < size; done += length) {
    uint8_t *to = piece_at(file, offset + (sqlite3_int64)done, size - done, &length);
    memcpy(to, from + done, length);
  }
  if (offset + amount > file->size) file->size = offset + amount;
  return SQLITE_OK;
}

static int ram_truncate(sqlite3_file *base, sqlite3_int64 size) {
  RamFile *file = as_ram_file(base);
  if (size >= file->size) return SQLITE_OK;
  keep_pieces(file, (size_t)((size + PIECE - 1) / PIECE));
  /* A later, longer write must find zeros between the old end and itself. */
  if (size % PIECE != 0) memset(file->pieces[size / PIECE] + size % PIECE, 0, (size_t)(PIECE - size % PIECE));
  file->size = size;
  return SQLITE_OK;
}

static int ram_sync(sqlite3_file *base, int flags) {
  (void)base;
  (void)flags;
  return SQLITE_OK;
}

static int ram_size(sqlite3_file *base, sqlite3_int64 *size) {
  *size = as_ram_file(base)->size;
  return SQLITE_OK;
}

/* Nobody else can see the file, so every lock is granted. */
static int ram_lock(sqlite3_file *base, int level) {
  (void)base;
  (void)level;
  return SQLITE_OK;
}

static int ram_check_reserved_lock(sqlite3_file *base, int *result) {
  (void)base;
  *result = 0;
  return SQLITE_OK;
}

static int ram_file_control(sqlite3_file *base, int operation, void *argument) {
  (void)base;
  (void)operation;
  (void)argument;
  return SQLITE_NOTFOUND;
}

static int ram_sector_size(sqlite3_file *base) {
  (void)base;
  return 512;
}

static int ram_device_characteristics(sqlite3_file *base) {
  (void)base;
  return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL;
}

static const sqlite3_io_methods RAM_METHODS = {
    .iVersion = 1,
    .xClose = ram_close,
    .xRead = ram_read,
    .xWrite = ram_write,
    .xTruncate = ram_truncate,
    .xSync = ram_sync,
    .xFileSize = ram_size,
    .xLock = ram_lock,
    .xUnlock = ram_lock,
    .xCheckReservedLock = ram_check_reserved_lock,
    .xFileControl = ram_file_control,
    .xSectorSize = ram_sector_size,
    .xDeviceCharacteristics = ram_device_characteristics,
};

void ram_file_open(sqlite3_file *base) {
  RamFile *file = as_ram_file(base);
  memset(file, 0, sizeof *file);
  file->base.pMethods = &RAM_METHODS;
}
