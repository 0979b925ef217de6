import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";

/** Better ones gain nothing; this one takes a minute for a model, so results are kept. */
const LEVEL = 19;

/** A file as it lies in the executable. */
export type CompressedFile = {
  /** Absolute path of its zstd-compressed content. */
  readonly path: string;
  /** SHA-256 of what it unpacks to, 64 lower-case hex digits. */
  readonly sha256: string;
};

/** Compresses a file, unless that was done before: results are kept in `node_modules/.cache` under the hash of the content. */
export async function compressFile(root: string, source: string): Promise<CompressedFile> {
  const content = await Bun.file(source).bytes();
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const folder = join(root, "node_modules/.cache/zstd");
  const path = join(folder, `${sha256}-${LEVEL}.zst`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    const partial = `${path}.${process.pid}`;
    await Bun.write(partial, await Bun.zstdCompress(content, { level: LEVEL }));
    renameSync(partial, path);
  }
  return { path, sha256 };
}
