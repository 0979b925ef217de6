import type { KeptBlob } from "../../domain/node.ts";
import { NO_FRAME } from "../listener/answers.ts";
/** Types that a browser shows as a picture. Others may contain code, including SVG, and are only downloaded. */
export const SHOWN_TYPES = [
  "image/jpeg",
  "image/png",
  "image/webp",
  "image/gif",
  "image/avif",
] as const;
/** The type of everything else. */
export const OTHER_TYPE = "application/octet-stream";

/** In any case nothing in it runs, its type is not sniffed, other sites cannot embed it, and shared caches do not keep it. */
const HEADERS = {
  "content-security-policy": `default-src 'none'; sandbox; ${NO_FRAME}`,
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  // A forgotten picture must no longer be shown: the browser revalidates each time, and gets 304 while it exists.
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

/** Whether `If-None-Match` matches an answer. */
export function isNamed(header: string | null, etag: string): boolean {
  const names = header?.split(",").map((name) => name.trim().replace(/^W\//, "")) ?? [];
  return names.includes(etag) || names.includes("*");
}
