import { timingSafeEqual } from "node:crypto";
import { invalid, SvcError } from "../../domain/errors.ts";
import { answerJson, refuse } from "../listener/answers.ts";
import { type Authenticate, createAuthenticate, digestOf, isKnown } from "../listener/auth.ts";
import { type BodyLimits, withJsonBody } from "../listener/body.ts";
import type { HttpApp } from "./app-env.ts";

/** Where a page gets a key for the code of its link. */
const SESSION_PATH = "/v1/inspector/session";

/** Milliseconds for which a code is good. */
const CODE_MS = 120_000;
const WRONG_CODES = 5;
const CODE_BYTES = 16;
const KEY_BYTES = 32;
/** Characters of the longest text that is compared with a code. */
const MAX_GIVEN = 200;

type InspectorSessionDeps = {
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number;
  /** So many random bytes in hexadecimal digits. */
  readonly secret: (bytes: number) => string;
  /** Called when a session has ended because its link was used again. */
  readonly onEnded: () => void;
};

/** Why a code was not taken. */
type CodeRefusal = "wrong" | "used" | "late" | "locked";

/** The only way into a server that one link opens. Everything is in memory and ends with the process. */
export type InspectorSession = {
  /** Begins anew with another code, from now on. @returns the code of the link, 128 random bits */
  issue(): string;
  /**
   * The key for the code, once. A second use, whenever it comes, ends the session of the first: one of the two was not the
   * person whom the link was made for.
   */
  exchange(code: string): { readonly key: string } | { readonly refusal: CodeRefusal };
  readonly authenticate: Authenticate;
  /** Whether this is the key of a session that was ended. */
  isEnded(authorization: string | undefined): boolean;
};

type State = {
  readonly digest: Buffer;
  readonly issuedMs: number;
  wrong: number;
  /** Knows the key that was given for the code. */
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

/** Why a code is not taken now; counts wrong ones, and ends a session whose code comes again. */
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

/** Adds the exchange, and tells the holder of an ended session why its key is not taken. Before the routes. */
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
