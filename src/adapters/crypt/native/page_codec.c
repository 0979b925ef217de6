#include "page_codec.h"

#include <string.h>

#include "bytes.h"
#include "random.h"

static const uint8_t FORMAT_MARK[4] = {'S', 'V', 'C', '1'};
static const uint8_t SQLITE_MAGIC[16] = "SQLite format 3"; /* with its terminating zero */
/* Payload fractions: bytes 21 to 23 of every SQLite database. Their place on the disk holds the format version. */
static const uint8_t SQLITE_FRACTIONS[3] = {64, 32, 32};

enum { AAD_MAX = 4 + 1 + 4 + PAGE1_CLEAR };

/* Parts of an encrypted page. `clear` is the length of what stays readable in front. */
typedef struct Layout {
  size_t clear;
  size_t text;
  size_t nonce;
  size_t tag;
  size_t spare;
} Layout;

static Layout layout_of(const PageCodec *codec, size_t clear) {
  size_t end = codec->page_size - (size_t)PAGE_RESERVE;
  Layout layout = {clear, end - clear, end, end + CIPHER_NONCE, end + CIPHER_NONCE + CIPHER_TAG};
  return layout;
}

static size_t build_aad(uint8_t aad[AAD_MAX], PageKind kind, uint32_t pgno, const uint8_t *clear, size_t clear_size) {
  memcpy(aad, FORMAT_MARK, 4);
  aad[4] = (uint8_t)kind;
  put_u32(aad + 5, pgno);
  memcpy(aad + 9, clear, clear_size);
  return 9 + clear_size;
}

/* The clear part of `disk` must have been written before. */
static int seal(PageCodec *codec, PageKind kind, uint32_t pgno, const Layout *at, const uint8_t *plain, uint8_t *disk) {
  uint8_t aad[AAD_MAX];
  GcmCall call = {disk + at->nonce, aad, build_aad(aad, kind, pgno, disk, at->clear)};
  if (!random_bytes(disk + at->nonce, CIPHER_NONCE)) return 0;
  return gcm_seal(&codec->gcm, &call, plain + at->clear, disk + at->clear, at->text, disk + at->tag);
}

static int open_text(
    PageCodec *codec, PageKind kind, uint32_t pgno, const Layout *at, const uint8_t *disk, uint8_t *plain) {
  uint8_t aad[AAD_MAX];
  GcmCall call = {disk + at->nonce, aad, build_aad(aad, kind, pgno, disk, at->clear)};
  return gcm_open(&codec->gcm, &call, disk + at->clear, plain + at->clear, at->text, disk + at->tag);
}

uint32_t page_size_in(const uint8_t *header) {
  /* Bytes 00 01 stand for 65536: the second byte counts twice, as in SQLite's own reading. */
  uint32_t size = (uint32_t)header[16] << 8 | (uint32_t)header[17] << 16;
  int is_power_of_two = (size & (size - 1)) == 0;
  return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && is_power_of_two ? size : 0;
}

void put_page_size(uint8_t *header, uint32_t page_size) {
  header[16] = (uint8_t)(page_size >> 8);
  header[17] = (uint8_t)(page_size >> 16);
}

int page1_is_encrypted(const uint8_t clear[PAGE1_CLEAR]) {
  return page_size_in(clear) != 0 && clear[20] == PAGE_RESERVE && clear[21] == PAGE1_FORMAT && clear[22] == 0 &&
      clear[23] == 0 && memcmp(clear, SQLITE_MAGIC, sizeof SQLITE_MAGIC) != 0;
}

/* What a page 1 must be, since the parts that are replaced on the disk are rebuilt from nothing when it is read. */
static int is_sound_page1(const PageCodec *codec, const uint8_t *plain) {
  return memcmp(plain, SQLITE_MAGIC, sizeof SQLITE_MAGIC) == 0 && page_size_in(plain) == codec->page_size &&
      plain[20] == PAGE_RESERVE && memcmp(plain + 21, SQLITE_FRACTIONS, sizeof SQLITE_FRACTIONS) == 0;
}

static int has_zero_reserve(const PageCodec *codec, const uint8_t *plain) {
  return all_zero(plain + codec->page_size - PAGE_RESERVE, PAGE_RESERVE);
}

static int seal_page1(PageCodec *codec, const uint8_t *plain, uint8_t *disk) {
  Layout at = layout_of(codec, PAGE1_CLEAR);
  if (!is_sound_page1(codec, plain)) return 0;
  memcpy(disk, codec->salt, PAGE_SALT);
  memcpy(disk + PAGE_SALT, plain + PAGE_SALT, 5);
  disk[21] = PAGE1_FORMAT;
  disk[22] = 0;
  disk[23] = 0;
  memcpy(disk + at.spare, codec->check, PAGE_CHECK);
  return seal(codec, PAGE_MAIN, 1, &at, plain, disk);
}

static int open_page1(PageCodec *codec, const uint8_t *disk, uint8_t *plain) {
  Layout at = layout_of(codec, PAGE1_CLEAR);
  memset(plain, 0, codec->page_size);
  if (memcmp(disk + at.spare, codec->check, PAGE_CHECK) != 0) return 0;
  if (!open_text(codec, PAGE_MAIN, 1, &at, disk, plain)) return 0;
  memcpy(plain, SQLITE_MAGIC, sizeof SQLITE_MAGIC);
  memcpy(plain + 16, disk + 16, 5);
  memcpy(plain + 21, SQLITE_FRACTIONS, sizeof SQLITE_FRACTIONS);
  return 1;
}

int page_seal_main(PageCodec *codec, uint32_t pgno, const uint8_t *plain, uint8_t *disk) {
  if (pgno != 1) return page_seal_image(codec, PAGE_MAIN, pgno, plain, disk);
  return has_zero_reserve(codec, plain) && seal_page1(codec, plain, disk);
}

int page_open_main(PageCodec *codec, uint32_t pgno, const uint8_t *disk, uint8_t *plain) {
  if (pgno != 1) return page_open_image(codec, PAGE_MAIN, pgno, disk, plain);
  return open_page1(codec, disk, plain);
}

int page_seal_image(PageCodec *codec, PageKind kind, uint32_t pgno, const uint8_t *plain, uint8_t *disk) {
  Layout at = layout_of(codec, 0);
  if (!has_zero_reserve(codec, plain)) return 0;
  memset(disk + at.spare, 0, PAGE_CHECK);
  return seal(codec, kind, pgno, &at, plain, disk);
}

int page_open_image(PageCodec *codec, PageKind kind, uint32_t pgno, const uint8_t *disk, uint8_t *plain) {
  Layout at = layout_of(codec, 0);
  /* The spare bytes lie outside the tag: without this look a flipped bit in them would pass unseen. */
  if (!all_zero(disk + at.spare, PAGE_CHECK)) {
    memset(plain, 0, codec->page_size);
    return 0;
  }
  int opened = open_text(codec, kind, pgno, &at, disk, plain);
  memset(plain + at.nonce, 0, PAGE_RESERVE);
  return opened;
}

/* One AES block is a permutation of 16 bytes: a header that is written again needs no nonce and stays 24 bytes long. */
static void frame_header_vector(uint64_t offset, const uint8_t *header, uint8_t vector[CIPHER_BLOCK]) {
  put_u64(vector, offset);
  memcpy(vector + 8, header, 8);
}

void frame_header_seal(const PageCodec *codec, uint64_t offset, const uint8_t *plain, uint8_t *disk) {
  uint8_t block[CIPHER_BLOCK];
  frame_header_vector(offset, plain, block);
  for (size_t i = 0; i < CIPHER_BLOCK; i++) block[i] ^= plain[8 + i];
  memcpy(disk, plain, 8);
  cipher_encrypt_block(codec->log_key, block, disk + 8);
}

void frame_header_open(const PageCodec *codec, uint64_t offset, const uint8_t *disk, uint8_t *plain) {
  uint8_t vector[CIPHER_BLOCK];
  frame_header_vector(offset, disk, vector);
  memcpy(plain, disk, 8);
  cipher_decrypt_block(codec->log_key, disk + 8, plain + 8);
  for (size_t i = 0; i < CIPHER_BLOCK; i++) plain[8 + i] ^= vector[i];
}

void journal_checksum_mask(const PageCodec *codec, const uint8_t *image, uint8_t mask[4]) {
  Layout at = layout_of(codec, 0);
  uint8_t block[CIPHER_BLOCK];
  memcpy(block, image + at.nonce, CIPHER_NONCE);
  memcpy(block + CIPHER_NONCE, FORMAT_MARK, 4);
  cipher_encrypt_block(codec->log_key, block, block);
  memcpy(mask, block, 4);
}

void key_check_value(const uint8_t check_key[CIPHER_KEY], uint8_t check[PAGE_CHECK]) {
  static const uint8_t QUESTION[CIPHER_BLOCK + 1] = "svc-crypt-kcv-v1";
  BlockKey key;
  uint8_t answer[CIPHER_BLOCK];
  cipher_expand(&key, check_key);
  cipher_encrypt_block(&key, QUESTION, answer);
  memcpy(check, answer, PAGE_CHECK);
  cipher_wipe(&key, sizeof key);
}
