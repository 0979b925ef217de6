/*
 * Works the encrypting VFS through SQLite's own C interface, under the address and undefined-behaviour sanitizers:
 * small and large pages, journal modes, rollbacks, spills, VACUUM, hot logs, damage, and offsets that SQLite never uses.
 * Arguments: an empty folder. Prints "ok" at the end; any failed expectation ends the program with its line.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sqlite3_svccrypt_init(sqlite3 *db, char **error, const void *api);

#define EXPECT(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "line %d: expected %s\n", __LINE__, #condition); \
      exit(1); \
    } \
  } while (0)

enum { OPEN_FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI };

static sqlite3 *control;

static void run(sqlite3 *db, const char *sql) {
  char *error = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", sql, error);
    exit(1);
  }
}

static sqlite3_int64 number(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  EXPECT(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
  EXPECT(sqlite3_step(statement) == SQLITE_ROW);
  sqlite3_int64 value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return value;
}

static int is_sound(sqlite3 *db) {
  sqlite3_stmt *statement = NULL;
  EXPECT(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK);
  int rc = sqlite3_step(statement);
  int sound = rc == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
  sqlite3_finalize(statement);
  return sound;
}

static sqlite3_int64 add_key(char fill, int page_size) {
  sqlite3_stmt *statement = NULL;
  char key[32];
  memset(key, fill, sizeof key);
  EXPECT(sqlite3_prepare_v2(control, "SELECT svccrypt_key(?1, ?1, ?1, ?2, ?3)", -1, &statement, NULL) == SQLITE_OK);
  sqlite3_bind_blob(statement, 1, key, 32, SQLITE_STATIC);
  sqlite3_bind_blob(statement, 2, "0123456789abcdef", 16, SQLITE_STATIC);
  sqlite3_bind_int(statement, 3, page_size);
  EXPECT(sqlite3_step(statement) == SQLITE_ROW);
  sqlite3_int64 kid = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return kid;
}

static void drop_key(sqlite3_int64 kid) {
  char sql[64];
  snprintf(sql, sizeof sql, "SELECT svccrypt_drop(%lld)", kid);
  EXPECT(number(control, sql) == 1);
}

static int open_with(const char *path, sqlite3_int64 kid, sqlite3 **db) {
  char uri[512];
  snprintf(uri, sizeof uri, "file:%s?vfs=svccrypt&kid=%lld", path, kid);
  int rc = sqlite3_open_v2(uri, db, OPEN_FLAGS, NULL);
  if (rc != SQLITE_OK) {
    sqlite3_close(*db);
    *db = NULL;
  }
  return rc;
}

static int contains(const char *path, const char *needle) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(size + 1);
  EXPECT(bytes != NULL && fread(bytes, 1, size, file) == size);
  fclose(file);
  int found = size > 0 && memmem(bytes, size, needle, strlen(needle)) != NULL;
  free(bytes);
  return found;
}

/* Fails when the file, its log or its journal shows text or schema. */
static void expect_secret(const char *path) {
  static const char *const SUFFIXES[] = {"", "-wal", "-journal", "-shm"};
  char name[512];
  for (size_t i = 0; i < sizeof SUFFIXES / sizeof SUFFIXES[0]; i++) {
    snprintf(name, sizeof name, "%s%s", path, SUFFIXES[i]);
    EXPECT(!contains(name, "MARKER"));
    EXPECT(!contains(name, "CREATE TABLE"));
    EXPECT(!contains(name, "SQLite format 3"));
  }
}

static void copy_file(const char *from, const char *to) {
  char buffer[65536];
  FILE *in = fopen(from, "rb");
  if (in == NULL) return;
  FILE *out = fopen(to, "wb");
  EXPECT(out != NULL);
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, in)) > 0;) EXPECT(fwrite(buffer, 1, got, out) == got);
  fclose(in);
  fclose(out);
}

/* The files as a crash at this moment would leave them, under another name. */
static void copy_hot(const char *path, const char *copy) {
  char from[512];
  char to[512];
  static const char *const SUFFIXES[] = {"", "-wal", "-journal"};
  for (size_t i = 0; i < 3; i++) {
    snprintf(from, sizeof from, "%s%s", path, SUFFIXES[i]);
    snprintf(to, sizeof to, "%s%s", copy, SUFFIXES[i]);
    copy_file(from, to);
  }
}

static void work(const char *folder, int page_size, const char *mode) {
  char path[256];
  char copy[256];
  char sql[512];
  snprintf(path, sizeof path, "%s/%s-%d.pack", folder, mode, page_size);
  snprintf(copy, sizeof copy, "%s/copy-%s-%d.pack", folder, mode, page_size);
  sqlite3_int64 kid = add_key('k', page_size);
  sqlite3 *db = NULL;
  EXPECT(open_with(path, kid, &db) == SQLITE_OK);
  snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s; PRAGMA cache_size=10; PRAGMA temp_store=FILE", mode);
  run(db, sql);
  /* Unsynced journals have another header; waiting for the disk at every size would only take time. */
  if (page_size != 512) run(db, "PRAGMA synchronous=OFF");
  EXPECT(number(db, "PRAGMA page_size") == page_size);
  run(db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b); CREATE INDEX i ON t (b)");
  run(db, "CREATE VIRTUAL TABLE f USING fts5 (x)");
  /* More pages than the cache holds: written early, and again within the same transaction. */
  run(db, "BEGIN");
  run(db, "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 600) "
          "INSERT INTO t SELECT i, 'MARKER ' || hex(randomblob(150)) FROM n");
  run(db, "UPDATE t SET b = b || ' MARKER' WHERE a % 7 = 0");
  expect_secret(path);
  run(db, "COMMIT; INSERT INTO f SELECT b FROM t");
  run(db, "BEGIN; DELETE FROM t WHERE a % 2; UPDATE t SET b = 'MARKER gone'; INSERT INTO f VALUES ('MARKER')");
  expect_secret(path);
  copy_hot(path, copy);
  run(db, "ROLLBACK");
  EXPECT(number(db, "SELECT count(*) FROM t") == 600);
  run(db, "BEGIN; SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; DELETE FROM t WHERE a > 500; COMMIT");
  EXPECT(number(db, "SELECT count(*) FROM t") == 500);
  EXPECT(number(db, "SELECT count(*) FROM (SELECT b FROM t UNION SELECT x FROM f ORDER BY 1)") >= 500);
  EXPECT(is_sound(db));
  run(db, "VACUUM");
  EXPECT(is_sound(db));
  expect_secret(path);
  sqlite3_close(db);

  /* The uncommitted transaction of the copy is undone, from the journal or by ignoring the log's end. */
  EXPECT(open_with(copy, kid, &db) == SQLITE_OK);
  EXPECT(number(db, "SELECT count(*) FROM t") == 600);
  EXPECT(is_sound(db));
  sqlite3_close(db);
  drop_key(kid);
}

static void flip(const char *path, long offset) {
  int file = open(path, O_RDWR);
  unsigned char byte = 0;
  EXPECT(file >= 0 && pread(file, &byte, 1, offset) == 1);
  byte ^= 0x10;
  EXPECT(pwrite(file, &byte, 1, offset) == 1);
  close(file);
}

static void damage(const char *folder) {
  char path[256];
  struct stat stat_before;
  snprintf(path, sizeof path, "%s/damage.pack", folder);
  sqlite3_int64 kid = add_key('k', 4096);
  sqlite3_int64 other = add_key('x', 4096);
  sqlite3 *db = NULL;
  EXPECT(open_with(path, kid, &db) == SQLITE_OK);
  run(db, "PRAGMA synchronous=OFF; CREATE TABLE t (b); INSERT INTO t VALUES (zeroblob(40000))");
  sqlite3_close(db);
  EXPECT(open_with(path, other, &db) == SQLITE_NOTADB);
  EXPECT(open_with(path, 999999, &db) == SQLITE_CANTOPEN);
  for (long offset = 3 * 4096; offset < 3 * 4096 + 4096; offset += 61) {
    flip(path, offset);
    EXPECT(open_with(path, kid, &db) == SQLITE_OK);
    EXPECT(sqlite3_exec(db, "SELECT sum(length(b || '')) FROM t", NULL, NULL, NULL) != SQLITE_OK);
    EXPECT(sqlite3_extended_errcode(db) == SQLITE_IOERR_DATA);
    sqlite3_close(db);
    flip(path, offset);
  }
  EXPECT(stat(path, &stat_before) == 0);
  EXPECT(truncate(path, stat_before.st_size - 100) == 0);
  EXPECT(open_with(path, kid, &db) == SQLITE_OK);
  EXPECT(sqlite3_exec(db, "SELECT sum(length(b || '')) FROM t", NULL, NULL, NULL) != SQLITE_OK);
  sqlite3_close(db);
  EXPECT(truncate(path, 100) == 0);
  EXPECT(open_with(path, kid, &db) == SQLITE_CORRUPT);
  EXPECT(truncate(path, 10) == 0);
  EXPECT(open_with(path, kid, &db) == SQLITE_NOTADB);
  drop_key(kid);
  drop_key(other);
}

/* The file objects refuse what is not a whole page or a known part of a log, whoever asks. */
static void refusals(const char *folder) {
  char path[256];
  unsigned char buffer[8192] = {0};
  snprintf(path, sizeof path, "%s/refusals.pack", folder);
  sqlite3_int64 kid = add_key('k', 4096);
  sqlite3 *db = NULL;
  sqlite3_file *file = NULL;
  EXPECT(open_with(path, kid, &db) == SQLITE_OK);
  run(db, "PRAGMA journal_mode=WAL; CREATE TABLE t (b)");
  EXPECT(sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK);
  EXPECT(file->pMethods->xWrite(file, buffer, 100, 0) == SQLITE_IOERR_WRITE);
  EXPECT(file->pMethods->xWrite(file, buffer, 4096, 100) == SQLITE_IOERR_WRITE);
  EXPECT(file->pMethods->xWrite(file, buffer, 4096, 0) == SQLITE_IOERR_WRITE);
  buffer[4095] = 1;
  EXPECT(file->pMethods->xWrite(file, buffer, 4096, 4096) == SQLITE_IOERR_WRITE);
  EXPECT(file->pMethods->xRead(file, buffer, 200, 4000) == SQLITE_IOERR_READ);
  EXPECT(file->pMethods->xRead(file, buffer, 16, 24) == SQLITE_OK);
  void *mapped = buffer;
  EXPECT(file->pMethods->xFetch(file, 0, 4096, &mapped) == SQLITE_OK && mapped == NULL);
  file = NULL;
  EXPECT(sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK);
  EXPECT(file->pMethods->xWrite(file, buffer, 10, 0) == SQLITE_IOERR_WRITE);
  EXPECT(file->pMethods->xWrite(file, buffer, 24, 33) == SQLITE_IOERR_WRITE);
  EXPECT(file->pMethods->xWrite(file, buffer, 100, 56) == SQLITE_IOERR_WRITE);
  EXPECT(file->pMethods->xRead(file, buffer, 40, 10) == SQLITE_IOERR_READ);
  EXPECT(file->pMethods->xRead(file, buffer, 8, 32 + 20) == SQLITE_IOERR_READ);
  run(db, "INSERT INTO t VALUES (1)");
  EXPECT(is_sound(db));
  sqlite3_close(db);
  drop_key(kid);
}

static void attachments(const char *folder) {
  char sql[1024];
  sqlite3_int64 one = add_key('1', 4096);
  sqlite3_int64 two = add_key('2', 4096);
  char path[256];
  snprintf(path, sizeof path, "%s/one.pack", folder);
  sqlite3 *db = NULL;
  EXPECT(open_with(path, one, &db) == SQLITE_OK);
  /* A transaction over two files with rollback journals writes a super-journal. */
  snprintf(sql, sizeof sql, "ATTACH 'file:%s/two.pack?vfs=svccrypt&kid=%lld' AS two", folder, two);
  run(db, sql);
  run(db, "BEGIN; CREATE TABLE t (b); CREATE TABLE two.u (b); INSERT INTO t VALUES ('MARKER'); COMMIT");
  run(db, "BEGIN; INSERT INTO t VALUES ('MARKER'); INSERT INTO two.u SELECT b FROM t; COMMIT");
  EXPECT(number(db, "SELECT count(*) FROM two.u") == 2);
  run(db, "DETACH two");
  /* Nothing is written in clear because somebody forgot the key. */
  snprintf(sql, sizeof sql, "VACUUM INTO '%s/clear.db'", folder);
  EXPECT(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_CANTOPEN);
  snprintf(sql, sizeof sql, "ATTACH '%s/clear.db' AS clear", folder);
  EXPECT(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_CANTOPEN);
  snprintf(path, sizeof path, "%s/clear.db", folder);
  EXPECT(access(path, F_OK) != 0);
  /* A dropped key still serves what is open. */
  drop_key(one);
  run(db, "INSERT INTO t VALUES (3); VACUUM");
  sqlite3_close(db);
  drop_key(two);
}

static void functions(void) {
  EXPECT(number(control, "SELECT length(svccrypt_read('/dev/null', 0, 10))") == 0);
  EXPECT(number(control, "SELECT svccrypt_read('/nonexistent/x', 0, 10) IS NULL") == 1);
  EXPECT(sqlite3_exec(control, "SELECT svccrypt_read('/dev/null', 0, 0)", NULL, NULL, NULL) == SQLITE_ERROR);
  EXPECT(sqlite3_exec(control, "SELECT svccrypt_read('/dev/null', -1, 5)", NULL, NULL, NULL) == SQLITE_ERROR);
  EXPECT(sqlite3_exec(control, "SELECT svccrypt_read(NULL, 0, 5)", NULL, NULL, NULL) == SQLITE_ERROR);
  EXPECT(sqlite3_exec(control, "SELECT svccrypt_key(x'00', x'', x'', x'', 4096)", NULL, NULL, NULL) == SQLITE_ERROR);
  EXPECT(number(control, "SELECT svccrypt_claim('a')") == 1);
  EXPECT(number(control, "SELECT svccrypt_claim('b')") == 1);
  EXPECT(number(control, "SELECT svccrypt_claim('a')") == 0);
  run(control, "SELECT svccrypt_release('a'), svccrypt_release('b'), svccrypt_release('c')");
  EXPECT(number(control, "SELECT svccrypt_claim('a')") == 1);
  run(control, "SELECT svccrypt_release('a')");
  EXPECT(number(control, "SELECT svccrypt_drop(123456)") == 0);
}

int main(int count, char **arguments) {
  static const int PAGE_SIZES[] = {512, 1024, 8192, 65536};
  static const char *const MODES[] = {"WAL", "DELETE", "PERSIST"};
  EXPECT(count == 2);
  sqlite3_auto_extension((void (*)(void))sqlite3_svccrypt_init);
  EXPECT(sqlite3_open(":memory:", &control) == SQLITE_OK);
  sqlite3_cancel_auto_extension((void (*)(void))sqlite3_svccrypt_init);
  for (size_t size = 0; size < 4; size++) {
    for (size_t mode = 0; mode < 3; mode++) work(arguments[1], PAGE_SIZES[size], MODES[mode]);
  }
  damage(arguments[1]);
  refusals(arguments[1]);
  attachments(arguments[1]);
  functions();
  EXPECT(number(control, "SELECT svccrypt_key_count()") == 0);
  sqlite3_close(control);
  puts("ok");
  return 0;
}
