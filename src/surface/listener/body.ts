import { invalid, SvcError } from "../../domain/errors.ts";
import { InexactNumber, parseJson } from "../../lib/json.ts";
import { refuse } from "./answers.ts";
import {
  type BodyClock,
  type BodyTimes,
  type Lateness,
  MIN_BYTES_PER_SECOND,
  startBodyClock,
} from "./body-clock.ts";
import { type BodyRoom, type BodySpace, createBodyRoom } from "./body-room.ts";
import { complaintAboutJson } from "./json-bounds.ts";

/** Bytes of the largest request body: 10 MiB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Bytes of all bodies being read together, without small bodies and one large one. */
const BODY_ROOM_BYTES = 64 * 1024 * 1024;
/**
 * Bytes up to which a body of declared length needs no room: at the minimum rate it is complete before the first check of the
 * rate.
 */
const SMALL_BODY_BYTES = 64 * 1024;
const TIMEOUT_MS = 60_000;
const PACE_MS = 5000;

/** Limits of a listener for the bodies of all its requests. */
export type BodyLimits = BodyTimes & { readonly room: BodyRoom };

export type BodyOptions = BodyLimits & {
  /** Whether a missing body counts as an empty object. */
  readonly isOptional: boolean;
  /** The owner whose key came with it; undefined for a key without an owner, or no key. */
  readonly owner: string | undefined;
  /** Called when we have to find room (`server`), and when the caller has to send again. */
  readonly turn: (of: "server" | "caller") => void;
};

/** The limits of one listener. Default: 60 s for a body, and 16 KiB a second, checked every 5 s. */
export function createBodyLimits(times: Partial<BodyTimes>): BodyLimits {
  const { timeoutMs = TIMEOUT_MS, paceMs = PACE_MS } = times;
  return { timeoutMs, paceMs, room: createBodyRoom(BODY_ROOM_BYTES) };
}

/**
 * Reads a JSON body and answers with it; its room is given back once there is an answer. A body that arrives too slowly is
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
  const space = options.room.enter(options.owner);
  try {
    const bytes = await readBefore(startBodyClock(options), (clock) =>
      declared !== undefined && declared <= SMALL_BODY_BYTES
        ? request.bytes()
        : readAsRoomAllows(request, space, clock, options.turn),
    );
    if (typeof bytes === "string") return tooSlow(bytes, options);
    return await answer(parse(bytes, options));
  } finally {
    space.leave();
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

/** What was read, or why reading was abandoned; its outcome is then ignored. */
async function readBefore(
  clock: BodyClock,
  read: (clock: BodyClock) => Promise<Uint8Array>,
): Promise<Uint8Array | Lateness> {
  try {
    return await Promise.race([read(clock), clock.late]);
  } finally {
    clock.end();
  }
}

/** Takes room for bytes as they arrive; without room, the caller's connection is not read. */
async function readAsRoomAllows(
  request: Request,
  space: BodySpace,
  clock: BodyClock,
  turn: BodyOptions["turn"],
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    clock.heard(chunk.byteLength);
    const room = space.take(chunk.byteLength);
    if (room !== undefined) {
      turn("server");
      await clock.pauseFor(room);
      turn("caller");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Uint8Array, { isOptional }: BodyOptions): unknown {
  const text = decode(bytes);
  if (text.trim() === "") {
    if (isOptional) return {};
    throw invalid("body", "is empty; it must be a JSON object");
  }
  const complaint = complaintAboutJson(text);
  if (complaint !== undefined) throw invalid("body", complaint);
  const whole = parsed(text);
  // A number alone is refused for what it is, not for its digits.
  const value = whole instanceof InexactNumber ? Number(whole.source) : whole;
  return isOptional ? (value ?? {}) : value;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
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

/** The parser's own message without its name; it quotes at most one token. */
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

/** The connection is closed, because the rest of the body would be taken for the next request. */
function tooSlow(lateness: Lateness, { timeoutMs }: BodyTimes): Response {
  const reason = {
    timeout: `was not complete after ${timeoutMs / 1000} seconds`,
    pace: `came more slowly than ${MIN_BYTES_PER_SECOND / 1024} KiB a second`,
  }[lateness];
  const detail = `The request body ${reason}; nothing was done`;
  return refuse(408, "request_timeout", detail, { connection: "close" });
}
