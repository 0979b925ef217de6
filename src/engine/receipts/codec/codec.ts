import { sha256HexOfBytes } from "../../../lib/hashing.ts";
import type { BuiltReceipt } from "../build.ts";
import { readBody, writeBody } from "./body.ts";

/** First byte of a stored receipt: without the name of a client, with one, and with how long the answer took before the name. */
const FORMAT = 1;
const FORMAT_WITH_CLIENT = 2;
const FORMAT_WITH_TIME = 3;
const TIME_BYTES = 4;
/** Bytes of the digest over everything that follows it. */
const DIGEST_BYTES = 8;
const CHECKSUM_BYTES = 32;
const BODY_AT = 1 + DIGEST_BYTES + CHECKSUM_BYTES;

/** A stored receipt: with the checksum of its canonical text. */
export type StoredForm = BuiltReceipt & { readonly checksum: string };

/**
 * The stored form of a receipt without problems: format, digest, checksum, what is known of the time and the client, body. Lossless;
 * compressible parts come first, so that the store can make it smaller still.
 */
export function encodeReceipt({ checksum, ...built }: StoredForm): Uint8Array {
  const body = writeBody(built);
  const beside = besideBytes(built.record);
  const bytes = new Uint8Array(BODY_AT + beside.length + body.length);
  bytes[0] = formatOf(built.record);
  bytes.set(Uint8Array.fromHex(checksum), 1 + DIGEST_BYTES);
  bytes.set(beside, BODY_AT);
  bytes.set(body, BODY_AT + beside.length);
  bytes.set(digestOf(bytes), 1);
  return bytes;
}

/** @throws RangeError, FormError for bytes that `encodeReceipt` did not write, or that have changed since */
export function decodeReceipt(bytes: Uint8Array): StoredForm {
  const [format = 0] = bytes;
  if (format < FORMAT || format > FORMAT_WITH_TIME) {
    throw new RangeError(`format ${bytes[0]} is not known`);
  }
  if (bytes.length < BODY_AT) throw new RangeError("the bytes end too early");
  const written = bytes.subarray(1, 1 + DIGEST_BYTES).toHex();
  if (digestOf(bytes).toHex() !== written) throw new RangeError("the bytes were changed");
  const checksum = bytes.subarray(1 + DIGEST_BYTES, BODY_AT).toHex();
  const rest = bytes.subarray(BODY_AT);
  if (format === FORMAT) return { ...readBody(rest), checksum };
  const at = format === FORMAT_WITH_TIME ? TIME_BYTES : 0;
  const view = new DataView(rest.buffer, rest.byteOffset);
  const bodyAt = at + 2 + view.getUint16(at);
  const client = new TextDecoder().decode(rest.subarray(at + 2, bodyAt));
  const { receipt, record } = readBody(rest.subarray(bodyAt));
  const beside = {
    ...(client !== "" && { client }),
    ...(at > 0 && { timingMs: view.getUint32(0) }),
  };
  return { receipt, record: { ...record, ...beside }, checksum };
}

type Beside = Pick<StoredForm["record"], "client" | "timingMs">;

function formatOf({ client, timingMs }: Beside): number {
  if (timingMs !== undefined) return FORMAT_WITH_TIME;
  return client === undefined ? FORMAT : FORMAT_WITH_CLIENT;
}

/** The time in four bytes if it is known, then the name of the client in UTF-8 after its length in two bytes; nothing without either. */
function besideBytes({ client, timingMs }: Beside): Uint8Array {
  if (client === undefined && timingMs === undefined) return new Uint8Array();
  const text = new TextEncoder().encode(client ?? "");
  const at = timingMs === undefined ? 0 : TIME_BYTES;
  const bytes = new Uint8Array(at + 2 + text.length);
  const view = new DataView(bytes.buffer);
  if (timingMs !== undefined) view.setUint32(0, timingMs);
  view.setUint16(at, text.length);
  bytes.set(text, at + 2);
  return bytes;
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.fromHex(sha256HexOfBytes(bytes.subarray(1 + DIGEST_BYTES))).subarray(
    0,
    DIGEST_BYTES,
  );
}
