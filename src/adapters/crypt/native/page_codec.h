/*
 * Pages as they lie on the disk. docs/pack-format.md is the specification; no file access happens here.
 *
 * Plain pages end in PAGE_RESERVE zero bytes (SQLite's "reserved space"), where the encrypted page keeps nonce and tag.
 */
#ifndef SVC_PAGE_CODEC_H
#define SVC_PAGE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "cipher.h"

enum {
  PAGE_SIZE_MIN = 512,
  PAGE_SIZE_MAX = 65536,
  PAGE_RESERVE = 32,
  PAGE_SALT = 16,
  PAGE_CHECK = 4,
  /* Bytes of page 1 that stay readable: the salt and what SQLite must know before it can read anything. */
  PAGE1_CLEAR = 24,
  PAGE1_FORMAT = 1,
  FRAME_HEADER = 24,
};

/* Where a page lies; authenticated with it, so that one cannot pass for another. */
typedef enum PageKind {
  PAGE_MAIN = 1,
  PAGE_WAL = 2,
  PAGE_JOURNAL = 3,
} PageKind;

/* All that the codec needs for one open file. The pointers are borrowed. */
typedef struct PageCodec {
  Gcm gcm;
  const BlockKey *log_key;
  const uint8_t *salt;  /* PAGE_SALT bytes */
  const uint8_t *check; /* PAGE_CHECK bytes */
  uint32_t page_size;
} PageCodec;

/* Whether the first PAGE1_CLEAR bytes of a file are those of an encrypted file. Says nothing about its key. */
int page1_is_encrypted(const uint8_t clear[PAGE1_CLEAR]);
/* The page size in bytes 16 and 17 of a header; 0 when it is none that SQLite allows. */
uint32_t page_size_in(const uint8_t *header);
void put_page_size(uint8_t *header, uint32_t page_size);

/*
 * A page of the main file. Returns 0 when the page must not be written: it is no SQLite page of this size with zero
 * reserved bytes, or there is no randomness. `disk` and `plain` must not overlap.
 */
int page_seal_main(PageCodec *codec, uint32_t pgno, const uint8_t *plain, uint8_t *disk);
/* Returns 0, with `plain` zeroed, when one bit of the page is not what was written. */
int page_open_main(PageCodec *codec, uint32_t pgno, const uint8_t *disk, uint8_t *plain);

/* The image of a page in the WAL or in a rollback journal. Page 1 has no readable part there. */
int page_seal_image(PageCodec *codec, PageKind kind, uint32_t pgno, const uint8_t *plain, uint8_t *disk);
int page_open_image(PageCodec *codec, PageKind kind, uint32_t pgno, const uint8_t *disk, uint8_t *plain);

/*
 * Hides the salts and the checksum in the last 16 bytes of a WAL frame header: the checksum is a sum over the plain
 * page. `offset` is the place of the header in the WAL.
 */
void frame_header_seal(const PageCodec *codec, uint64_t offset, const uint8_t *plain, uint8_t *disk);
void frame_header_open(const PageCodec *codec, uint64_t offset, const uint8_t *disk, uint8_t *plain);

/*
 * The four bytes that hide the checksum of a page image in a rollback journal, a sum over some bytes of the plain page.
 * They depend on the image's nonce and are combined by exclusive or. `image` is the page as on the disk.
 */
void journal_checksum_mask(const PageCodec *codec, const uint8_t *image, uint8_t mask[4]);

/* The PAGE_CHECK bytes at the end of page 1 that tell a right key from a wrong one before anything else is read. */
void key_check_value(const uint8_t check_key[CIPHER_KEY], uint8_t check[PAGE_CHECK]);

#endif
