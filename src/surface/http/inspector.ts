import { gunzipSync } from "node:zlib";
import { refuseMethod } from "../listener/answers.ts";
import type { HttpApp } from "./app-env.ts";
import { isNamed } from "./etag.ts";
import type { InspectorFile } from "./inspector-files.ts";

/** Where the inspector lies. */
export const INSPECTOR_PATH = "/inspect/";
/** What stands for all of its paths in the log. */
const ROUTE = "/inspect/*";

/**
 * Text goes into text nodes only: nothing is loaded from elsewhere, no script and no style stands in the page, and a text never
 * becomes markup or code.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
  vary: "accept-encoding",
};

/** How a program that runs from source gets the page. */
const NOT_BUILT =
  "The inspector is part of the executable. Build it with `bun scripts/build.ts`, or run `bun scripts/inspector.ts`, which serves the page from source.\n";

/** Serves the inspector's page and its files, without a key: they hold no memory, and the page asks for a key itself. */
export function addInspector(app: HttpApp): void {
  app.get(INSPECTOR_PATH.slice(0, -1), (context) => {
    context.set("route", ROUTE);
    return new Response(null, { status: 308, headers: { location: INSPECTOR_PATH } });
  });
  app.get(`${INSPECTOR_PATH}*`, async (context) => {
    context.set("route", ROUTE);
    const { INSPECTOR_FILES } = await import("./inspector-files.ts");
    const name = context.req.path.slice(INSPECTOR_PATH.length);
    return answerFile(INSPECTOR_FILES, name, context.req.raw.headers);
  });
  app.all(`${INSPECTOR_PATH}*`, (context) => {
    context.set("route", ROUTE);
    return refuseMethod("GET, HEAD");
  });
}

/** A file of that name, else the page, whose addresses are its views. */
export function answerFile(
  files: Readonly<Record<string, InspectorFile>>,
  name: string,
  request: Headers,
): Response {
  const isFile = name !== "" && Object.hasOwn(files, name);
  const file = files[isFile ? name : ""];
  if (file === undefined) {
    const headers = { ...HEADERS, "content-type": "text/plain; charset=utf-8" };
    return new Response(NOT_BUILT, { status: 404, headers });
  }
  const headers = new Headers({
    ...HEADERS,
    "content-type": file.type,
    etag: file.etag,
    // The name of a file changes with its content, the page's does not.
    "cache-control": isFile ? "public, max-age=31536000, immutable" : "no-cache",
  });
  if (isNamed(request.get("if-none-match"), file.etag)) {
    return new Response(null, { status: 304, headers });
  }
  if (!acceptsGzip(request.get("accept-encoding"))) {
    return new Response(unpacked(file), { headers });
  }
  headers.set("content-encoding", "gzip");
  return new Response(Buffer.from(file.gzip, "base64"), { headers });
}

const UNPACKED = new WeakMap<InspectorFile, Uint8Array<ArrayBuffer>>();

/** A file as it is, unpacked once: it costs time, and anybody may ask for it. */
export function unpacked(file: InspectorFile): Uint8Array<ArrayBuffer> {
  const bytes = UNPACKED.get(file) ?? new Uint8Array(gunzipSync(Buffer.from(file.gzip, "base64")));
  UNPACKED.set(file, bytes);
  return bytes;
}

function acceptsGzip(header: string | null): boolean {
  return /(?:^|[\s,])(?:gzip|\*)\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i.test(header ?? "");
}
