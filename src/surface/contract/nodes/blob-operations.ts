import { z } from "zod";
import { missing } from "../../../domain/errors.ts";
import { type KeptBlob, parseBlobKey } from "../../../domain/node.ts";
import { noted, type View } from "../../../lib/form.ts";
import type { Json } from "../../../lib/json.ts";
import { anyOwnerInQuery } from "../core/fields.ts";
import { defineOperation, found } from "../core/operation.ts";
import { httpField, parsed } from "../core/request.ts";

const keyIn = z.string().meta({
  description: "Of the picture: `metadata.thumbnail` of an event.",
  minLength: 1,
  maxLength: 256,
  examples: ["frames/5f70bf18.jpg"],
});

const blobView: View<KeptBlob> = noted(
  {
    shape: { kind: "bytes" },
    // SAFETY: bytes are no JSON; what answers over HTTP writes them as they are.
    json: (blob) => blob as unknown as Json,
  },
  { description: "Of the type of the picture; `application/octet-stream` for what is none." },
);

/** What events name. */
export const getBlobOperation = defineOperation({
  name: "get_blob",
  summary: "Read a picture of an event",
  description:
    "The bytes of what events name, such as the thumbnail of a photo. They never change.",
  request: {
    blob_key: parsed(httpField(keyIn), parseBlobKey),
    user_id: anyOwnerInQuery,
  },
  run: async ({ engine }, { blobKey, userId }) =>
    found(engine().readBlob(blobKey, { userId }), () =>
      missing("blob", blobKey, `Blob '${blobKey}' not found`),
    ),
  answer: blobView,
  http: { route: "get /v1/blobs/{blob_key}", statuses: [404] },
});
