/** A file inside the executable. */
export type EmbeddedAsset = {
  /** Its path inside the executable, zstd-compressed: readable with `fs`, but not a real file to the operating system. */
  readonly asset: string;
  /** Folder below the cache folder, for example `onnxruntime-1.30.0`. May contain slashes. */
  readonly group: string;
  /** File name below the group. May contain slashes. */
  readonly name: string;
  /** SHA-256 of the uncompressed content, 64 lower-case hex digits. */
  readonly sha256: string;
};

/**
 * The files inside the executable, by key. Empty when the program runs from source, where every file is on disk. The build
 * replaces this module with one that embeds the files of its target (see `scripts/build/`).
 */
export const EMBEDDED: Readonly<Record<string, EmbeddedAsset>> = {};
