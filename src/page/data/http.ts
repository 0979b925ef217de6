import { signal } from "@preact/signals";
import { client } from "../client/client.gen.ts";
import { CallFailure } from "./failure.ts";

const KEY_PLACE = "svc.key";

/** The key that calls carry; undefined where none was needed so far. A second tab has none: the key is in no cookie. */
export const key = signal<string | undefined>(sessionStorage.getItem(KEY_PLACE) ?? undefined);

/** Why the page asks for a key; undefined while it does not. */
export const keyIsWanted = signal<"missing" | "wrong" | "ended" | undefined>(undefined);

export function useKey(text: string | undefined): void {
  if (text === undefined) sessionStorage.removeItem(KEY_PLACE);
  else sessionStorage.setItem(KEY_PLACE, text);
  // The same key would not be tried again, so that nothing is awaited.
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
  // A late refusal of an earlier key says nothing of this one.
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

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Sends JSON to a path of the interface that the generated client does not know. @throws CallFailure */
export async function post(path: string, body: object): Promise<unknown> {
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
