import { expect } from "bun:test";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { ERROR_MAP } from "../../../src/surface/contract/core/error-map.ts";
import { createHttpApp, type HttpAppDeps } from "../../../src/surface/http/app.ts";
import type { AuthSettings } from "../../../src/surface/listener/auth.ts";
import { type EngineOptions, type OpenedEngine, useEngines } from "../../engine/engines.ts";

type Json = Readonly<Record<string, unknown>>;

/** A request; `key` is that of one owner. */
export type Asked = {
  readonly body?: unknown;
  readonly key?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Answer = { readonly status: number; readonly json: Json };

export type OpenedApp = OpenedEngine & {
  /** GET, or POST with a body, unless a method is given. */
  readonly ask: (path: string, asked?: Asked) => Promise<Answer>;
  readonly app: ReturnType<typeof createHttpApp>;
};

/** Each of ada and bob has a key. */
export const KEYS: AuthSettings = { userKeys: { ada: "key-a", bob: "key-b" } };

/** The HTTP interface of an engine. */
export function appOf(
  engine: OpenedEngine["engine"],
  auth: AuthSettings = {},
  more: Partial<HttpAppDeps> = {},
): Pick<OpenedApp, "app" | "ask"> {
  const app = createHttpApp({
    engine: () => engine,
    version: "9.9.9",
    auth,
    cors: { origins: [], allowCredentials: false },
    inspector: true,
    log: () => {},
    ...more,
  });
  const ask = async (path: string, asked: Asked = {}): Promise<Answer> => {
    const { body, key, method = body === undefined ? "GET" : "POST", headers } = asked;
    const answer = await app.request(path, {
      method,
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    });
    // SAFETY: every answer of this interface is a JSON object.
    return { status: answer.status, json: (await answer.json()) as Json };
  };
  return { app, ask };
}

/** The HTTP interface of engines on real packs; each is closed and its pack deleted after its test. */
export function useApps() {
  const { open: openEngine } = useEngines();

  const open = async (
    auth: AuthSettings = {},
    options: EngineOptions = {},
    more: Partial<HttpAppDeps> = {},
  ): Promise<OpenedApp> => {
    const opened = await openEngine(options);
    return { ...opened, ...appOf(opened.engine, auth, more) };
  };

  return { open };
}

/** Expects a refusal of a code with its documented status. */
export function expectRefused(code: ErrorCode, answer: Answer, detail: string | RegExp): void {
  const { detail: given, code: named, ...rest } = answer.json;
  const wanted = detail instanceof RegExp ? expect.stringMatching(detail) : detail;
  expect({ status: answer.status, code: named, detail: given }).toEqual({
    status: ERROR_MAP[code].httpStatus,
    code: ERROR_MAP[code].exposed ? code : "internal",
    detail: wanted,
  });
  expect(Object.keys(rest)).toEqual([]);
}
