import { timingSafeEqual } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { invalid, SvcError } from "../../domain/errors.ts";
import { answerJson, refuse, refuseMethod } from "../listener/answers.ts";
import { type Authenticate, createAuthenticate, digestOf, isKnown } from "../listener/auth.ts";
import { type BodyLimits, withJsonBody } from "../listener/body.ts";
import type { HttpApp } from "./app-env.ts";
import { isNamed } from "./blob-answer.ts";
import type { InspectorFile } from "./inspector-files.ts";

export const INSPECTOR_PATH = "/inspect/";
/** Represents all of its paths in the log. */
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

/** How a program run from source gets the page. */
const NOT_BUILT =
  "The inspector is part of the executable. Build it with `bun scripts/build.ts`, or run `bun scripts/inspector.ts`, which serves the page from source.\n";

/** Serves the inspector's page and files without a key: they contain no memory, and the page itself asks for a key. */
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
    // A file's name changes with its content, the page's does not.
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

/** A file as it is, unpacked once: unpacking takes time, and anyone may request it. */
export function unpacked(file: InspectorFile): Uint8Array<ArrayBuffer> {
  const bytes = UNPACKED.get(file) ?? new Uint8Array(gunzipSync(Buffer.from(file.gzip, "base64")));
  UNPACKED.set(file, bytes);
  return bytes;
}

function acceptsGzip(header: string | null): boolean {
  return /(?:^|[\s,])(?:gzip|\*)\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i.test(header ?? "");
}

/** Where a page exchanges its link's code for a key. */
const SESSION_PATH = "/v1/inspector/session";

/** Milliseconds for which a code is valid. */
const CODE_MS = 120_000;
const WRONG_CODES = 5;
const CODE_BYTES = 16;
const KEY_BYTES = 32;
/** Characters of the longest text compared with a code. */
const MAX_GIVEN = 200;

type InspectorSessionDeps = {
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  /** This many random bytes in hexadecimal digits. */
  readonly secret: (bytes: number) => string;
  /** Called when a session ended because its link was reused. */
  readonly onEnded: () => void;
};

/** Why a code was rejected. */
type CodeRefusal = "wrong" | "used" | "late" | "locked";

/** The one-time link as the only way into a server. Everything is in memory and ends with the process. */
export type InspectorSession = {
  /** Starts over with a new code. @returns the code of the link, 128 random bits */
  issue(): string;
  /** The key for the code, once. A second use at any time ends the session of the first: one of the two was not the intended person. */
  exchange(code: string): { readonly key: string } | { readonly refusal: CodeRefusal };
  readonly authenticate: Authenticate;
  /** Whether this is the key of an ended session. */
  isEnded(authorization: string | undefined): boolean;
};

type State = {
  readonly digest: Buffer;
  readonly issuedMs: number;
  wrong: number;
  /** Accepts the key issued for the code. */
  opened: Authenticate | undefined;
  isEnded: boolean;
};

export function createInspectorSession(deps: InspectorSessionDeps): InspectorSession {
  let state: State | undefined;
  const knows = (authorization: string | undefined): boolean =>
    state?.opened !== undefined && isKnown(state.opened, authorization);
  return {
    issue: () => {
      const code = deps.secret(CODE_BYTES);
      const digest = digestOf(code);
      state = { digest, issuedMs: deps.nowMs(), wrong: 0, opened: undefined, isEnded: false };
      return code;
    },
    exchange: (code) => {
      if (state === undefined) return { refusal: "wrong" };
      const wasEnded = state.isEnded;
      const refusal = refusalOf(state, code, deps.nowMs());
      if (state.isEnded && !wasEnded) deps.onEnded();
      if (refusal !== undefined) return { refusal };
      const key = deps.secret(KEY_BYTES);
      state.opened = createAuthenticate({ apiKey: key });
      return { key };
    },
    authenticate: (authorization) => {
      if (state?.isEnded === false && knows(authorization)) return { boundUserId: undefined };
      throw new SvcError("unauthenticated", "Invalid or missing API key");
    },
    isEnded: (authorization) => state?.isEnded === true && knows(authorization),
  };
}

/** Why a code is rejected now; counts wrong ones, and ends a session whose code is reused. */
function refusalOf(state: State, code: string, nowMs: number): CodeRefusal | undefined {
  const isLocked = state.wrong >= WRONG_CODES;
  if (!timingSafeEqual(state.digest, digestOf(code))) {
    state.wrong += 1;
    return isLocked ? "locked" : "wrong";
  }
  if (state.opened !== undefined) {
    state.isEnded = true;
    return "used";
  }
  if (isLocked) return "locked";
  return nowMs - state.issuedMs > CODE_MS ? "late" : undefined;
}

const REFUSALS: Readonly<Record<CodeRefusal, string>> = {
  wrong: "This is not the code of the link that svc open made",
  used: "This link was used before. The session that it opened has ended; start svc open again",
  late: "This link is older than two minutes; start svc open again",
  locked: "Too many wrong codes were sent, so none is taken any more; start svc open again",
};

const ENDED =
  "This session has ended, because its link was used a second time; start svc open again";

/** Adds the exchange, and explains to the holder of an ended session why its key is rejected. Before the routes. */
export function addInspectorSession(
  app: HttpApp,
  session: InspectorSession,
  bodies: BodyLimits,
): void {
  app.use("/v1/*", async (context, next) => {
    if (!session.isEnded(context.req.raw.headers.get("authorization") ?? undefined)) return next();
    context.res = refuse(401, "session_ended", ENDED);
  });
  app.post(SESSION_PATH, (context) => {
    context.set("route", SESSION_PATH);
    const request = context.req.raw;
    const turn = (of: "server" | "caller") => context.env?.turn?.(request, of);
    const options = { ...bodies, isOptional: false, owner: undefined, turn };
    return withJsonBody(request, options, async (body) => {
      const result = session.exchange(codeIn(body));
      if ("key" in result) return answerJson(result);
      return refuse(401, "unauthenticated", REFUSALS[result.refusal]);
    });
  });
}

/** @throws SvcError invalid_argument */
function codeIn(body: unknown): string {
  const code: unknown = Reflect.get(Object(body), "code");
  if (typeof code === "string" && code.length <= MAX_GIVEN) return code;
  throw invalid("code", "must be the code of the link that svc open made");
}
