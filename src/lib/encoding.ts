/** The UTF-8 bytes of a text as URL-safe base64 without padding (RFC 4648, section 5). */
export function toBase64Url(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** The text that this encodes; undefined for anything `toBase64Url` never produces. */
export function fromBase64Url(encoded: string): string | undefined {
  const text = Buffer.from(encoded, "base64url").toString();
  return toBase64Url(text) === encoded ? text : undefined;
}

/** Compresses the UTF-8 bytes of `text` with Zstandard. @param level 1 to 22 */
export function compressText(text: string, level: number): Uint8Array {
  return Bun.zstdCompressSync(text, { level });
}

/** The text given to `compressText`. @throws Error for other bytes */
export function decompressText(bytes: Uint8Array): string {
  return Bun.zstdDecompressSync(bytes).toString();
}
