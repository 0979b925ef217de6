#include "words.h"

#include <stdlib.h>
#include <string.h>

enum { MAIN_TERMS = '0', BUCKETS = 1 << 12, FIRST_ROOM = 8 };
/* Bytes of lists that stay from question to question, and windows of lengths: of four million documents in all. */
enum { LISTS_MAX = 48 << 20, LENGTHS_MAX = 1024, LENGTH_BUCKETS = 1 << 8 };
/* A length takes half of an entry; the other half is the part that the document was in. */
enum { LENGTH_BITS = 16, LENGTH_MANY = (1 << LENGTH_BITS) - 1, SLOTS = 1 << 16 };
/* Shares are computed once for usual frequencies, in quarters, and lengths. */
enum { QUARTERS = 32, LENGTHS = 512 };

/* How long documents are whose numbers share a window. */
typedef struct Lengths {
  struct Lengths *chained;
  uint64_t window;
  uint32_t entries[WINDOW];
} Lengths;

/* A list of a form of a word of the question. */
typedef struct Source {
  uint32_t word;
  uint32_t form;
  /* Quarters that a half counts. */
  uint32_t scale;
  List *list;
  int is_own;
  /* Under which number the lengths of its documents are known. */
  uint16_t lengths;
  /* The runs that are still to be read, and the places of the run in the present window. */
  uint32_t run;
  uint32_t run_end;
  uint32_t from;
  uint32_t to;
} Source;

typedef struct Rules {
  double k1;
  double b;
  double mean;
} Rules;

struct Held {
  List *buckets[BUCKETS];
  List *newest;
  List *oldest;
  size_t bytes;
  uint8_t *structure;
  uint32_t structure_size;
  Parts parts;
  uint32_t slots;
  Lengths *lengths[LENGTH_BUCKETS];
  uint32_t windows;
  Rules rules;
  double shares[QUARTERS][LENGTHS];
  uint32_t has_shares;
  /* The question. */
  uint32_t words;
  Source *sources;
  uint32_t count;
  uint32_t room;
  int is_walked;
};

/* Makes room for one more of what has `count` and `*room`. Returns what has room for it; NULL when there is no memory. */
static void *grown(void *all, uint32_t count, uint32_t *room, size_t size) {
  if (count < *room) return all;
  uint32_t more = FIRST_ROOM + *room + *room / 2;
  void *larger = realloc(all, size * more);
  if (larger != NULL) *room = more;
  return larger;
}

int list_grow(List *list, uint64_t row, uint32_t halves) {
  uint32_t room = list->room;
  uint16_t *places = grown(list->places, list->count, &room, sizeof *places);
  if (places == NULL) return 0;
  list->places = places;
  room = list->room;
  uint8_t *bytes = grown(list->halves, list->count, &room, sizeof *bytes);
  if (bytes == NULL) return 0;
  list->halves = bytes;
  list->room = room;
  if (list->run_count == 0 || list->runs[list->run_count - 1].window != row >> WINDOW_BITS) {
    Run *runs = grown(list->runs, list->run_count, &list->run_room, sizeof *runs);
    if (runs == NULL) return 0;
    list->runs = runs;
    list->runs[list->run_count++] = (Run){row >> WINDOW_BITS, list->count};
  }
  if (halves >= HALVES_MANY) {
    Many *many = grown(list->many, list->many_count, &list->many_room, sizeof *many);
    if (many == NULL) return 0;
    list->many = many;
    list->many[list->many_count++] = (Many){list->count, halves};
  }
  list->places[list->count] = row & (WINDOW - 1);
  list->halves[list->count++] = (uint8_t)(halves < HALVES_MANY ? halves : HALVES_MANY);
  return 1;
}

static size_t bytes_of(const List *list) {
  return sizeof *list + list->key_size + list->room * (sizeof *list->places + sizeof *list->halves) +
      list->run_room * sizeof *list->runs + list->many_room * sizeof *list->many;
}

static void list_free(List *list) {
  if (list == NULL) return;
  free(list->key), free(list->places), free(list->halves), free(list->runs), free(list->many);
  free(list);
}

/* Gives room back that nothing needs. */
static void list_fit(List *list) {
  uint32_t count = list->count + (list->count == 0);
  uint16_t *places = realloc(list->places, count * sizeof *places);
  uint8_t *halves = realloc(list->halves, count * sizeof *halves);
  if (places != NULL) list->places = places;
  if (halves != NULL) list->halves = halves;
  list->room = list->count;
  Run *runs = realloc(list->runs, (list->run_count + 1) * sizeof *runs);
  if (runs != NULL) list->runs = runs;
  list->run_room = list->run_count;
}

static void unlink_list(Held *held, List *list) {
  if (list->newer != NULL) list->newer->older = list->older;
  else held->newest = list->older;
  if (list->older != NULL) list->older->newer = list->newer;
  else held->oldest = list->newer;
  list->newer = list->older = NULL;
}

static void link_newest(Held *held, List *list) {
  list->older = held->newest;
  if (held->newest != NULL) held->newest->newer = list;
  held->newest = list;
  if (held->oldest == NULL) held->oldest = list;
}

static void drop_list(Held *held, List *list) {
  List **place = &held->buckets[list->hash % BUCKETS];
  while (*place != list) place = &(*place)->chained;
  *place = list->chained;
  unlink_list(held, list);
  held->bytes -= bytes_of(list);
  list_free(list);
}

static void drop_lengths(Held *held) {
  for (uint32_t i = 0; i < LENGTH_BUCKETS; i++) {
    for (Lengths *one = held->lengths[i]; one != NULL;) {
      Lengths *next = one->chained;
      free(one);
      one = next;
    }
    held->lengths[i] = NULL;
  }
  held->windows = 0;
}

static void end_question(Held *held) {
  for (uint32_t i = 0; i < held->count; i++) {
    if (held->sources[i].is_own) list_free(held->sources[i].list);
  }
  held->count = held->words = 0;
  held->is_walked = 0;
  while (held->bytes > LISTS_MAX && held->oldest != NULL) drop_list(held, held->oldest);
}

static void forget_structure(Held *held) {
  parts_free(&held->parts);
  free(held->structure);
  held->structure = NULL;
  held->structure_size = 0;
}

Held *held_new(void) { return calloc(1, sizeof(Held)); }

void held_free(void *given) {
  Held *held = given;
  if (held == NULL) return;
  end_question(held);
  while (held->oldest != NULL) drop_list(held, held->oldest);
  drop_lengths(held);
  forget_structure(held);
  free(held->sources);
  free(held);
}

/* The same part has the same number as before, so that what is kept of it is found. */
static void number_part(Held *held, const Parts *before, Part *part) {
  for (uint32_t i = 0; i < before->count; i++) {
    const Part *known = &before->all[i];
    if (known->id == part->id && known->from == part->from && known->until == part->until && known->print == part->print) {
      part->slot = known->slot;
      return;
    }
  }
  part->slot = (uint16_t)++held->slots;
}

/* While parts are merged, the words of a document are in them and in what is made of them: its length is known by the last. */
static const Part *widest_over(const Parts *parts, const Part *part) {
  const Part *widest = part;
  for (uint32_t i = 0; i < parts->count; i++) {
    const Part *other = &parts->all[i];
    if (other->from > widest->from || other->until < widest->until) continue;
    if (other->from < widest->from || other->until > widest->until || other < widest) widest = other;
  }
  return widest;
}

/* Learns which parts the index has. Returns 0 when FTS5 must be asked. */
static int know_parts(Held *held, Reader *reader, const uint8_t *structure, uint32_t size) {
  if (held->structure != NULL && held->structure_size == size && memcmp(held->structure, structure, size) == 0) return 1;
  Parts parts = {0};
  uint8_t *copy = malloc(size + 1);
  int is_done = copy != NULL && parts_read(structure, size, &parts) && reader_open(reader);
  for (uint32_t i = 0; is_done && i < parts.count; i++) is_done = part_identify(reader, &parts, &parts.all[i]);
  if (!is_done) {
    parts_free(&parts);
    free(copy);
    return 0;
  }
  memcpy(copy, structure, size);
  if (held->slots + parts.count >= SLOTS) {
    while (held->oldest != NULL) drop_list(held, held->oldest);
    drop_lengths(held);
    forget_structure(held);
    held->slots = 0;
  }
  for (uint32_t i = 0; i < parts.count; i++) number_part(held, &held->parts, &parts.all[i]);
  for (uint32_t i = 0; i < parts.count; i++) parts.all[i].lengths = widest_over(&parts, &parts.all[i])->slot;
  forget_structure(held);
  held->parts = parts;
  held->structure = copy;
  held->structure_size = size;
  return 1;
}

static int add_source(Held *held, Source source) {
  Source *sources = grown(held->sources, held->count, &held->room, sizeof *sources);
  if (sources == NULL) return 0;
  held->sources = sources;
  held->sources[held->count++] = source;
  return 1;
}

/* What the key of a list begins with: the state of its part. The term follows. */
typedef struct Key {
  uint64_t state[5];
} Key;

/* The documents of a term in a part, from memory if they are there. Returns NULL when FTS5 must be asked. */
static List *list_of(Held *held, Reader *reader, Part *part, uint8_t *bytes, uint32_t size) {
  Key key = {{part->slot, part->first, part->last, part->dead_entries, part->entries}};
  memcpy(bytes, &key, sizeof key);
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint32_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  hash ^= hash >> 32;
  for (List *list = held->buckets[hash % BUCKETS]; list != NULL; list = list->chained) {
    if (list->hash != hash || list->key_size != size || memcmp(list->key, bytes, size) != 0) continue;
    unlink_list(held, list);
    link_newest(held, list);
    return list;
  }
  List *list = calloc(1, sizeof *list);
  uint8_t *copy = malloc(size);
  if (list == NULL || copy == NULL || !reader_open(reader) ||
      !list_read(reader, part, bytes + sizeof key, size - (uint32_t)sizeof key, list)) {
    list_free(list);
    free(copy);
    return NULL;
  }
  memcpy(copy, bytes, size);
  list_fit(list);
  list->key = copy;
  list->key_size = size;
  list->hash = hash;
  list->chained = held->buckets[hash % BUCKETS];
  held->buckets[hash % BUCKETS] = list;
  link_newest(held, list);
  held->bytes += bytes_of(list);
  return list;
}

typedef struct Token {
  uint8_t *bytes;
  uint32_t size;
  uint32_t count;
} Token;

/* Behind the room for the state of a part. */
static int keep_token(void *given, int flags, const char *text, int size, int start, int end) {
  (void)flags, (void)start, (void)end;
  Token *token = given;
  token->count++;
  free(token->bytes);
  token->size = (uint32_t)(sizeof(Key) + 1) + (uint32_t)size;
  token->bytes = malloc(token->size);
  if (token->bytes == NULL) return SQLITE_NOMEM;
  token->bytes[sizeof(Key)] = MAIN_TERMS;
  memcpy(token->bytes + sizeof(Key) + 1, text, (size_t)size);
  return SQLITE_OK;
}

typedef struct Asked {
  const Fts5ExtensionApi *api;
  Fts5Context *fts;
  Reader reader;
} Asked;

static int read_form(Held *held, Asked *asked, const char *form, int size, Source source) {
  Token token = {0};
  int is_done = size > 1 && asked->api->xTokenize(asked->fts, form + 1, size - 1, &token, keep_token) == SQLITE_OK &&
      token.count == 1;
  source.scale = form[0] == '2' ? 2 : 1;
  for (uint32_t i = 0; is_done && i < held->parts.count; i++) {
    source.list = list_of(held, &asked->reader, &held->parts.all[i], token.bytes, token.size);
    source.lengths = held->parts.all[i].lengths;
    is_done = source.list != NULL && (source.list->count == 0 || add_source(held, source));
  }
  free(token.bytes);
  return is_done;
}

/* Begins a question with these words. Returns 0 when FTS5 must be asked for all of them. */
static int read_words(Held *held, Asked *asked, const char *text, int size, int is_read) {
  uint32_t form = 0;
  int is_done = is_read;
  held->words = 1;
  for (int at = 0; at < size; at++) {
    int end = at;
    while (end < size && text[end] != '\n' && text[end] != '\t') end++;
    if (is_done && end > at) {
      Source source = {.word = held->words - 1, .form = form++};
      is_done = read_form(held, asked, text + at, end - at, source);
    }
    if (end < size && text[end] == '\n') held->words++;
    at = end;
  }
  return is_done;
}

void fts5_lists(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments) {
  enum { STRUCTURE, WORDS, WEIGHTS, COUNT = 5 };
  Held *held = api->xUserData(fts);
  Asked asked = {api, fts, {sqlite3_context_db_handle(context), NULL, NULL, {0}}};
  end_question(held);
  const char *words = count == COUNT ? (const char *)sqlite3_value_text(arguments[WORDS]) : NULL;
  if (words == NULL) {
    sqlite3_result_error(context, "svckernel_lists: a structure, words and three weights expected", -1);
    return;
  }
  for (int i = 0; i < COUNT - WEIGHTS; i++) {
    asked.reader.halves[i] = (uint32_t)(2 * sqlite3_value_double(arguments[WEIGHTS + i]));
  }
  const uint8_t *structure = sqlite3_value_blob(arguments[STRUCTURE]);
  /* What a transaction has written may not be in the tables yet. */
  int is_read = structure != NULL && sqlite3_txn_state(asked.reader.db, NULL) != SQLITE_TXN_WRITE &&
      know_parts(held, &asked.reader, structure, (uint32_t)sqlite3_value_bytes(arguments[STRUCTURE]));
  int is_done = read_words(held, &asked, words, sqlite3_value_bytes(arguments[WORDS]), is_read);
  reader_close(&asked.reader);
  if (!is_done) {
    uint32_t all = held->words;
    end_question(held);
    held->words = all;
  }
  sqlite3_result_int(context, is_done);
}

/* The weighted number of occurrences of all phrases in the current row, in halves. */
static int halves_in_row(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_value **weights, int count, uint32_t *halves) {
  double sum = 0;
  int phrases = api->xPhraseCount(fts);
  for (int phrase = 0; phrase < phrases; phrase++) {
    Fts5PhraseIter iterator;
    int column = 0;
    int offset = 0;
    int rc = api->xPhraseFirst(fts, phrase, &iterator, &column, &offset);
    if (rc != SQLITE_OK) return rc;
    while (column >= 0) {
      sum += column < count ? sqlite3_value_double(weights[column]) : 1.0;
      api->xPhraseNext(fts, &iterator, &column, &offset);
    }
  }
  *halves = (uint32_t)(2 * sum);
  return SQLITE_OK;
}

/* The list that is being gathered. Returns NULL when there is no memory. */
static List *gathered(Held *held, uint32_t word, uint32_t form, uint32_t scale) {
  const Source *last = held->count == 0 ? NULL : &held->sources[held->count - 1];
  if (last != NULL && last->is_own && last->word == word && last->form == form) return last->list;
  List *list = calloc(1, sizeof *list);
  if (list != NULL && !add_source(held, (Source){.word = word, .form = form, .scale = scale, .list = list, .is_own = 1})) {
    list_free(list);
    return NULL;
  }
  held->is_walked = 1;
  return list;
}

void fts5_gather(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
    sqlite3_value **arguments) {
  enum { WORD, FORM, SCALE, WEIGHTS };
  Held *held = api->xUserData(fts);
  int64_t word = count > WEIGHTS ? sqlite3_value_int64(arguments[WORD]) : -1;
  if (word < 0 || word >= held->words) {
    sqlite3_result_error(context, "svckernel_gather: the number of a word expected", -1);
    return;
  }
  uint32_t halves = 0;
  int rc = halves_in_row(api, fts, arguments + WEIGHTS, count - WEIGHTS, &halves);
  if (rc == SQLITE_OK) {
    uint32_t scale = (uint32_t)(2 * sqlite3_value_double(arguments[SCALE]));
    List *list = gathered(held, (uint32_t)word, (uint32_t)sqlite3_value_int(arguments[FORM]), scale);
    if (list == NULL || !list_add(list, (uint64_t)api->xRowid(fts), halves)) rc = SQLITE_NOMEM;
  }
  if (rc == SQLITE_OK) sqlite3_result_int(context, 0);
  else sqlite3_result_error_code(context, rc);
}

/* The first run at or behind a window. */
static uint32_t run_at(const List *list, uint64_t window) {
  uint32_t from = 0;
  uint32_t to = list->run_count;
  while (from < to) {
    uint32_t middle = (from + to) / 2;
    if (list->runs[middle].window < window) from = middle + 1;
    else to = middle;
  }
  return from;
}

static uint32_t run_end(const List *list, uint32_t run) {
  return run + 1 < list->run_count ? list->runs[run + 1].from : list->count;
}

/* Puts every source before its first run within the rowids. */
static void begin_windows(Held *held, int64_t low, int64_t high) {
  for (uint32_t i = 0; i < held->count; i++) {
    Source *source = &held->sources[i];
    source->run = run_at(source->list, (uint64_t)low >> WINDOW_BITS);
    source->run_end = run_at(source->list, ((uint64_t)high >> WINDOW_BITS) + 1);
    source->from = source->to = 0;
  }
}

/* Goes to the next window with a document. Returns 0 when there is none. */
static int next_window(Held *held, uint64_t *window) {
  *window = UINT64_MAX;
  for (uint32_t i = 0; i < held->count; i++) {
    const Source *source = &held->sources[i];
    if (source->run >= source->run_end) continue;
    uint64_t here = source->list->runs[source->run].window;
    if (here < *window) *window = here;
  }
  if (*window == UINT64_MAX) return 0;
  for (uint32_t i = 0; i < held->count; i++) {
    Source *source = &held->sources[i];
    source->from = source->to = 0;
    if (source->run >= source->run_end || source->list->runs[source->run].window != *window) continue;
    source->from = source->list->runs[source->run].from;
    source->to = run_end(source->list, source->run);
    source->run++;
  }
  return 1;
}

/* Whether a word has documents of more than one form: those of one are each in one part alone. */
static int has_forms(const Held *held, uint32_t word) {
  const Source *first = NULL;
  for (uint32_t i = 0; i < held->count; i++) {
    const Source *source = &held->sources[i];
    if (source->word != word) continue;
    if (first != NULL && first->form != source->form) return 1;
    first = source;
  }
  return 0;
}

void sql_holding(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  Held *held = sqlite3_user_data(context);
  double *holding = sqlite3_malloc64((held->words + 1) * sizeof *holding);
  uint8_t *several = calloc(held->words + 1, 1);
  if (holding == NULL || several == NULL) {
    sqlite3_free(holding);
    free(several);
    sqlite3_result_error_nomem(context);
    return;
  }
  int has_several = 0;
  for (uint32_t word = 0; word < held->words; word++) {
    holding[word] = 0;
    has_several |= several[word] = (uint8_t)has_forms(held, word);
  }
  begin_windows(held, sqlite3_value_int64(arguments[0]), sqlite3_value_int64(arguments[1]));
  for (uint32_t i = 0; i < held->count; i++) {
    const Source *source = &held->sources[i];
    if (several[source->word] || source->run == source->run_end) continue;
    holding[source->word] += run_end(source->list, source->run_end - 1) - source->list->runs[source->run].from;
  }
  uint64_t window = 0;
  while (has_several && next_window(held, &window)) {
    for (uint32_t word = 0; word < held->words; word++) {
      if (!several[word]) continue;
      uint8_t is_seen[WINDOW] = {0};
      for (uint32_t i = 0; i < held->count; i++) {
        const Source *source = &held->sources[i];
        for (uint32_t at = source->from; source->word == word && at < source->to; at++) {
          holding[word] += !is_seen[source->list->places[at]];
          is_seen[source->list->places[at]] = 1;
        }
      }
    }
  }
  free(several);
  sqlite3_result_blob64(context, holding, held->words * sizeof *holding, sqlite3_free);
}

typedef struct Scored {
  double key;
  double score;
} Scored;

/* A word as it counts: its sources are next to each other. */
typedef struct Word {
  double rarity;
  uint32_t first;
  uint32_t end;
  int has_forms;
} Word;

typedef struct Ranking {
  Held *held;
  Word *words;
  uint32_t count;
  sqlite3_stmt *lengths;
  int64_t mask;
  /* A heap whose worst comes first. */
  Scored *best;
  uint32_t found;
  uint32_t wanted;
  /* The present window. */
  uint64_t window;
  uint32_t *entries;
  double scores[WINDOW];
  uint16_t most[WINDOW];
  uint32_t none[WINDOW];
} Ranking;

static double share_of(const Rules *rules, double frequency, double length) {
  return (frequency * (rules->k1 + 1)) / (frequency + rules->k1 * (1 - rules->b + rules->b * (length / rules->mean)));
}

static const double *shares_of(Held *held, uint32_t quarters) {
  double *shares = held->shares[quarters];
  if ((held->has_shares >> quarters & 1) == 0) {
    for (uint32_t length = 0; length < LENGTHS; length++) shares[length] = share_of(&held->rules, quarters / 4.0, length);
    held->has_shares |= 1u << quarters;
  }
  return shares;
}

static uint32_t quarters_at(const Source *source, uint32_t at) {
  uint32_t halves = source->list->halves[at];
  for (uint32_t i = 0; halves == HALVES_MANY && i < source->list->many_count; i++) {
    if (source->list->many[i].at == at) return source->list->many[i].halves * source->scale;
  }
  return halves * source->scale;
}

static uint16_t slot_of(const Ranking *ranking, const Source *source) {
  return ranking->held->is_walked ? 0 : source->lengths;
}

/* The length of a document as far as it is known: that of the part in which its words are. A length of 0 makes the share largest. */
static inline uint32_t known_length(uint32_t *entry, uint32_t slot) {
  if (*entry >> LENGTH_BITS != slot) *entry = slot << LENGTH_BITS;
  return *entry & LENGTH_MANY;
}

static void add_one(Ranking *ranking, const Word *word, uint32_t place, uint32_t slot, uint32_t quarters) {
  uint32_t length = known_length(&ranking->entries[place], slot);
  double share = quarters < QUARTERS && length < LENGTHS ? shares_of(ranking->held, quarters)[length] :
      share_of(&ranking->held->rules, quarters / 4.0, length);
  ranking->scores[place] += word->rarity * share;
}

static void add_source_of(Ranking *ranking, const Word *word, const Source *source) {
  const uint16_t *places = source->list->places;
  const uint8_t *halves = source->list->halves;
  uint32_t *entries = ranking->entries;
  double *scores = ranking->scores;
  uint32_t slot = slot_of(ranking, source);
  uint32_t shift = slot << LENGTH_BITS;
  const double *shares = ranking->held->shares[0];
  uint32_t has_shares = ranking->held->has_shares;
  for (uint32_t at = source->from; at < source->to; at++) {
    uint32_t place = places[at];
    uint32_t quarters = halves[at] * source->scale;
    uint32_t length = entries[place] ^ shift;
    if (length < LENGTHS && quarters < QUARTERS && (has_shares >> quarters & 1) != 0) {
      scores[place] += word->rarity * shares[quarters * LENGTHS + length];
      continue;
    }
    add_one(ranking, word, place, slot, quarters_at(source, at));
    has_shares = ranking->held->has_shares;
  }
}

/* Of several forms the most frequent one counts. */
static void add_forms(Ranking *ranking, const Word *word) {
  const Source *sources = ranking->held->sources;
  for (int is_adding = 0; is_adding < 2; is_adding++) {
    for (uint32_t i = word->first; i < word->end; i++) {
      const Source *source = &sources[i];
      for (uint32_t at = source->from; at < source->to; at++) {
        uint32_t place = source->list->places[at];
        uint32_t quarters = quarters_at(source, at);
        if (quarters > UINT16_MAX) quarters = UINT16_MAX;
        if (!is_adding) {
          if (quarters > ranking->most[place]) ranking->most[place] = (uint16_t)quarters;
        } else if (ranking->most[place] > 0) {
          add_one(ranking, word, place, slot_of(ranking, source), ranking->most[place]);
          ranking->most[place] = 0;
        }
      }
    }
  }
}

/* The frequency of a word in a document of the window, in quarters. */
static uint32_t quarters_in(const Ranking *ranking, const Word *word, uint32_t place) {
  uint32_t most = 0;
  for (uint32_t i = word->first; i < word->end; i++) {
    const Source *source = &ranking->held->sources[i];
    uint32_t from = source->from;
    uint32_t to = source->to;
    while (from < to) {
      uint32_t middle = (from + to) / 2;
      if (source->list->places[middle] < place) from = middle + 1;
      else to = middle;
    }
    if (from == source->to || source->list->places[from] != place) continue;
    uint32_t quarters = quarters_at(source, from);
    if (quarters > most) most = quarters;
  }
  return most;
}

/* Numbers as FTS5 stores them: how many words a document has in each column. */
static uint64_t sum_of(const uint8_t *bytes, uint32_t size) {
  uint64_t sum = 0;
  uint64_t number = 0;
  for (uint32_t at = 0; at < size && (at = number_read(bytes, at, size, &number)) != 0;) sum += number;
  return sum;
}

/* Looks the length of a document up, and computes its score. */
static double exact_score(Ranking *ranking, uint32_t place) {
  Held *held = ranking->held;
  double length = 0;
  sqlite3_reset(ranking->lengths);
  sqlite3_bind_int64(ranking->lengths, 1, (int64_t)(ranking->window << WINDOW_BITS | place));
  if (sqlite3_step(ranking->lengths) == SQLITE_ROW) {
    const uint8_t *bytes = sqlite3_column_blob(ranking->lengths, 0);
    uint64_t words = bytes == NULL ? 0 : sum_of(bytes, (uint32_t)sqlite3_column_bytes(ranking->lengths, 0));
    length = (double)words;
    if (words < LENGTH_MANY) ranking->entries[place] |= (uint32_t)words;
  }
  double score = 0;
  for (uint32_t i = 0; i < ranking->count; i++) {
    const Word *word = &ranking->words[i];
    uint32_t quarters = quarters_in(ranking, word, place);
    if (quarters > 0) score += word->rarity * share_of(&held->rules, quarters / 4.0, length);
  }
  /* From now on its length may be known. */
  ranking->scores[place] = score;
  return score;
}

static int is_worse(Scored one, Scored other) {
  return one.score < other.score || (one.score == other.score && one.key > other.key);
}

static void sift(Scored *heap, uint32_t count, uint32_t at, Scored one) {
  for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && is_worse(heap[child + 1], heap[child])) child++;
    if (!is_worse(heap[child], one)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = one;
}

static void offer(Ranking *ranking, Scored one) {
  if (ranking->found < ranking->wanted) {
    ranking->best[ranking->found++] = one;
    for (uint32_t at = ranking->found / 2; ranking->found == ranking->wanted && at-- > 0;) {
      sift(ranking->best, ranking->found, at, ranking->best[at]);
    }
  } else if (is_worse(ranking->best[0], one)) {
    sift(ranking->best, ranking->found, 0, one);
  }
}

/* The score of a document that matches, exact. */
static double score_at(Ranking *ranking, uint32_t place) {
  return (ranking->entries[place] & LENGTH_MANY) != 0 ? ranking->scores[place] : exact_score(ranking, place);
}

static double key_at(const Ranking *ranking, uint32_t place) {
  return (double)((int64_t)(ranking->window << WINDOW_BITS | place) & ranking->mask);
}

static void offer_window(Ranking *ranking) {
  if (ranking->wanted == 0) return;
  double least = ranking->found < ranking->wanted ? 0 : ranking->best[0].score;
  for (uint32_t place = 0; place < WINDOW; place++) {
    /* Keys ascend: of equal scores the first ones count. */
    if (!(ranking->scores[place] > least)) continue;
    double score = score_at(ranking, place);
    if (!(score > least)) continue;
    offer(ranking, (Scored){key_at(ranking, place), score});
    if (ranking->found == ranking->wanted) least = ranking->best[0].score;
  }
}

/* Where the lengths of the window are; nowhere when there are too many, or when nobody knows in which part documents are. */
static uint32_t *entries_of(Ranking *ranking) {
  Held *held = ranking->held;
  Lengths **bucket = &held->lengths[ranking->window % LENGTH_BUCKETS];
  for (Lengths *one = *bucket; one != NULL && !held->is_walked; one = one->chained) {
    if (one->window == ranking->window) return one->entries;
  }
  Lengths *made = held->is_walked || held->windows == LENGTHS_MAX ? NULL : calloc(1, sizeof *made);
  if (made == NULL) {
    memset(ranking->none, 0, sizeof ranking->none);
    return ranking->none;
  }
  held->windows++;
  made->window = ranking->window;
  made->chained = *bucket;
  *bucket = made;
  return made->entries;
}

static void score_window(Ranking *ranking) {
  ranking->entries = entries_of(ranking);
  memset(ranking->scores, 0, sizeof ranking->scores);
  for (uint32_t i = 0; i < ranking->count; i++) {
    const Word *word = &ranking->words[i];
    if (word->has_forms) {
      add_forms(ranking, word);
      continue;
    }
    for (uint32_t at = word->first; at < word->end; at++) add_source_of(ranking, word, &ranking->held->sources[at]);
  }
}

static int best_first(const void *one, const void *other) {
  return is_worse(*(const Scored *)one, *(const Scored *)other) ? 1 : -1;
}

static int by_key(const void *one, const void *other) {
  double left = ((const Scored *)one)->key;
  double right = ((const Scored *)other)->key;
  return (left > right) - (left < right);
}

/* Puts the sources of each word next to each other, in the order in which words count; those of others come last. */
static int order_words(Ranking *ranking, const double *given, uint32_t count) {
  Held *held = ranking->held;
  Source *sources = malloc((held->count + 1) * sizeof *sources);
  if (sources == NULL) return 0;
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = (uint32_t)given[2 * i];
    Word *word = &ranking->words[ranking->count++];
    *word = (Word){given[2 * i + 1], at, at, has_forms(held, number)};
    for (uint32_t k = 0; k < held->count; k++) {
      if (held->sources[k].word == number && at < held->count) sources[at++] = held->sources[k];
    }
    word->end = at;
  }
  /* The others do not rank, but stay, for they may own their lists. */
  for (uint32_t k = 0; k < held->count; k++) {
    int is_there = 0;
    for (uint32_t i = 0; i < count; i++) is_there |= held->sources[k].word == (uint32_t)given[2 * i];
    if (!is_there && at < held->count) sources[at++] = held->sources[k];
  }
  free(held->sources);
  held->sources = sources;
  held->room = held->count + 1;
  return at == held->count;
}

static void know_rules(Held *held, const double *given) {
  Rules rules = {given[0], given[1], given[2]};
  if (memcmp(&rules, &held->rules, sizeof rules) == 0) return;
  held->rules = rules;
  held->has_shares = 0;
}

void sql_best(sqlite3_context *context, int count, sqlite3_value **arguments) {
  enum { LOW, HIGH, MASK, RULES, WORDS, WANTED, OTHERS };
  (void)count;
  const double *rules = sqlite3_value_blob(arguments[RULES]);
  const double *words = sqlite3_value_blob(arguments[WORDS]);
  const double *others = sqlite3_value_blob(arguments[OTHERS]);
  uint32_t word_count = (uint32_t)sqlite3_value_bytes(arguments[WORDS]) / (2 * sizeof *words);
  uint32_t other_count = (uint32_t)sqlite3_value_bytes(arguments[OTHERS]) / sizeof *others;
  int64_t wanted = sqlite3_value_int64(arguments[WANTED]);
  if (sqlite3_value_bytes(arguments[RULES]) != 3 * sizeof *rules || wanted < 0) {
    sqlite3_result_error(context, "svckernel_best: three rules and how many are wanted expected", -1);
    return;
  }
  Held *held = sqlite3_user_data(context);
  int64_t low = sqlite3_value_int64(arguments[LOW]);
  int64_t high = sqlite3_value_int64(arguments[HIGH]);
  Ranking *ranking = calloc(1, sizeof *ranking);
  Scored *asked = calloc(other_count + 1, sizeof *asked);
  int is_done = ranking != NULL && asked != NULL;
  if (is_done) {
    ranking->held = held;
    ranking->mask = sqlite3_value_int64(arguments[MASK]);
    int64_t all = 0;
    for (uint32_t i = 0; i < held->count; i++) all += held->sources[i].list->count;
    ranking->wanted = (uint32_t)(wanted < all ? wanted : all);
    ranking->words = calloc(word_count + 1, sizeof *ranking->words);
    ranking->best = malloc((ranking->wanted + 1) * sizeof *ranking->best);
    is_done = ranking->words != NULL && ranking->best != NULL && order_words(ranking, words, word_count) &&
        sqlite3_prepare_v2(sqlite3_context_db_handle(context), "SELECT sz FROM lexical_documents_docsize WHERE id = ?1", -1,
            &ranking->lengths, NULL) == SQLITE_OK;
  }
  if (is_done) {
    know_rules(held, rules);
    for (uint32_t i = 0; i < other_count; i++) asked[i].key = others[i];
    if (other_count > 0) qsort(asked, other_count, sizeof *asked, by_key);
    begin_windows(held, low, high);
    uint32_t next = 0;
    while (next_window(held, &ranking->window)) {
      score_window(ranking);
      offer_window(ranking);
      for (; next < other_count; next++) {
        uint64_t row = (uint64_t)low | (uint64_t)asked[next].key;
        if (row >> WINDOW_BITS > ranking->window) break;
        uint32_t place = row & (WINDOW - 1);
        if (row >> WINDOW_BITS == ranking->window && ranking->scores[place] > 0) asked[next].score = score_at(ranking, place);
      }
    }
    uint32_t matched = 0;
    for (uint32_t i = 0; i < other_count; i++) {
      if (asked[i].score > 0) asked[matched++] = asked[i];
    }
    if (ranking->found > 0) qsort(ranking->best, ranking->found, sizeof *ranking->best, best_first);
    size_t size = sizeof(double) + (ranking->found + (size_t)matched) * sizeof(Scored);
    double *answer = sqlite3_malloc64(size);
    is_done = answer != NULL;
    if (is_done) {
      answer[0] = ranking->found;
      memcpy(answer + 1, ranking->best, ranking->found * sizeof(Scored));
      memcpy(answer + 1 + 2 * (size_t)ranking->found, asked, matched * sizeof(Scored));
      sqlite3_result_blob64(context, answer, size, sqlite3_free);
    }
  }
  if (!is_done) sqlite3_result_error_nomem(context);
  if (ranking != NULL) {
    sqlite3_finalize(ranking->lengths);
    free(ranking->words), free(ranking->best);
  }
  free(ranking);
  free(asked);
}
