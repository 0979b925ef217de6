import { type AnyReceipt, isLean, leanForm, receiptForm } from "../../domain/records/receipt.ts";
import { type RetrievalRecord, recordForm } from "../../domain/records/retrieval-record.ts";
import { compressText, decompressText } from "../../lib/encoding.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { BuiltReceipt } from "./build.ts";

/** A receipt as canonical JSON. @throws FormError for a number that JSON does not have */
export function receiptText(receipt: AnyReceipt): string {
  return JSON.stringify(isLean(receipt) ? leanForm.json(receipt) : receiptForm.json(receipt));
}

/** SHA-256 of canonical JSON, 64 lower-case hex digits: the checksum of a receipt. */
export function receiptChecksum(canonical: string): string {
  return sha256Hex(canonical);
}

/** First byte of a stored receipt. */
const ENCODING = 1;
/** Bytes of the digest over everything that follows it. */
const DIGEST_BYTES = 8;
const CHECKSUM_BYTES = 32;
const TEXT_AT = 1 + DIGEST_BYTES + CHECKSUM_BYTES;
/** Receipts are mostly hashes and numbers: higher levels save next to nothing. */
const LEVEL = 1;

/** The parts of a stored receipt: its canonical text, the checksum of that, and the index record. */
export type StoredParts = {
  readonly text: string;
  readonly checksum: string;
  readonly record: RetrievalRecord;
};

export type StoredForm = BuiltReceipt<AnyReceipt> & StoredParts;

/**
 * The stored form of a receipt: encoding, digest, checksum, then Zstandard of the canonical text, a line feed, and the index record in the
 * same form. Lossless.
 */
export function encodeReceipt({ text, checksum, record }: StoredParts): Uint8Array {
  const both = `${text}\n${JSON.stringify(recordForm.json(record))}`;
  const packed = compressText(both, LEVEL);
  const bytes = new Uint8Array(TEXT_AT + packed.length);
  bytes[0] = ENCODING;
  bytes.set(Uint8Array.fromHex(checksum), 1 + DIGEST_BYTES);
  bytes.set(packed, TEXT_AT);
  bytes.set(digestOf(bytes), 1);
  return bytes;
}

/** @throws RangeError, FormError for bytes not written by `encodeReceipt`, or changed since */
export function decodeReceipt(bytes: Uint8Array): StoredForm {
  const { text, told, checksum, record } = openReceipt(bytes);
  const form = "detail" in told ? leanForm : receiptForm;
  const receipt = form.read(told, "receipt");
  return { receipt, record: recordForm.read(record, "record"), text, checksum };
}

type Opened = Pick<StoredParts, "text" | "checksum"> & {
  /** The receipt as JSON. */
  readonly told: JsonObject & {
    readonly query: string;
    readonly candidates: readonly (JsonObject & {
      readonly node_id: string;
      readonly reasons?: Json;
    })[];
  };
  /** The index record as JSON. */
  readonly record: JsonObject;
  /** Of the record. */
  readonly client: string | undefined;
};

/** A stored receipt as JSON, several times as fast as `decodeReceipt`. @throws RangeError */
export function openReceipt(bytes: Uint8Array): Opened {
  if (bytes[0] !== ENCODING) throw new RangeError(`encoding ${bytes[0]} is not known`);
  if (bytes.length < TEXT_AT) throw new RangeError("the bytes end too early");
  const written = bytes.subarray(1, 1 + DIGEST_BYTES).toHex();
  if (digestOf(bytes).toHex() !== written) throw new RangeError("the bytes were changed");
  const [text = "", record = ""] = decompressText(bytes.subarray(TEXT_AT)).split("\n");
  const checksum = bytes.subarray(1 + DIGEST_BYTES, TEXT_AT).toHex();
  // The digest proves that `encodeReceipt` wrote both.
  const beside: JsonObject & { readonly client?: string } = JSON.parse(record);
  return { text, told: JSON.parse(text), checksum, record: beside, client: beside.client };
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.fromHex(sha256Hex(bytes.subarray(1 + DIGEST_BYTES))).subarray(0, DIGEST_BYTES);
}
