/*
 * Reads the lists of words where FTS5 keeps them: through its own interface each document of a list takes fifteen times as
 * long. The format is that of the tables of a contentless index which marks what is deleted ("fts5_index.c" of SQLite). What
 * is not as expected makes the caller ask FTS5 instead.
 */
#include <stdlib.h>
#include <string.h>

#include "postings.h"

/* Tables of pages: their rowids have the number of the part above those of the page. */
enum { STRUCTURE = 10, PAGE_BITS = 37, DEAD_PART = 1 << 16, PARTS_MAX = 2000, DEAD_MAX = 1 << 16, HEADER = 4, DEAD_HEADER = 8 };
enum { VARINT_MAX = 9, SHORT_BITS = 7, MORE = 0x80, BYTE_BITS = 8, COLUMN_MARK = 1, MAIN_TERMS = '0' };

typedef struct Part {
  int64_t id;
  uint32_t first;
  uint32_t last;
  /* Hash tables of the documents deleted from the part, read when first needed. */
  uint32_t dead_pages;
  uint8_t **dead;
  uint32_t *dead_sizes;
} Part;

typedef struct Lists {
  sqlite3_stmt *pages;
  sqlite3_stmt *terms;
  Part *parts;
  uint32_t count;
  int64_t low;
  int64_t high;
  int64_t mask;
  double weights[3];
} Lists;

/* A page of a part: what comes before `size` is content, what follows says where terms begin. */
typedef struct Page {
  const uint8_t *bytes;
  uint32_t size;
  uint32_t all;
} Page;

typedef struct Token {
  uint8_t *text;
  uint32_t size;
  int count;
} Token;

/* The position behind a number; 0 when it does not end before `end`. */
static uint32_t number_at(const uint8_t *bytes, uint32_t at, uint32_t end, uint64_t *number) {
  uint64_t value = 0;
  for (int i = 0; i < VARINT_MAX && at < end; i++) {
    uint8_t byte = bytes[at++];
    if (i == VARINT_MAX - 1) {
      *number = value << BYTE_BITS | byte;
      return at;
    }
    value = value << SHORT_BITS | (byte & (MORE - 1));
    if (byte < MORE) {
      *number = value;
      return at;
    }
  }
  return 0;
}

static uint32_t pair_at(const uint8_t *bytes) { return (uint32_t)bytes[0] << BYTE_BITS | bytes[1]; }

static uint64_t key_of(const uint8_t *bytes, uint32_t size) {
  uint64_t key = 0;
  for (uint32_t i = 0; i < size; i++) key = key << BYTE_BITS | bytes[i];
  return key;
}

/* Reads the page on which `pages` stands. */
static int page_here(sqlite3_stmt *pages, Page *page) {
  page->bytes = sqlite3_column_blob(pages, 0);
  page->all = (uint32_t)sqlite3_column_bytes(pages, 0);
  if (page->bytes == NULL || page->all < HEADER) return 0;
  page->size = pair_at(page->bytes + 2);
  return page->size >= HEADER && page->size <= page->all;
}

static int begin_pages(sqlite3_stmt *pages, int64_t part, uint32_t from, uint32_t to) {
  sqlite3_reset(pages);
  sqlite3_bind_int64(pages, 1, part << PAGE_BITS | from);
  sqlite3_bind_int64(pages, 2, part << PAGE_BITS | to);
  return sqlite3_step(pages) == SQLITE_ROW;
}

static int read_parts(Lists *lists) {
  if (!begin_pages(lists->pages, 0, STRUCTURE, STRUCTURE)) return 0;
  const uint8_t *bytes = sqlite3_column_blob(lists->pages, 0);
  uint32_t end = (uint32_t)sqlite3_column_bytes(lists->pages, 0);
  static const uint8_t VERSION[] = {0xff, 0, 0, 1};
  uint32_t at = HEADER + sizeof VERSION;
  if (bytes == NULL || end < at || memcmp(bytes + HEADER, VERSION, sizeof VERSION) != 0) return 0;
  uint64_t levels = 0;
  uint64_t all = 0;
  uint64_t skipped = 0;
  if (!(at = number_at(bytes, at, end, &levels)) || !(at = number_at(bytes, at, end, &all)) || all > PARTS_MAX) return 0;
  if (!(at = number_at(bytes, at, end, &skipped))) return 0;
  lists->parts = calloc(all + 1, sizeof *lists->parts);
  if (lists->parts == NULL) return 0;
  /* Those that were written first come last. */
  uint32_t place = (uint32_t)all;
  for (uint64_t level = 0; level < levels; level++) {
    uint64_t here = 0;
    if (!(at = number_at(bytes, at, end, &skipped)) || !(at = number_at(bytes, at, end, &here)) || here > place) return 0;
    place -= (uint32_t)here;
    for (uint64_t i = 0; i < here; i++) {
      enum { ID, FIRST, LAST, DEAD_PAGES = 5, FIELDS = 8 };
      uint64_t fields[FIELDS];
      for (int field = 0; field < FIELDS; field++) {
        if (!(at = number_at(bytes, at, end, &fields[field]))) return 0;
      }
      /* More would be damage, and be looked for one by one. */
      if (fields[ID] >= DEAD_PART || fields[DEAD_PAGES] > DEAD_MAX) return 0;
      Part *part = &lists->parts[place + i];
      part->id = (int64_t)fields[ID];
      part->first = (uint32_t)fields[FIRST];
      part->last = (uint32_t)fields[LAST];
      part->dead_pages = (uint32_t)fields[DEAD_PAGES];
    }
  }
  lists->count = (uint32_t)all;
  return place == 0;
}

static int read_dead(sqlite3_stmt *pages, Part *part) {
  part->dead = calloc(part->dead_pages, sizeof *part->dead);
  part->dead_sizes = calloc(part->dead_pages, sizeof *part->dead_sizes);
  if (part->dead == NULL || part->dead_sizes == NULL) return 0;
  for (uint32_t page = 0; page < part->dead_pages; page++) {
    if (!begin_pages(pages, part->id + DEAD_PART, page, page)) continue;
    uint32_t size = (uint32_t)sqlite3_column_bytes(pages, 0);
    const void *bytes = sqlite3_column_blob(pages, 0);
    if (bytes == NULL || size < 2 * DEAD_HEADER) return 0;
    part->dead[page] = malloc(size);
    if (part->dead[page] == NULL) return 0;
    memcpy(part->dead[page], bytes, size);
    part->dead_sizes[page] = size;
  }
  return 1;
}

static int is_dead(const Part *part, uint64_t row) {
  if (part->dead_pages == 0) return 0;
  const uint8_t *bytes = part->dead[row % part->dead_pages];
  if (bytes == NULL) return 0;
  if (row == 0) return bytes[1];
  uint32_t width = bytes[0] == 4 ? 4 : 8;
  uint32_t slots = (part->dead_sizes[row % part->dead_pages] - DEAD_HEADER) / width;
  uint64_t slot = row / part->dead_pages % slots;
  for (uint32_t tried = 0; tried < slots; tried++) {
    uint64_t key = key_of(bytes + DEAD_HEADER + slot * width, width);
    if (key == 0 || key == row) return key == row;
    slot = (slot + 1) % slots;
  }
  return 0;
}

/* Looks for a term on a page, whose terms share their beginnings. Returns where its list begins, and where on this page it ends. */
static uint32_t find_term(const Page *page, const Token *token, uint32_t *end) {
  uint32_t index = page->size;
  uint32_t place = 0;
  uint32_t same = 0;
  for (int is_first = 1; index < page->all; is_first = 0) {
    uint64_t step = 0;
    uint64_t kept = 0;
    uint64_t fresh = 0;
    if (!(index = number_at(page->bytes, index, page->all, &step))) return 0;
    place += (uint32_t)step;
    uint32_t at = place;
    if (!is_first && !(at = number_at(page->bytes, at, page->size, &kept))) return 0;
    if (!(at = number_at(page->bytes, at, page->size, &fresh)) || fresh > page->size - at) return 0;
    if (kept < same) return 0;
    if (kept == same) {
      uint32_t i = 0;
      while (i < fresh && same < token->size && page->bytes[at + i] == token->text[same]) i++, same++;
      if (same == token->size) {
        if (i < fresh) return 0;
        uint64_t next = 0;
        *end = index < page->all && number_at(page->bytes, index, page->all, &next) ? place + (uint32_t)next : UINT32_MAX;
        return at + (uint32_t)fresh;
      }
      if (i < fresh && page->bytes[at + i] > token->text[same]) return 0;
    }
  }
  return 0;
}

/* The sum of the weights of the occurrences in a document. Returns below 0 when the bytes make no sense. */
static double weigh(const uint8_t *bytes, uint32_t size, const double *weights) {
  double sum = 0;
  uint64_t column = 0;
  for (uint32_t at = 0; at < size;) {
    if (bytes[at] == COLUMN_MARK) {
      at = number_at(bytes, at + 1, size, &column);
      if (at == 0 || column > 2) return -1;
      continue;
    }
    while (at < size && bytes[at] >= MORE) at++;
    at++;
    sum += weights[column];
  }
  return sum;
}

/* A document's bytes that go over the end of a page are put together here. */
typedef struct Split {
  uint8_t *bytes;
  uint32_t size;
  uint32_t room;
} Split;

static int put_together(Split *split, const uint8_t *bytes, uint32_t size) {
  if (split->size + size > split->room) {
    uint32_t room = 2 * (split->size + size);
    uint8_t *larger = realloc(split->bytes, room);
    if (larger == NULL) return 0;
    split->bytes = larger;
    split->room = room;
  }
  if (size > 0) memcpy(split->bytes + split->size, bytes, size);
  split->size += size;
  return 1;
}

/* Goes to the next page with an entry of the list, over `rest` bytes of a document. Returns 1; 0: there is none; -1: an error. */
static int next_page(Lists *lists, Page *page, uint32_t *at, uint32_t *end, uint32_t rest, Split *split) {
  for (;;) {
    if (sqlite3_step(lists->pages) != SQLITE_ROW) return rest == 0 ? 0 : -1;
    if (!page_here(lists->pages, page)) return -1;
    uint32_t here = rest < page->size - HEADER ? rest : page->size - HEADER;
    if (!put_together(split, page->bytes + HEADER, here)) return -1;
    rest -= here;
    if (rest > 0) continue;
    uint64_t term = 0;
    int has_term = page->all > page->size;
    if (has_term && !number_at(page->bytes, page->size, page->all, &term)) return -1;
    *at = pair_at(page->bytes);
    *end = has_term ? (uint32_t)term : UINT32_MAX;
    if (*at >= HEADER && *at < page->size) return 1;
    if (has_term) return 0;
  }
}

/* Gathers the documents of a list, from `at` of the page on which `pages` stands. Returns 0 when FTS5 must be asked. */
static int walk_list(Lists *lists, Part *part, Page page, uint32_t at, uint32_t end, Split *split) {
  uint64_t row = 0;
  uint64_t step = 0;
  uint64_t sized = 0;
  int is_whole = 1;
  int is_first = 1;
  if (at >= page.size) {
    int found = next_page(lists, &page, &at, &end, 0, split);
    if (found <= 0) return 0;
  }
  for (;;) {
    if (!(at = number_at(page.bytes, at, page.size, &step)) || !(at = number_at(page.bytes, at, page.size, &sized))) return 0;
    uint64_t last = row;
    row = is_whole ? step : row + step;
    if (!is_first && row <= last) return 0;
    is_first = is_whole = 0;
    /* The mark of a deletion belongs to another kind of index. */
    if (sized < 2 || (sized & 1) != 0) return 0;
    if ((int64_t)row > lists->high) return 1;
    uint32_t size = (uint32_t)(sized >> 1);
    uint32_t here = size < page.size - at ? size : page.size - at;
    const uint8_t *bytes = page.bytes + at;
    int found = 1;
    at += here;
    if (here < size) {
      split->size = 0;
      if (!put_together(split, bytes, here)) return 0;
      found = next_page(lists, &page, &at, &end, size - here, split);
      if (found < 0) return 0;
      is_whole = 1;
      bytes = split->bytes;
    }
    if ((int64_t)row >= lists->low && !is_dead(part, row)) {
      double frequency = weigh(bytes, size, lists->weights);
      if (frequency < 0 || !gather((double)((int64_t)row & lists->mask), (float)frequency)) return 0;
    }
    if (found == 0) return 1;
    if (is_whole) continue;
    if (at >= end) return 1;
    if (at < page.size) continue;
    found = next_page(lists, &page, &at, &end, 0, split);
    if (found <= 0) return found == 0;
    is_whole = 1;
  }
}

static int read_list(Lists *lists, Part *part, const Token *token, Split *split) {
  uint32_t from = part->first;
  sqlite3_reset(lists->terms);
  sqlite3_bind_int64(lists->terms, 1, part->id);
  sqlite3_bind_blob(lists->terms, 2, token->text, (int)token->size, SQLITE_STATIC);
  if (sqlite3_step(lists->terms) == SQLITE_ROW) {
    uint32_t page = (uint32_t)(sqlite3_column_int64(lists->terms, 0) >> 1);
    if (page > from) from = page;
  }
  if (part->dead_pages > 0 && part->dead == NULL && !read_dead(lists->pages, part)) return 0;
  Page page;
  if (!begin_pages(lists->pages, part->id, from, part->last)) return part->first == 0;
  if (!page_here(lists->pages, &page)) return 0;
  uint32_t end = 0;
  uint32_t at = find_term(&page, token, &end);
  return at == 0 || walk_list(lists, part, page, at, end, split);
}

static int keep_token(void *token, int flags, const char *text, int size, int start, int end) {
  (void)flags, (void)start, (void)end;
  Token *into = token;
  into->count++;
  free(into->text);
  into->text = malloc((size_t)size + 1);
  if (into->text == NULL) return SQLITE_NOMEM;
  into->text[0] = MAIN_TERMS;
  memcpy(into->text + 1, text, (size_t)size);
  into->size = (uint32_t)size + 1;
  return SQLITE_OK;
}

/* Gathers the documents of each of the words, which are separated by line breaks. Returns 0 when FTS5 must be asked. */
static int read_words(Lists *lists, const Fts5ExtensionApi *api, Fts5Context *fts, const char *words, int size) {
  Split split = {0};
  int is_done = 1;
  for (int at = 0; is_done && at < size;) {
    int end = at;
    while (end < size && words[end] != '\n') end++;
    Token token = {0};
    is_done = api->xTokenize(fts, words + at, end - at, &token, keep_token) == SQLITE_OK && token.count == 1;
    uint32_t start = svckernel_gather_count();
    for (uint32_t i = 0; is_done && i < lists->count; i++) {
      uint32_t run = svckernel_gather_count();
      is_done = read_list(lists, &lists->parts[i], &token, &split) && gather_merge(start, run);
    }
    is_done = is_done && gather_end();
    free(token.text);
    at = end + 1;
  }
  free(split.bytes);
  return is_done;
}

void fts5_lists(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments) {
  enum { WORDS, LOW, HIGH, MASK, WEIGHTS, COUNT = 7 };
  sqlite3 *db = sqlite3_context_db_handle(context);
  Lists lists = {0};
  /* What a transaction has written may not be in the tables yet. */
  int is_done = count == COUNT && sqlite3_txn_state(db, NULL) != SQLITE_TXN_WRITE;
  if (is_done) {
    lists.low = sqlite3_value_int64(arguments[LOW]);
    lists.high = sqlite3_value_int64(arguments[HIGH]);
    lists.mask = sqlite3_value_int64(arguments[MASK]);
    for (int i = 0; i < COUNT - WEIGHTS; i++) lists.weights[i] = sqlite3_value_double(arguments[WEIGHTS + i]);
    is_done = sqlite3_prepare_v2(db,
                  "SELECT block FROM lexical_documents_data WHERE id BETWEEN ?1 AND ?2 ORDER BY id", -1, &lists.pages,
                  NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db,
            "SELECT pgno FROM lexical_documents_idx WHERE segid = ?1 AND term <= ?2 ORDER BY term DESC LIMIT 1", -1,
            &lists.terms, NULL) == SQLITE_OK &&
        read_parts(&lists);
  }
  const char *words = is_done ? (const char *)sqlite3_value_text(arguments[WORDS]) : NULL;
  is_done = words != NULL && read_words(&lists, api, fts, words, sqlite3_value_bytes(arguments[WORDS]));
  for (uint32_t i = 0; i < lists.count; i++) {
    Part *part = &lists.parts[i];
    for (uint32_t page = 0; part->dead != NULL && page < part->dead_pages; page++) free(part->dead[page]);
    free(part->dead);
    free(part->dead_sizes);
  }
  free(lists.parts);
  sqlite3_finalize(lists.pages);
  sqlite3_finalize(lists.terms);
  sqlite3_result_int(context, is_done);
}
