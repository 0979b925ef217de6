import { SvcError } from "../../../domain/errors.ts";
import { parseUuid, type Uuid } from "../../../lib/uuid.ts";

/** A row of the table of receipts. */
export type ReceiptRow = {
  readonly key: number;
  readonly request_id: Uint8Array;
  readonly user_id: string;
  readonly created_at: string;
  readonly body: Uint8Array;
};

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
