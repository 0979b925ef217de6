import type { FootageInput, PhotoIdentity } from "../../ports/footage.ts";
import { type Found, findSource } from "./find-source.ts";
import { FOOTAGE_LIMITS } from "./limits.ts";
import { mediaKind } from "./media-kind.ts";
import { Refusal } from "./messages.ts";
import { hashSource } from "./source-file.ts";

/** Hex digits of the hash in the name of bytes that nobody named. */
const HASH_IN_NAME = 12;

/** The name of a source. */
export function nameOf({ name }: Pick<Found, "name">, sha256: string): string {
  return name ?? `bytes:${sha256.slice(0, HASH_IN_NAME)}`;
}

/** @throws SvcError as `FootageReader.identify` */
export async function identifyPhoto(
  input: FootageInput,
  sourceName: string | undefined,
): Promise<PhotoIdentity | undefined> {
  const found = findSource(input, sourceName);
  const { path, bytes = new Uint8Array(0), leading, fileName = "" } = found;
  const size = path === undefined ? bytes.length : Bun.file(path).size;
  const isReadable = size <= FOOTAGE_LIMITS.photo.bytes;
  if (!isReadable || mediaKind(fileName, leading) !== "photo") return undefined;
  try {
    const sha256 =
      path === undefined
        ? new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
        : (await hashSource(path)).sha256;
    return { name: nameOf(found, sha256), path, sha256 };
  } catch (error) {
    // Opening it says what is wrong.
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
