import { asInstant } from "../../../lib/instant.ts";
import { asUuid } from "../../../lib/uuid.ts";
import type { StoredReceipt } from "../../../ports/store/records.ts";

export type ReceiptRow = {
  readonly request_id: string;
  readonly user_id: string;
  readonly created_at: string;
  readonly body: Uint8Array;
};

export function toReceipt({
  request_id,
  user_id: userId,
  created_at,
  body,
}: ReceiptRow): StoredReceipt {
  return {
    requestId: asUuid(request_id),
    userId,
    createdAt: asInstant(created_at),
    // A plain array, whatever the driver gives.
    body: new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
  };
}
