import { SvcError } from "../../../domain/errors.ts";
import { parseUuid, type Uuid } from "../../../lib/uuid.ts";

/** A body as stored in a row: compressed with Zstandard, or uncompressed if that is no longer. */
export type StoredBody = { readonly bytes: Uint8Array; readonly isCompressed: boolean };

/** A fast level. Compact receipts are mostly hashes and numbers, on which slower levels save next to nothing more. */
const LEVEL = 1;

/** The shorter of the two forms of a body. */
export function packBody(body: Uint8Array): StoredBody {
  const compressed = Bun.zstdCompressSync(body, { level: LEVEL });
  const isCompressed = compressed.length < body.length;
  return { bytes: isCompressed ? compressed : body, isCompressed };
}

/** The body that was passed to `packBody`. @throws SvcError storage_failed naming the request if the bytes are damaged */
export function unpackBody({ bytes, isCompressed }: StoredBody, requestId: Uuid): Uint8Array {
  if (!isCompressed) return bytes;
  const body = decompressed(bytes, requestId);
  // Callers get a plain Uint8Array, whichever form was stored.
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
}

function decompressed(bytes: Uint8Array, requestId: Uuid): Uint8Array {
  try {
    return Bun.zstdDecompressSync(bytes);
  } catch (cause) {
    const message = `the receipt of retrieval ${requestId} is damaged: it cannot be decompressed`;
    throw new SvcError("storage_failed", message, { request_id: requestId }, { cause });
  }
}

/** A row of the table of receipts. */
export type ReceiptRow = {
  readonly key: number;
  readonly request_id: Uint8Array;
  readonly user_id: string;
  readonly created_at: string;
  readonly is_compressed: number;
  readonly body: Uint8Array;
};

/** The body of a row. @throws SvcError storage_failed naming the request if it is damaged */
export function bodyOf(
  { is_compressed: compressed, body }: Pick<ReceiptRow, "is_compressed" | "body">,
  requestId: Uuid,
): Uint8Array {
  return unpackBody({ bytes: body, isCompressed: compressed === 1 }, requestId);
}

/** The 16 bytes of an id. */
export function toIdBytes(id: Uuid): Uint8Array {
  return Uint8Array.fromHex(id.replaceAll("-", ""));
}

/** The id of 16 bytes. */
export function fromIdBytes(bytes: Uint8Array): Uuid {
  const id = parseUuid(bytes.toHex());
  if (id === undefined) throw new SvcError("internal", "a receipt has an id of another length");
  return id;
}
