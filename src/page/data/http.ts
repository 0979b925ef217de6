import { signal } from "@preact/signals";
import { client } from "../client/client.gen.ts";

const KEY_PLACE = "svc.key";

/** The key of all calls; undefined if none was needed so far. A second tab has none: the key is not in a cookie. */
export const key = signal<string | undefined>(sessionStorage.getItem(KEY_PLACE) ?? undefined);

export const keyIsWanted = signal<"missing" | "wrong" | "ended" | undefined>(undefined);

export function useKey(text: string | undefined): void {
  if (text === undefined) sessionStorage.removeItem(KEY_PLACE);
  else sessionStorage.setItem(KEY_PLACE, text);
  // The same key would be rejected again, so there is nothing to wait for.
  if (text !== key.peek()) keyIsWanted.value = undefined;
  key.value = text;
}

client.setConfig({
  baseUrl: location.origin,
  cache: "no-store",
  credentials: "omit",
  headers: { "Svc-Client": "inspector" },
  auth: () => key.value,
});

type Outcome<T> = {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response?: Response | undefined;
};

/** The answer of a call of the generated client. @throws CallFailure */
export async function answered<T>(call: Promise<Outcome<T>>): Promise<T> {
  const used = key.peek();
  const { data, error, response } = await call.catch((thrown: unknown): Outcome<T> => {
    return { error: thrown };
  });
  if (response === undefined) throw new CallFailure(0, "lost", textOf(error));
  if (response.ok && data !== undefined) return data;
  const failure = failureOf(response.status, error);
  // A late rejection of an earlier key says nothing about this one.
  if (failure.status === 401 && key.peek() === used) {
    if (failure.code === "session_ended") keyIsWanted.value = "ended";
    else keyIsWanted.value = used === undefined ? "missing" : "wrong";
  }
  throw failure;
}

function failureOf(status: number, error: unknown): CallFailure {
  const { code, detail } = Object(error);
  if (typeof code !== "string" || typeof detail !== "string") {
    return new CallFailure(status, "unreadable", textOf(error));
  }
  return new CallFailure(status, code, detail);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Sends JSON to a path that the generated client does not know. @throws CallFailure */
async function post(path: string, body: object): Promise<unknown> {
  const response = await fetch(path, {
    method: "POST",
    credentials: "omit",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw new CallFailure(0, "lost", textOf(error));
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw failureOf(response.status, answer);
  return answer;
}

export class CallFailure extends Error {
  override readonly name = "CallFailure";
  /** HTTP status; 0 when the server did not answer. */
  readonly status: number;
  /** An error code of the interface, `lost` without an answer, `unreadable` for an answer that is not JSON. */
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export function asFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  return new CallFailure(0, "page", error instanceof Error ? error.message : String(error));
}

export function isLost({ status }: CallFailure): boolean {
  return status === 0 || status === 502 || status === 504;
}

const SESSION = "/v1/inspector/session";

/** What happened to the code in the link of `svc open`; undefined without one. */
export const codeFailure = signal<string | undefined>(undefined);

/** Whether `svc open` serves the page: only then is there an exchange, which rejects requests without a code. */
export async function isOfOpen(): Promise<boolean> {
  try {
    await post(SESSION, {});
  } catch (error) {
    return asFailure(error).code === "invalid_argument";
  }
  return false;
}

/**
 * Exchanges the code in the address for the session's key. The code is removed from the address at once, so it appears neither in the
 * history nor on the screen; it works only once.
 */
export async function redeemCode(): Promise<void> {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    const answer = await post(SESSION, { code });
    const { key } = Object(answer);
    if (typeof key === "string") useKey(key);
  } catch (error) {
    codeFailure.value = asFailure(error).message;
  }
}
