import type { KeptBlob } from "../../domain/node.ts";
import { NO_FRAME } from "../listener/answers.ts";
/** What a browser shows as a picture. Everything else may hold code, also a picture in SVG, and is only handed over. */
export const SHOWN_TYPES = [
  "image/jpeg",
  "image/png",
  "image/webp",
  "image/gif",
  "image/avif",
] as const;
/** The type of everything else. */
export const OTHER_TYPE = "application/octet-stream";

/** Whatever it is: nothing in it runs, nothing guesses its type, no other site embeds it, and no shared cache keeps it. */
const HEADERS = {
  "content-security-policy": `default-src 'none'; sandbox; ${NO_FRAME}`,
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  // A picture that was forgotten must not be shown any more: the browser asks each time, and gets 304 while it is there.
  "cache-control": "private, no-cache",
  vary: "authorization",
};

/** A blob over HTTP. @param request headers of the request */
export function answerBlob({ mediaType, bytes }: KeptBlob, request: Headers): Response {
  const etag = `"${Bun.SHA256.hash(bytes, "hex")}"`;
  const isShown = SHOWN_TYPES.some((type) => type === mediaType);
  const headers = {
    ...HEADERS,
    etag,
    "content-type": isShown ? mediaType : OTHER_TYPE,
    "content-disposition": isShown ? "inline" : "attachment",
  };
  if (isNamed(request.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  return new Response(new Uint8Array(bytes), { headers });
}

/** Whether `If-None-Match` names an answer. */
export function isNamed(header: string | null, etag: string): boolean {
  const names = header?.split(",").map((name) => name.trim().replace(/^W\//, "")) ?? [];
  return names.includes(etag) || names.includes("*");
}
