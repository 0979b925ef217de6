/*
 * Reads the lists of words where FTS5 keeps them: through its own interface each document of a list takes many times as
 * long. The format is that of the tables of a contentless index which marks what is deleted ("fts5_index.c" of SQLite). What
 * is not as expected makes the caller ask FTS5 instead.
 */
#include <stdlib.h>
#include <string.h>

#include "words.h"

/* Tables of pages: their rowids have the number of the part above those of the page. */
enum { PAGE_BITS = 37, DEAD_PART = 1 << 16, PARTS_MAX = 2000, DEAD_MAX = 1 << 16, HEADER = 4, DEAD_HEADER = 8 };
enum { VARINT_MAX = 9, SHORT_BITS = 7, MORE = 0x80, BYTE_BITS = 8, COLUMN_MARK = 1, COLUMNS = 3 };

/* A page of a part: what comes before `size` is content, what follows says where terms begin. */
typedef struct Page {
  const uint8_t *bytes;
  uint32_t size;
  uint32_t all;
} Page;

uint32_t number_read(const uint8_t *bytes, uint32_t at, uint32_t end, uint64_t *number) {
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

/* The same, where most numbers take one byte or two. */
static inline uint32_t number_at(const uint8_t *bytes, uint32_t at, uint32_t end, uint64_t *number) {
  if (at >= end) return 0;
  if (bytes[at] < MORE) {
    *number = bytes[at];
    return at + 1;
  }
  if (at + 1 < end && bytes[at + 1] < MORE) {
    *number = (uint64_t)(bytes[at] & (MORE - 1)) << SHORT_BITS | bytes[at + 1];
    return at + 2;
  }
  return number_read(bytes, at, end, number);
}

static uint32_t pair_at(const uint8_t *bytes) { return (uint32_t)bytes[0] << BYTE_BITS | bytes[1]; }

static uint64_t key_of(const uint8_t *bytes, uint32_t size) {
  uint64_t key = 0;
  for (uint32_t i = 0; i < size; i++) key = key << BYTE_BITS | bytes[i];
  return key;
}

int reader_open(Reader *reader) {
  if (reader->pages != NULL) return 1;
  return sqlite3_prepare_v2(reader->db,
             "SELECT block FROM lexical_documents_data WHERE id BETWEEN ?1 AND ?2 ORDER BY id", -1, &reader->pages,
             NULL) == SQLITE_OK &&
      sqlite3_prepare_v2(reader->db,
          "SELECT pgno FROM lexical_documents_idx WHERE segid = ?1 AND term <= ?2 ORDER BY term DESC LIMIT 1", -1,
          &reader->terms, NULL) == SQLITE_OK;
}

void reader_close(Reader *reader) {
  sqlite3_finalize(reader->pages);
  sqlite3_finalize(reader->terms);
  reader->pages = reader->terms = NULL;
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

int parts_read(const uint8_t *bytes, uint32_t end, Parts *parts) {
  static const uint8_t VERSION[] = {0xff, 0, 0, 1};
  uint32_t at = HEADER + sizeof VERSION;
  if (end < at || memcmp(bytes + HEADER, VERSION, sizeof VERSION) != 0) return 0;
  uint64_t levels = 0;
  uint64_t all = 0;
  uint64_t skipped = 0;
  if (!(at = number_at(bytes, at, end, &levels)) || !(at = number_at(bytes, at, end, &all)) || all > PARTS_MAX) return 0;
  if (!(at = number_at(bytes, at, end, &skipped))) return 0;
  parts->all = calloc(all + 1, sizeof *parts->all);
  if (parts->all == NULL) return 0;
  for (uint64_t level = 0; level < levels; level++) {
    uint64_t here = 0;
    if (!(at = number_at(bytes, at, end, &skipped)) || !(at = number_at(bytes, at, end, &here))) return 0;
    if (here > all - parts->count) return 0;
    for (uint64_t i = 0; i < here; i++) {
      enum { ID, FIRST, LAST, FROM, UNTIL, DEAD_PAGES, DEAD_ENTRIES, ENTRIES, FIELDS };
      uint64_t fields[FIELDS];
      for (int field = 0; field < FIELDS; field++) {
        if (!(at = number_at(bytes, at, end, &fields[field]))) return 0;
      }
      /* More would be damage, and be looked for one by one. */
      if (fields[ID] >= DEAD_PART || fields[DEAD_PAGES] > DEAD_MAX) return 0;
      Part *part = &parts->all[parts->count++];
      part->id = (int64_t)fields[ID];
      part->first = (uint32_t)fields[FIRST];
      part->last = (uint32_t)fields[LAST];
      part->from = fields[FROM];
      part->until = fields[UNTIL];
      part->dead_pages = (uint32_t)fields[DEAD_PAGES];
      part->dead_entries = fields[DEAD_ENTRIES];
      part->entries = fields[ENTRIES];
    }
  }
  return parts->count == all;
}

void parts_free(Parts *parts) {
  for (uint32_t i = 0; i < parts->count; i++) {
    Part *part = &parts->all[i];
    for (uint32_t page = 0; part->dead != NULL && page < part->dead_pages; page++) free(part->dead[page]);
    free(part->dead);
    free(part->dead_sizes);
  }
  free(parts->all);
  memset(parts, 0, sizeof *parts);
}

static int read_dead(sqlite3_stmt *pages, Part *part) {
  if (part->dead_pages == 0 || part->dead != NULL) return 1;
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

int part_identify(Reader *reader, const Parts *parts, Part *part) {
  /* While parts are merged, what is deleted is marked in each, but counted in one of them alone. */
  for (uint32_t i = 0; i < parts->count; i++) {
    const Part *other = &parts->all[i];
    if (other == part || other->from > part->until || other->until < part->from) continue;
    if (!read_dead(reader->pages, part)) return 0;
    /* Another count than that of the part alone. */
    part->dead_entries = UINT64_C(1) << 63;
    for (uint32_t page = 0; page < part->dead_pages; page++) {
      if (part->dead[page] == NULL) continue;
      part->dead_entries += part->dead[page][1] + key_of(part->dead[page] + DEAD_HEADER / 2, DEAD_HEADER / 2);
    }
    break;
  }
  part->print = 0xcbf29ce484222325u;
  if (!begin_pages(reader->pages, part->id, part->first, part->first)) return 1;
  const uint8_t *bytes = sqlite3_column_blob(reader->pages, 0);
  uint32_t size = (uint32_t)sqlite3_column_bytes(reader->pages, 0);
  for (uint32_t i = 0; bytes != NULL && i < size; i++) part->print = (part->print ^ bytes[i]) * 0x100000001b3u;
  return 1;
}

/* Looks for a term on a page, whose terms share their beginnings. Returns where its list begins, and where on this page it ends. */
static uint32_t find_term(const Page *page, const uint8_t *term, uint32_t size, uint32_t *end) {
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
      while (i < fresh && same < size && page->bytes[at + i] == term[same]) i++, same++;
      if (same == size) {
        if (i < fresh) return 0;
        uint64_t next = 0;
        *end = index < page->all && number_at(page->bytes, index, page->all, &next) ? place + (uint32_t)next : UINT32_MAX;
        return at + (uint32_t)fresh;
      }
      if (i < fresh && page->bytes[at + i] > term[same]) return 0;
    }
  }
  return 0;
}

/* The sum of the weights of the occurrences in a document. Returns 0 when the bytes make no sense. */
static uint32_t weigh(const uint8_t *bytes, uint32_t size, const uint32_t *halves) {
  uint32_t sum = 0;
  uint64_t column = 0;
  for (uint32_t at = 0; at < size;) {
    if (bytes[at] == COLUMN_MARK) {
      at = number_at(bytes, at + 1, size, &column);
      if (at == 0 || column >= COLUMNS) return 0;
      continue;
    }
    while (at < size && bytes[at] >= MORE) at++;
    at++;
    sum += halves[column];
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
static int next_page(sqlite3_stmt *pages, Page *page, uint32_t *at, uint32_t *end, uint32_t rest, Split *split) {
  for (;;) {
    if (sqlite3_step(pages) != SQLITE_ROW) return rest == 0 ? 0 : -1;
    if (!page_here(pages, page)) return -1;
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

/* Adds the documents of a list, from `at` of the page on which `pages` stands. Returns 0 when FTS5 must be asked. */
static int walk_list(
    const Reader *reader, const Part *part, Page page, uint32_t at, uint32_t end, Split *split, List *list) {
  sqlite3_stmt *pages = reader->pages;
  uint64_t row = 0;
  uint64_t step = 0;
  uint64_t sized = 0;
  int is_whole = 1;
  int is_first = 1;
  if (at >= page.size) {
    int found = next_page(pages, &page, &at, &end, 0, split);
    if (found <= 0) return 0;
  }
  for (;;) {
    if (!(at = number_at(page.bytes, at, page.size, &step)) || !(at = number_at(page.bytes, at, page.size, &sized))) return 0;
    uint64_t last = row;
    row = is_whole ? step : row + step;
    if ((!is_first && row <= last) || row > INT64_MAX) return 0;
    is_first = is_whole = 0;
    /* The mark of a deletion belongs to another kind of index. */
    if (sized < 2 || (sized & 1) != 0 || sized > UINT32_MAX) return 0;
    uint32_t size = (uint32_t)(sized >> 1);
    uint32_t here = size < page.size - at ? size : page.size - at;
    const uint8_t *bytes = page.bytes + at;
    int found = 1;
    at += here;
    if (here < size) {
      split->size = 0;
      if (!put_together(split, bytes, here)) return 0;
      found = next_page(pages, &page, &at, &end, size - here, split);
      if (found < 0) return 0;
      is_whole = 1;
      bytes = split->bytes;
    }
    if (!is_dead(part, row)) {
      uint32_t halves = weigh(bytes, size, reader->halves);
      if (halves == 0 || !list_add(list, row, halves)) return 0;
    }
    if (found == 0) return 1;
    if (is_whole) continue;
    if (at >= end) return 1;
    if (at < page.size) continue;
    found = next_page(pages, &page, &at, &end, 0, split);
    if (found <= 0) return found == 0;
    is_whole = 1;
  }
}

int list_read(Reader *reader, Part *part, const uint8_t *term, uint32_t size, List *list) {
  uint32_t from = part->first;
  sqlite3_reset(reader->terms);
  sqlite3_bind_int64(reader->terms, 1, part->id);
  sqlite3_bind_blob(reader->terms, 2, term, (int)size, SQLITE_STATIC);
  if (sqlite3_step(reader->terms) == SQLITE_ROW) {
    uint32_t page = (uint32_t)(sqlite3_column_int64(reader->terms, 0) >> 1);
    if (page > from) from = page;
  }
  if (!read_dead(reader->pages, part)) return 0;
  Page page;
  if (!begin_pages(reader->pages, part->id, from, part->last)) return part->first == 0;
  if (!page_here(reader->pages, &page)) return 0;
  uint32_t end = 0;
  uint32_t at = find_term(&page, term, size, &end);
  if (at == 0) return 1;
  Split split = {0};
  int is_done = walk_list(reader, part, page, at, end, &split, list);
  free(split.bytes);
  return is_done;
}
