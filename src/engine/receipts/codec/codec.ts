import { sha256HexOfBytes } from "../../../lib/hashing.ts";
import type { BuiltReceipt } from "../build.ts";
import { readBody, writeBody } from "./body.ts";

/** First byte of a stored receipt. */
const FORMAT = 1;
/** Bytes of the digest over everything that follows it. */
const DIGEST_BYTES = 8;
const CHECKSUM_BYTES = 32;
const BODY_AT = 1 + DIGEST_BYTES + CHECKSUM_BYTES;

/** A stored receipt: with the checksum of its canonical text. */
export type StoredForm = BuiltReceipt & { readonly checksum: string };

/**
 * The stored form of a receipt without problems: format, digest, checksum, body. Lossless; compressible parts come first, so that
 * the store can make it smaller still.
 */
export function encodeReceipt({ checksum, ...built }: StoredForm): Uint8Array {
  const body = writeBody(built);
  const bytes = new Uint8Array(BODY_AT + body.length);
  bytes[0] = FORMAT;
  bytes.set(Uint8Array.fromHex(checksum), 1 + DIGEST_BYTES);
  bytes.set(body, BODY_AT);
  bytes.set(digestOf(bytes), 1);
  return bytes;
}

/** @throws RangeError, FormError for bytes that `encodeReceipt` did not write, or that have changed since */
export function decodeReceipt(bytes: Uint8Array): StoredForm {
  if (bytes[0] !== FORMAT) throw new RangeError(`format ${bytes[0]} is not known`);
  if (bytes.length < BODY_AT) throw new RangeError("the bytes end too early");
  const written = bytes.subarray(1, 1 + DIGEST_BYTES).toHex();
  if (digestOf(bytes).toHex() !== written) throw new RangeError("the bytes were changed");
  const checksum = bytes.subarray(1 + DIGEST_BYTES, BODY_AT).toHex();
  return { ...readBody(bytes.subarray(BODY_AT)), checksum };
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.fromHex(sha256HexOfBytes(bytes.subarray(1 + DIGEST_BYTES))).subarray(
    0,
    DIGEST_BYTES,
  );
}
