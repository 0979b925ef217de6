import { sha256HexOfBytes } from "../../../lib/hashing.ts";
import type { BuiltReceipt } from "../build.ts";
import { readBody, writeBody } from "./body.ts";

/** First byte of a stored receipt: without the name of a client, and with one. */
const FORMAT = 1;
const FORMAT_WITH_CLIENT = 2;
/** Bytes of the digest over everything that follows it. */
const DIGEST_BYTES = 8;
const CHECKSUM_BYTES = 32;
const BODY_AT = 1 + DIGEST_BYTES + CHECKSUM_BYTES;

/** A stored receipt: with the checksum of its canonical text. */
export type StoredForm = BuiltReceipt & { readonly checksum: string };

/**
 * The stored form of a receipt without problems: format, digest, checksum, name of the client if there is one, body. Lossless; compressible parts come first, so that
 * the store can make it smaller still.
 */
export function encodeReceipt({ checksum, ...built }: StoredForm): Uint8Array {
  const body = writeBody(built);
  const client = clientBytes(built.record.client);
  const bytes = new Uint8Array(BODY_AT + client.length + body.length);
  bytes[0] = client.length === 0 ? FORMAT : FORMAT_WITH_CLIENT;
  bytes.set(Uint8Array.fromHex(checksum), 1 + DIGEST_BYTES);
  bytes.set(client, BODY_AT);
  bytes.set(body, BODY_AT + client.length);
  bytes.set(digestOf(bytes), 1);
  return bytes;
}

/** @throws RangeError, FormError for bytes that `encodeReceipt` did not write, or that have changed since */
export function decodeReceipt(bytes: Uint8Array): StoredForm {
  if (bytes[0] !== FORMAT && bytes[0] !== FORMAT_WITH_CLIENT) {
    throw new RangeError(`format ${bytes[0]} is not known`);
  }
  if (bytes.length < BODY_AT) throw new RangeError("the bytes end too early");
  const written = bytes.subarray(1, 1 + DIGEST_BYTES).toHex();
  if (digestOf(bytes).toHex() !== written) throw new RangeError("the bytes were changed");
  const checksum = bytes.subarray(1 + DIGEST_BYTES, BODY_AT).toHex();
  if (bytes[0] === FORMAT) return { ...readBody(bytes.subarray(BODY_AT)), checksum };
  const bodyAt = BODY_AT + 2 + (bytes[BODY_AT] ?? 0) * 256 + (bytes[BODY_AT + 1] ?? 0);
  const client = new TextDecoder().decode(bytes.subarray(BODY_AT + 2, bodyAt));
  const { receipt, record } = readBody(bytes.subarray(bodyAt));
  return { receipt, record: { ...record, client }, checksum };
}

/** The name of a client in UTF-8 after its length in two bytes; nothing without a name. */
function clientBytes(client: string | undefined): Uint8Array {
  if (client === undefined) return new Uint8Array();
  const text = new TextEncoder().encode(client);
  const bytes = new Uint8Array(2 + text.length);
  bytes.set([text.length >> 8, text.length & 0xff]);
  bytes.set(text, 2);
  return bytes;
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.fromHex(sha256HexOfBytes(bytes.subarray(1 + DIGEST_BYTES))).subarray(
    0,
    DIGEST_BYTES,
  );
}
