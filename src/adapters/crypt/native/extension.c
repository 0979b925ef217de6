/*
 * The entry point, and the SQL functions by which keys come in. They exist only on the connection that loads the
 * extension, an empty one in memory, and cannot be called from a schema or a view.
 */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <stdlib.h>
#include <string.h>

#include "key_table.h"
#include "vfs.h"

enum { READ_MAX = 65536 };

#if defined(_WIN32)
#define SVC_EXPORT __declspec(dllexport)
#else
#define SVC_EXPORT __attribute__((visibility("default")))
#endif

SVC_EXPORT int sqlite3_svccrypt_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

/* Copies a blob of exactly `size` bytes. Returns 0 when the argument is none. */
static int take_blob(sqlite3_value *value, uint8_t *out, int size) {
  if (sqlite3_value_type(value) != SQLITE_BLOB || sqlite3_value_bytes(value) != size) return 0;
  memcpy(out, sqlite3_value_blob(value), (size_t)size);
  return 1;
}

/* svccrypt_key(page key, log key, check key, salt, page size) -> kid */
static void sql_key(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  FileKeys keys = {0};
  uint8_t header[PAGE1_CLEAR] = {0};
  int page_size = sqlite3_value_int(arguments[4]);
  put_page_size(header, page_size > 0 ? (uint32_t)page_size : 0);
  keys.page_size = page_size_in(header);
  int complete = take_blob(arguments[0], keys.page, CIPHER_KEY) && take_blob(arguments[1], keys.log, CIPHER_KEY) &&
      take_blob(arguments[2], keys.check, CIPHER_KEY) && take_blob(arguments[3], keys.salt, PAGE_SALT) &&
      keys.page_size != 0 && keys.page_size == (uint32_t)page_size;
  int64_t kid = complete ? key_register(&keys) : 0;
  cipher_wipe(&keys, sizeof keys);
  if (kid > 0) {
    sqlite3_result_int64(context, kid);
  } else if (kid < 0) {
    sqlite3_result_error_nomem(context);
  } else {
    sqlite3_result_error(context, "svccrypt_key: three keys of 32 bytes, a salt of 16 and a page size expected", -1);
  }
}

/* svccrypt_drop(kid) -> 1 when it was known */
static void sql_drop(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  sqlite3_result_int(context, key_drop(sqlite3_value_int64(arguments[0])));
}

/* svccrypt_key_count() -> entries whose keys are still in memory */
static void sql_key_count(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  (void)arguments;
  sqlite3_result_int(context, key_count());
}

static sqlite3_file *open_for_reading(const char *path) {
  sqlite3_vfs *real = vfs_real();
  sqlite3_file *file = calloc(1, (size_t)real->szOsFile);
  if (file == NULL) return NULL;
  int rc = real->xOpen(real, path, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL);
  if (rc == SQLITE_OK) return file;
  if (file->pMethods != NULL) file->pMethods->xClose(file);
  free(file);
  return NULL;
}

static void result_bytes(sqlite3_context *context, sqlite3_file *file, sqlite3_int64 offset, int amount) {
  sqlite3_int64 size = 0;
  int rc = file->pMethods->xFileSize(file, &size);
  sqlite3_int64 present = size > offset ? size - offset : 0;
  int length = present < amount ? (int)present : amount;
  uint8_t *bytes = rc == SQLITE_OK ? malloc((size_t)length + 1) : NULL;
  if (bytes != NULL && length > 0) rc = file->pMethods->xRead(file, bytes, length, offset);
  if (rc != SQLITE_OK || bytes == NULL) {
    sqlite3_result_error_code(context, rc != SQLITE_OK ? rc : SQLITE_NOMEM);
    free(bytes);
  } else {
    sqlite3_result_blob(context, bytes, length, free);
  }
}

/*
 * svccrypt_read(path, offset, amount) -> the bytes, fewer at the end of the file; NULL when it cannot be opened.
 * Through the VFS and not through another file descriptor: closing any descriptor of a file takes away all locks that
 * this process holds on it, those of open databases included, which SQLite's own bookkeeping prevents.
 */
static void sql_read(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  const char *text = (const char *)sqlite3_value_text(arguments[0]);
  sqlite3_int64 offset = sqlite3_value_int64(arguments[1]);
  int amount = sqlite3_value_int(arguments[2]);
  if (text == NULL || offset < 0 || amount <= 0 || amount > READ_MAX) {
    sqlite3_result_error(context, "svccrypt_read: a path, an offset and 1 to 65536 bytes expected", -1);
    return;
  }
  /* The VFS looks for parameters behind the name of a main file, where a plain string has nothing of its own. */
  sqlite3_filename path = sqlite3_create_filename(text, "", "", 0, NULL);
  if (path == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_file *file = open_for_reading(path);
  if (file != NULL) {
    result_bytes(context, file, offset, amount);
    file->pMethods->xClose(file);
    free(file);
  }
  sqlite3_free_filename(path);
}

/* svccrypt_claim(name) -> 1 when nobody in this process held the name */
static void sql_claim(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  const char *name = (const char *)sqlite3_value_text(arguments[0]);
  int claimed = name == NULL ? -1 : claim_name(name);
  if (claimed < 0) {
    sqlite3_result_error_nomem(context);
  } else {
    sqlite3_result_int(context, claimed);
  }
}

/* svccrypt_release(name) */
static void sql_release(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  (void)context;
  const char *name = (const char *)sqlite3_value_text(arguments[0]);
  if (name != NULL) release_name(name);
}

typedef struct Function {
  const char *name;
  int argument_count;
  void (*call)(sqlite3_context *, int, sqlite3_value **);
} Function;

static const Function FUNCTIONS[] = {
    {"svccrypt_key", 5, sql_key},
    {"svccrypt_drop", 1, sql_drop},
    {"svccrypt_key_count", 0, sql_key_count},
    {"svccrypt_read", 3, sql_read},
    {"svccrypt_claim", 1, sql_claim},
    {"svccrypt_release", 1, sql_release},
};

int sqlite3_svccrypt_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  if (!cipher_is_supported()) {
    *error = sqlite3_mprintf("this processor has no AES implementation that svccrypt accepts");
    return SQLITE_ERROR;
  }
  int rc = vfs_register();
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0] && rc == SQLITE_OK; i++) {
    const Function *function = &FUNCTIONS[i];
    rc = sqlite3_create_function_v2(db, function->name, function->argument_count, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
        function->call, NULL, NULL, NULL);
  }
  /* The VFS must outlive this connection. */
  return rc == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : rc;
}
