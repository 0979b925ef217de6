#include "key_table.h"

#include <stdlib.h>
#include <string.h>

#include "protect.h"
#include "sqlite.h"

typedef struct Claim {
  struct Claim *next;
  char name[];
} Claim;

static KeyEntry *entries = NULL;
static int64_t last_kid = 0;
static Claim *claims = NULL;

/* A static mutex of SQLite: it exists before any of our code runs, and every thread sees the same one. */
static sqlite3_mutex *enter(void) {
  sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
  sqlite3_mutex_enter(mutex);
  return mutex;
}

static void leave(sqlite3_mutex *mutex) { sqlite3_mutex_leave(mutex); }

static KeyEntry *find(int64_t kid) {
  KeyEntry *entry = entries;
  while (entry != NULL && entry->kid != kid) entry = entry->next;
  return entry;
}

static void wipe_when_unused(KeyEntry *entry) {
  if (entry->is_registered || entry->files > 0) return;
  KeyEntry **link = &entries;
  while (*link != entry) link = &(*link)->next;
  *link = entry->next;
  secret_free(entry, sizeof *entry);
}

int64_t key_register(const FileKeys *keys) {
  protect_process();
  KeyEntry *entry = secret_alloc(sizeof *entry);
  if (entry == NULL) return -1;
  cipher_expand(&entry->page, keys->page);
  cipher_expand(&entry->log, keys->log);
  key_check_value(keys->check, entry->check);
  memcpy(entry->salt, keys->salt, PAGE_SALT);
  entry->page_size = keys->page_size;
  entry->is_registered = 1;
  sqlite3_mutex *mutex = enter();
  int64_t kid = ++last_kid;
  entry->kid = kid;
  entry->next = entries;
  entries = entry;
  leave(mutex);
  return kid;
}

int key_drop(int64_t kid) {
  sqlite3_mutex *mutex = enter();
  KeyEntry *entry = find(kid);
  int known = entry != NULL && entry->is_registered;
  if (known) {
    entry->is_registered = 0;
    wipe_when_unused(entry);
  }
  leave(mutex);
  return known;
}

KeyEntry *key_hold(int64_t kid) {
  sqlite3_mutex *mutex = enter();
  KeyEntry *entry = find(kid);
  /* A dropped key serves the files that have it open, but opens no further one. */
  if (entry != NULL && !entry->is_registered) entry = NULL;
  if (entry != NULL) entry->files++;
  leave(mutex);
  return entry;
}

void key_release(KeyEntry *entry) {
  sqlite3_mutex *mutex = enter();
  entry->files--;
  wipe_when_unused(entry);
  leave(mutex);
}

int key_count(void) {
  int count = 0;
  sqlite3_mutex *mutex = enter();
  for (KeyEntry *entry = entries; entry != NULL; entry = entry->next) count++;
  leave(mutex);
  return count;
}

static Claim **find_claim(const char *name) {
  Claim **link = &claims;
  while (*link != NULL && strcmp((*link)->name, name) != 0) link = &(*link)->next;
  return link;
}

int claim_name(const char *name) {
  size_t size = strlen(name) + 1;
  Claim *claim = malloc(sizeof *claim + size);
  if (claim == NULL) return -1;
  memcpy(claim->name, name, size);
  sqlite3_mutex *mutex = enter();
  int is_free = *find_claim(name) == NULL;
  if (is_free) {
    claim->next = claims;
    claims = claim;
  }
  leave(mutex);
  if (!is_free) free(claim);
  return is_free;
}

void release_name(const char *name) {
  sqlite3_mutex *mutex = enter();
  Claim **link = find_claim(name);
  Claim *claim = *link;
  if (claim != NULL) *link = claim->next;
  leave(mutex);
  free(claim);
}
