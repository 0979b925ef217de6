import { parseOwner } from "../../domain/arguments.ts";
import { type KeptBlob, parseBlobKey } from "../../domain/blob.ts";
import type { Blobs } from "../../ports/store/blobs.ts";
import type { EngineDeps } from "../deps.ts";
import type { BlobOptions } from "./api.ts";

/** What an event names; undefined for an unknown key, or one of another owner. @throws SvcError invalid_argument */
export async function findBlob(
  { store }: Pick<EngineDeps<Blobs>, "store">,
  key: string,
  options: BlobOptions | null | undefined,
): Promise<KeptBlob | undefined> {
  return await store.blob(parseBlobKey(key), parseOwner(options?.userId));
}
