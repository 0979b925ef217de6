/** Compresses the UTF-8 bytes of `text` with Zstandard. @param level 1 to 22 */
export function compressText(text: string, level: number): Uint8Array {
  return Bun.zstdCompressSync(text, { level });
}

/** The text that `compressText` was given. @throws Error for other bytes */
export function decompressText(bytes: Uint8Array): string {
  return Bun.zstdDecompressSync(bytes).toString();
}
