import { invalid, SvcError } from "../../domain/errors.ts";
import { refuse } from "./answers.ts";
import type { BodyRoom } from "./body-room.ts";
import { complaintAboutJson } from "./json-bounds.ts";

/** Bytes of the largest request body: 10 MiB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Bytes of all bodies under way together, the small ones not counted. */
export const BODY_ROOM_BYTES = 64 * 1024 * 1024;
/** Bytes up to which a body is read at once: slow large ones must not hold up small ones. */
const SMALL_BODY_BYTES = 64 * 1024;

export type BodyOptions = {
  /** Whether no body is as good as an empty object. */
  readonly isOptional: boolean;
  /** Milliseconds that a caller may take to send it. */
  readonly timeoutMs: number;
  readonly room: BodyRoom;
  /** Called when it is our turn to wait for room (`server`), and the caller's again to send. */
  readonly turn: (of: "server" | "caller") => void;
};

/**
 * Reads a JSON body and answers with it; its room is given back when the answer is there. A body that takes too long is
 * answered with 408.
 * @throws SvcError too_large, or invalid_argument for a wrong content type, bad UTF-8 or bad JSON
 */
export async function withJsonBody(
  request: Request,
  options: BodyOptions,
  answer: (body: unknown) => Promise<Response>,
): Promise<Response> {
  const declared = declaredBytes(request);
  if (options.isOptional && (declared ?? (request.body === null ? 0 : 1)) === 0) {
    return await answer({});
  }
  if (declared !== undefined && declared > MAX_BODY_BYTES) throw tooLarge();
  requireJson(request.headers);
  const leave = await takeRoom(declared ?? MAX_BODY_BYTES, options);
  try {
    const bytes = await beforeDeadline(readBytes(request, declared), options.timeoutMs);
    return bytes === undefined ? tooSlow(options.timeoutMs) : await answer(parse(bytes, options));
  } finally {
    leave?.();
  }
}

function declaredBytes({ headers }: Request): number | undefined {
  const text = headers.get("content-length");
  const bytes = text === null ? Number.NaN : Number(text.split(",")[0]);
  return Number.isNaN(bytes) ? undefined : bytes;
}

function requireJson(headers: Headers): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    const shown = type === undefined || type === "" ? "missing" : quoted(type);
    throw invalid("Content-Type", `${shown}; it must be application/json`);
  }
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") {
    throw invalid("Content-Encoding", `${quoted(encoding)}; send the body uncompressed`);
  }
}

async function takeRoom(
  bytes: number,
  { room, turn }: BodyOptions,
): Promise<(() => void) | undefined> {
  if (bytes <= SMALL_BODY_BYTES) return undefined;
  turn("server");
  const leave = await room.take(bytes);
  turn("caller");
  return leave;
}

async function readBytes(request: Request, declared: number | undefined): Promise<Uint8Array> {
  // A declared length was checked and cannot be exceeded: the server cuts the body there.
  if (declared !== undefined) return await request.bytes();
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Undefined when the work is not done in time; what becomes of it then is of no interest. */
async function beforeDeadline<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function parse(bytes: Uint8Array, { isOptional }: BodyOptions): unknown {
  const text = decode(bytes);
  if (text.trim() === "") {
    if (isOptional) return {};
    throw invalid("body", "is empty; it must be a JSON object");
  }
  const complaint = complaintAboutJson(text);
  if (complaint !== undefined) throw invalid("body", complaint);
  const value = parseJson(text);
  return isOptional ? (value ?? {}) : value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SvcError("invalid_argument", `body: is not valid JSON: ${problemOf(cause)}`, {
      field: "body",
    });
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw invalid("body", "is not valid UTF-8");
  }
}

/** The parser's own words without its name; they quote at most one token. */
function problemOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.replace(/^JSON Parse error: /, "").slice(0, 120);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function tooLarge(): SvcError {
  return new SvcError(
    "too_large",
    `The request body is larger than ${MAX_BODY_BYTES} bytes (10 MiB); split it into several requests`,
    { max_bytes: MAX_BODY_BYTES },
  );
}

/** The connection is closed, for the rest of the body would be taken for the next request. */
function tooSlow(ms: number): Response {
  const detail = `The request body was not complete after ${ms / 1000} seconds; nothing was done`;
  return refuse(408, "request_timeout", detail, { connection: "close" });
}
