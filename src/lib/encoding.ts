const ALPHABET = /^[A-Za-z0-9_-]*$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The UTF-8 bytes of a text as URL-safe base64 without padding (RFC 4648, section 5). */
export function toBase64Url(text: string): string {
  return new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The text of which `toBase64Url` made this; undefined for anything that it never produces. */
export function fromBase64Url(encoded: string): string | undefined {
  // The decoder would skip blanks and accept padding.
  if (!ALPHABET.test(encoded)) return undefined;
  try {
    const text = UTF8.decode(Uint8Array.fromBase64(encoded, { alphabet: "base64url" }));
    // The decoder drops left-over bits of the last character, so that several texts mean the same bytes.
    return toBase64Url(text) === encoded ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Compresses the UTF-8 bytes of `text` with Zstandard. @param level 1 to 22 */
export function compressText(text: string, level: number): Uint8Array {
  return Bun.zstdCompressSync(text, { level });
}

/** The text that `compressText` was given. @throws Error for other bytes */
export function decompressText(bytes: Uint8Array): string {
  return Bun.zstdDecompressSync(bytes).toString();
}
