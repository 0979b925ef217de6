import { invalid, SvcError } from "../../domain/errors.ts";
import { InexactNumber, parseJson, stringEnd } from "../../lib/json.ts";
import { refuse } from "./answers.ts";

/** Bytes of the largest request body: 10 MiB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Bytes of all bodies being read together, excluding small ones and one large one. */
const BODY_ROOM_BYTES = 64 * 1024 * 1024;
/** Maximum declared bytes of a body that needs no reservation: at the minimum rate it is complete before the first check of the rate. */
const SMALL_BODY_BYTES = 64 * 1024;
const TIMEOUT_MS = 60_000;
const PACE_MS = 5000;

/** Limits of a listener for the bodies of all its requests. */
export type BodyLimits = BodyTimes & { readonly room: BodyRoom };

export type BodyOptions = BodyLimits & {
  /** Whether a missing body counts as an empty object. */
  readonly isOptional: boolean;
  /** The owner of its key; undefined for a key without an owner, or no key. */
  readonly owner: string | undefined;
  /** Called when the server has to find room (`server`), and when the caller's turn is back. */
  readonly turn: (of: "server" | "caller") => void;
};

/** The limits of one listener. Default: 60 s for a body, and 16 KiB a second, checked every 5 s. */
export function createBodyLimits(times: Partial<BodyTimes>): BodyLimits {
  const { timeoutMs = TIMEOUT_MS, paceMs = PACE_MS } = times;
  return { timeoutMs, paceMs, room: createBodyRoom(BODY_ROOM_BYTES) };
}

/**
 * Reads a JSON body and answers with it; its room is released with the answer. A body that arrives too slowly is answered with 408.
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

/** The bytes read, or why reading was abandoned; its outcome is then ignored. */
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

/** Reserves room for bytes as they arrive; without room, the connection is not read. */
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
  // A bare number is rejected for its type, not its digits.
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

/** Nesting depth of lists and objects: the 500 of a memory's metadata, and the levels around it. */
export const MAX_LEVELS = 512;
/** Entries of all lists and objects of one body. */
export const MAX_ENTRIES = 500_000;

/**
 * Why a JSON text must not be parsed; undefined if it may be. Otherwise a few megabytes of brackets or commas become hundreds of
 * megabytes of objects, and exceed the recursion limit of readers. Linear time.
 */
export function complaintAboutJson(text: string): string | undefined {
  // Too short for either limit.
  if (text.length <= MAX_LEVELS) return undefined;
  let levels = 0;
  let entries = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"':
        at = stringEnd(text, at) - 1;
        break;
      case "[":
      case "{":
        levels += 1;
        entries += 1;
        if (levels > MAX_LEVELS) {
          return `lists and objects are nested deeper than ${MAX_LEVELS} levels`;
        }
        break;
      case "]":
      case "}":
        levels -= 1;
        break;
      case ",":
        entries += 1;
        break;
      default:
    }
    if (entries > MAX_ENTRIES) {
      return `holds more than ${MAX_ENTRIES} entries; split it into several requests`;
    }
  }
  return undefined;
}

/** The room shared by all request bodies, in bytes. */
type BodyRoom = {
  /** Starts a body. @param owner whose share it counts towards; undefined: a share of its own */
  enter(owner: string | undefined): BodySpace;
};

export type BodySpace = {
  /**
   * Reserves room for arrived bytes; read more only once there is room.
   * @returns a promise that resolves when there is room; undefined: there is room now
   */
  take(bytes: number): Promise<void> | undefined;
  /** Releases all of its room. Idempotent; later bytes take no room. */
  leave(): void;
};

/** The room used by one owner's bodies. */
type Share = { held: number; bodies: number; lastHelped: number };
type Body = { readonly share: Share; held: number };
type Waiter = { readonly body: Body; readonly bytes: number; readonly go: () => void };

/**
 * A share may grow as long as it does not exceed the remaining room. So a greedy owner leaves half to the others, two leave a third, and a
 * newcomer always finds room. One body at a time may exceed the room, so that bodies cannot deadlock; owners take turns at that.
 * @param total bytes, without those of the body that may exceed it
 */
export function createBodyRoom(total: number): BodyRoom {
  const shares = new Map<string, Share>();
  const waiting = new Set<Waiter>();
  let free = total;
  let helped: Body | undefined;
  let helps = 0;

  const grow = (body: Body, bytes: number): void => {
    body.held += bytes;
    body.share.held += bytes;
    free -= bytes;
  };
  const fits = (body: Body, bytes: number): boolean =>
    body === helped || body.share.held + bytes <= free - bytes;
  const admit = (): void => {
    for (const waiter of waiting) {
      if (!fits(waiter.body, waiter.bytes)) continue;
      waiting.delete(waiter);
      grow(waiter.body, waiter.bytes);
      waiter.go();
    }
  };
  const help = (): void => {
    const next = helped === undefined ? longestUnhelped(waiting) : undefined;
    if (next === undefined) return;
    helped = next;
    helps += 1;
    next.share.lastHelped = helps;
    admit();
  };
  const enterShare = (owner: string | undefined): Share => {
    const share = (owner !== undefined && shares.get(owner)) || newShare();
    share.bodies += 1;
    if (owner !== undefined) shares.set(owner, share);
    return share;
  };
  const end = (body: Body, owner: string | undefined): void => {
    for (const waiter of waiting) if (waiter.body === body) waiting.delete(waiter);
    free += body.held;
    body.share.held -= body.held;
    body.share.bodies -= 1;
    if (body.share.bodies === 0 && owner !== undefined) shares.delete(owner);
    if (helped === body) helped = undefined;
    admit();
    help();
  };
  return {
    enter: (owner) => {
      const body: Body = { share: enterShare(owner), held: 0 };
      let isOver = false;
      return {
        take: (bytes) => {
          if (isOver) return undefined;
          if (fits(body, bytes)) {
            grow(body, bytes);
            return undefined;
          }
          const { promise, resolve: go } = Promise.withResolvers<void>();
          waiting.add({ body, bytes, go });
          help();
          return promise;
        },
        leave: () => {
          if (isOver) return;
          isOver = true;
          end(body, owner);
        },
      };
    },
  };
}

function newShare(): Share {
  return { held: 0, bodies: 0, lastHelped: 0 };
}

/** Among the waiting bodies, the first of the owner whose last turn is oldest. */
function longestUnhelped(waiting: Iterable<Waiter>): Body | undefined {
  let found: Body | undefined;
  for (const { body } of waiting) {
    if (found === undefined || body.share.lastHelped < found.share.lastHelped) found = body;
  }
  return found;
}

/** Bytes per second below which a caller is too slow: 16 KiB. */
const MIN_BYTES_PER_SECOND = 16 * 1024;
/** Checks within the shorter of the two times. They are counted, so that a stalled process does not blame the caller. */
const LOOKS = 5;

export type BodyTimes = {
  /** Milliseconds that a caller may take to send a body. */
  readonly timeoutMs: number;
  /** Milliseconds of each interval in which the minimum rate must be reached. */
  readonly paceMs: number;
};

/** Why the server stops waiting for a body. */
type Lateness = "timeout" | "pace";

/** Monitors how fast a caller sends. */
type BodyClock = {
  /** Resolves when the caller is too slow. */
  readonly late: Promise<Lateness>;
  heard(bytes: number): void;
  /** Waits for something that is not the caller's fault. */
  pauseFor(work: Promise<void>): Promise<void>;
  /** Call it once. */
  end(): void;
};

/** Starts a clock at the earliest moment at which bytes could arrive. */
export function startBodyClock({ timeoutMs, paceMs }: BodyTimes): BodyClock {
  const { promise: late, resolve } = Promise.withResolvers<Lateness>();
  const step = Math.min(timeoutMs, paceMs) / LOOKS;
  const due = (MIN_BYTES_PER_SECOND * paceMs) / 1000;
  let spent = 0;
  let sinceCheck = 0;
  let heard = 0;
  let isPaused = false;
  const timer = setInterval(() => {
    if (isPaused) return;
    spent += step;
    sinceCheck += step;
    if (spent >= timeoutMs) resolve("timeout");
    if (sinceCheck < paceMs) return;
    if (heard < due) resolve("pace");
    sinceCheck = 0;
    heard = 0;
  }, step);
  return {
    late,
    heard: (bytes) => {
      heard += bytes;
    },
    pauseFor: async (work) => {
      isPaused = true;
      await work;
      isPaused = false;
    },
    end: () => clearInterval(timer),
  };
}
