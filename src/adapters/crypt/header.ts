/** The unencrypted bytes of a file: salt, page size, format. */
const CLEAR_BYTES = 24;
const FORMAT_VERSION = 1;
const RESERVED_BYTES = 32;

/** Whether a file's first bytes are those of an encrypted pack. Says nothing about its key. */
export function isEncryptedHeader(header: Uint8Array): boolean {
  if (header.length < CLEAR_BYTES) return false;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const isOurs =
    view.getUint8(20) === RESERVED_BYTES &&
    view.getUint8(21) === FORMAT_VERSION &&
    view.getUint16(22) === 0;
  return isOurs && isPageSize(view.getUint16(16)) && !isPlainHeader(header);
}

/** SQLite writes a page of 65536 bytes as 1. */
function isPageSize(stored: number): boolean {
  return stored === 1 || (stored >= 512 && (stored & (stored - 1)) === 0);
}

function isPlainHeader(header: Uint8Array): boolean {
  return Buffer.from(header.subarray(0, 15)).toString("latin1") === "SQLite format 3";
}
