/** A file carried inside the executable. */
export type EmbeddedAsset = {
  /** Where the executable holds it: readable with `fs`, but no real file to the operating system. */
  readonly asset: string;
  /** Folder below the cache folder, for example `sqlite-vec-0.1.9`. May hold slashes. */
  readonly group: string;
  /** File name below the group. May hold slashes. */
  readonly name: string;
  /** SHA-256 of the content, 64 lower-case hex digits. */
  readonly sha256: string;
};

/**
 * The files inside the executable, by key. Empty when the program runs from source, where every file is found on disk.
 * The build replaces this module by one that embeds the files of its target (see `scripts/build/`).
 */
export const EMBEDDED: Readonly<Record<string, EmbeddedAsset>> = {};
