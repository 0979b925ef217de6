/*
 * The keys of this process, by number. Only numbers appear in file names and SQL text.
 *
 * An entry lives until it is dropped and the last file that uses it is closed; then its memory is wiped. All functions may be called from any thread.
 */
#ifndef SVC_KEY_TABLE_H
#define SVC_KEY_TABLE_H

#include <stdint.h>

#include "page_codec.h"

typedef struct FileKeys {
  uint8_t page[CIPHER_KEY];
  uint8_t log[CIPHER_KEY];
  uint8_t check[CIPHER_KEY];
  uint8_t salt[PAGE_SALT];
  uint32_t page_size; /* of a file that does not exist yet */
} FileKeys;

/* Immutable once it is in the table, so it is read without a lock by those who hold it. */
typedef struct KeyEntry {
  BlockKey page;
  BlockKey log;
  uint8_t check[PAGE_CHECK];
  uint8_t salt[PAGE_SALT];
  uint32_t page_size;
  /* The rest belongs to key_table.c. */
  int64_t kid;
  int is_registered;
  int files;
  struct KeyEntry *next;
} KeyEntry;

/* Returns the number under which files can be opened, or -1 when memory is short. Protects the process (protect.h). */
int64_t key_register(const FileKeys *keys);
/* No further file can be opened with it. Returns 0 for an unknown number. */
int key_drop(int64_t kid);

/* NULL for an unknown or dropped number. Each entry obtained is given back once. */
KeyEntry *key_hold(int64_t kid);
void key_release(KeyEntry *entry);

/* Entries that were not wiped yet. For tests. */
int key_count(void);

/*
 * Names that one owner at a time may hold in this process, whatever its thread: packs with an engine on them.
 * claim_name returns 1 when the name was free, 0 when it is held, -1 when memory is short.
 */
int claim_name(const char *name);
void release_name(const char *name);

#endif
