import { invalid } from "./errors.ts";

/** Bytes that an event names, such as the thumbnail of a photo. The key names the content. */
export type KeptBlob = {
  readonly key: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
};

/** The most that the setting `blob_max_bytes` may allow. */
export const BLOB_LIMIT_BYTES = 16_777_216;
/** Printable ASCII without blanks; in a URL it is a part of a path. */
export const BLOB_KEY = /^[!-~]{1,256}$/;
export const MEDIA_TYPE = /^[a-z0-9][a-z0-9.+-]{0,63}\/[a-z0-9][a-z0-9.+-]{0,63}$/;

/** The key of a blob. @throws SvcError invalid_argument */
export function parseBlobKey(value: unknown, field = "key"): string {
  if (typeof value === "string" && BLOB_KEY.test(value)) return value;
  throw invalid(field, "must be 1 to 256 printable ASCII characters without blanks");
}

/**
 * Blobs that are to be kept. Absent: none.
 * @throws SvcError invalid_argument
 */
export function parseBlobs(
  blobs: readonly KeptBlob[] | undefined,
  { blobMaxBytes }: { readonly blobMaxBytes: number },
): readonly KeptBlob[] {
  return (blobs ?? []).map(({ key, mediaType, bytes }, place) => {
    const field = `blobs[${place}]`;
    parseBlobKey(key, `${field}.key`);
    if (!MEDIA_TYPE.test(mediaType)) {
      throw invalid(`${field}.media_type`, "must be a media type such as image/jpeg");
    }
    if (bytes.length === 0) throw invalid(`${field}.bytes`, "is empty");
    if (bytes.length <= blobMaxBytes) return { key, mediaType, bytes };
    throw invalid(
      `${field}.bytes`,
      `has ${bytes.length} bytes, at most ${blobMaxBytes} (setting blob_max_bytes)`,
    );
  });
}
