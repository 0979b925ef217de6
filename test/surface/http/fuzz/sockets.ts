/** Requests as bytes on a connection, framed as no client of good faith would. */
import fc, { type Arbitrary } from "fast-check";
import { type Bench, complaintAbout } from "./judge.ts";
import type { FuzzRequest } from "./requests.ts";

export type Framing = {
  readonly body: "length" | "chunks" | "both" | "none" | "bad chunk" | "bad length";
  /** `hang up`: the connection is cut before the request is complete. */
  readonly ending: "wait" | "hang up";
  /** Of the pieces in which the bytes are sent. */
  readonly pieces: number;
  readonly extra: readonly string[];
};

export const framing: Arbitrary<Framing> = fc.record({
  body: fc.oneof(
    { weight: 4, arbitrary: fc.constant("length" as const) },
    { weight: 3, arbitrary: fc.constant("chunks" as const) },
    { weight: 2, arbitrary: fc.constantFrom("both", "none", "bad chunk", "bad length") },
  ),
  ending: fc.oneof(
    { weight: 4, arbitrary: fc.constant("wait" as const) },
    { weight: 1, arbitrary: fc.constant("hang up" as const) },
  ),
  pieces: fc.constantFrom(1, 1, 2, 7),
  extra: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ["Expect: 100-continue"],
        ["Host: evil.test"],
        ["X-Junk: \u00ff\u00fe"],
        [" folded: yes"],
        ["no colon"],
        ["Transfer-Encoding: gzip"],
        ["Upgrade: websocket"],
        [`X-Long: ${"x".repeat(9000)}`],
      ),
    },
  ),
});

/** The owner of everything whose sender hangs up; nothing of it may be stored. */
export const CUT_OWNER = "cut";

/** Statuses with which the server answers what is no proper request, without a body. */
const IMPROPER = [400, 411, 413, 414, 417, 431, 501, 505];

/** The bytes of a request in pieces. */
export function framed(request: FuzzRequest, how: Framing): readonly Uint8Array[] {
  const isCut = how.ending === "hang up";
  const content = isCut
    ? JSON.stringify({ content: "tea", user_id: CUT_OWNER })
    : (request.body ?? "");
  const body = Buffer.from(content);
  const method = isCut ? "POST" : request.method;
  const target = isCut ? "/v1/store" : request.target;
  const head = [
    `${method} ${target} HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    ...(isCut ? ["Content-Type: application/json"] : fieldsOf(request)),
    ...(isCut ? ["Content-Length: 5000"] : lengthOf(how.body, body)),
    ...(isCut ? [] : how.extra),
    "",
    "",
  ].join("\r\n");
  const sent = isCut ? body : contentOf(how.body, body);
  return cutUp(Buffer.concat([Buffer.from(head, "latin1"), sent]), how.pieces);
}

function fieldsOf({ headers }: FuzzRequest): readonly string[] {
  return headers.map(([name, value]) => `${name}: ${value}`);
}

function lengthOf(how: Framing["body"], body: Buffer): readonly string[] {
  switch (how) {
    case "length":
      return [`Content-Length: ${body.length}`];
    case "both":
      return [`Content-Length: ${body.length}`, "Transfer-Encoding: chunked"];
    case "bad length":
      return ["Content-Length: -5"];
    case "none":
      return [];
    default:
      return ["Transfer-Encoding: chunked"];
  }
}

function contentOf(how: Framing["body"], body: Buffer): Buffer {
  if (how === "none") return Buffer.alloc(0);
  if (how === "bad chunk") return Buffer.from("zz\r\ntea\r\n0\r\n\r\n");
  if (how !== "chunks" && how !== "both") return body;
  const half = Math.ceil(body.length / 2);
  const chunks = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  return Buffer.concat([
    ...chunks.flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from("\r\n"),
    ]),
    Buffer.from("0\r\n\r\n"),
  ]);
}

function cutUp(bytes: Buffer, pieces: number): readonly Uint8Array[] {
  const size = Math.ceil(bytes.length / pieces);
  return Array.from({ length: pieces }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

/** Says what is wrong with the bytes that came back; undefined when nothing is. */
export function complaintAboutBytes(
  bench: Bench,
  request: FuzzRequest,
  how: Framing,
  received: string,
): string | undefined {
  const end = received.indexOf("\r\n\r\n");
  const head = received.slice(0, Math.max(end, 0));
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  const text = Buffer.from(received.slice(end + 4), "latin1").toString("utf8");
  if (Number.isNaN(status)) {
    // Whoever sends no proper request may find the door shut without a word.
    return received === "" && !isProper(request, how)
      ? undefined
      : `is ${JSON.stringify(received.slice(0, 200))}`;
  }
  if (IMPROPER.includes(status) && text === "")
    return isProper(request, how) ? `is ${status}` : undefined;
  if (!isProper(request, how)) return status === 500 ? "is 500" : undefined;
  const contentType = /^content-type: (.*)$/im.exec(head)?.[1]?.trim() ?? null;
  return complaintAbout(bench, request, { status, contentType, text });
}

/** Characters of request line and headers that a server has to read; the limit is 16 KB with what it adds. */
const MAX_HEAD = 12_000;

/** Whether a server has to understand it. */
function isProper({ target, headers }: FuzzRequest, { body, extra }: Framing): boolean {
  const head = target.length + headers.reduce((sum, pair) => sum + pair.join(": ").length, 0);
  return head <= MAX_HEAD && extra.length === 0 && (body === "length" || body === "chunks");
}
