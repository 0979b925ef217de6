import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";

/**
 * Program code gains a fifth with the higher level, which takes a minute. Weights are nearly random: there it finds repetitions that
 * are none, and the file grows by one to three hundredths.
 */
const LEVELS = { quick: 3, thorough: 19 } as const;
/** Share of its size from which a compressed file counts as random. */
const RANDOM_FROM = 0.6;

/** A file as it lies in the executable. */
export type CompressedFile = {
  /** Absolute path of its zstd-compressed content. */
  readonly path: string;
  /** SHA-256 of what it unpacks to, 64 lower-case hex digits. */
  readonly sha256: string;
};

/** Compresses a file as {@link compressContent} does. */
export async function compressFile(root: string, source: string): Promise<CompressedFile> {
  return await compressContent(root, await Bun.file(source).bytes());
}

/** Compresses bytes as far as they can be, unless that was done before: `node_modules/.cache` keeps results by their content. */
export async function compressContent(
  root: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<CompressedFile> {
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const folder = join(root, "node_modules/.cache/zstd");
  const path = join(folder, `${sha256}.zst`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    const partial = `${path}.${process.pid}`;
    await Bun.write(partial, await compressed(content));
    renameSync(partial, path);
  }
  return { path, sha256 };
}

async function compressed(content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const quick = await Bun.zstdCompress(content, { level: LEVELS.quick });
  if (quick.length >= RANDOM_FROM * content.length) return quick;
  return await Bun.zstdCompress(content, { level: LEVELS.thorough });
}
