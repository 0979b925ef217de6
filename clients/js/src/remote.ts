/** A memory behind the HTTP interface of `svc serve`, for the adapters. It needs nothing but `fetch`. */

import { isPrivateAddress } from "../../../src/domain/addresses.ts";
import { parseOptionalInteger } from "../../../src/domain/arguments.ts";
import { invalid, missingNode, SvcError } from "../../../src/domain/errors.ts";
import type { MemoryEvent, MemoryNode } from "../../../src/domain/node.ts";
import type { FeedChange } from "../../../src/engine/browse/api.ts";
import type { Overview } from "../../../src/engine/overview.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { camelKeys, given } from "../../../src/lib/text.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import {
  type FoundMemory,
  isErrorCode,
  isObject,
  type Memory,
  type MemoryQuestion,
  type MemoryStore,
  type StoredMemory,
  TIMER_MAX_MS,
} from "./memory.ts";

export { type ErrorCode, SvcError } from "../../../src/domain/errors.ts";
export type { Memory } from "./memory.ts";

export type RemoteMemoryOptions = {
  /** For example `http://127.0.0.1:8000`, without `/v1`. */
  readonly url: string;
  /** The bearer key, where the server has any. */
  readonly apiKey?: string | undefined;
  /** Milliseconds for a call, from its start to the end of the answer. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Default: the one of the runtime. */
  readonly fetch?: ((url: string, request: RequestInit) => Promise<Response>) | undefined;
};

type Call = {
  readonly method: "GET" | "POST" | "PUT";
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

type Ask = (call: Call) => Promise<JsonObject>;
type Door = {
  readonly base: string;
  /** Sends a call, with the key. */
  readonly send: (call: Call, signal: AbortSignal | undefined) => Promise<Response>;
};

export type ChangesQuery = {
  readonly userId: string;
  /** The `cursor` of the last change that is known, or `now`. Default: all. */
  readonly since?: string | undefined;
  /** Ends the iteration with its reason. */
  readonly signal?: AbortSignal | undefined;
};

export type RemoteMemory = Memory & {
  /** What is known of a person at a glance. */
  profile(query: { readonly userId: string; readonly maxTokens?: number }): Promise<Overview>;
  /**
   * What becomes of memories, in the order of the commits. It waits for further changes, over connections that end, until it is left.
   * @throws SvcError storage_unavailable if the server stays away; or what it answers
   */
  changes(query: ChangesQuery): AsyncGenerator<FeedChange, void, undefined>;
};

/**
 * The memory of a server. Calls reject with the SvcError that the server answers, or storage_unavailable where it cannot be reached
 * or is late: what was being stored may have been, and a call with a `requestId` can be repeated.
 * @throws SvcError invalid_argument
 */
export function remoteMemory(options: RemoteMemoryOptions): RemoteMemory {
  const door = doorOf(options);
  const ask = askOf(door, options.timeoutMs);
  const getNodes: Memory["getNodes"] = async (nodeIds, userId) => {
    const nodes: MemoryNode[] = [];
    let rest: readonly string[] = nodeIds;
    while (rest.length > 0) {
      const asked = rest.slice(0, BATCH);
      const body = { user_id: userId, node_ids: asked };
      const answer = await ask({ method: "POST", path: "/v1/nodes/batch", body });
      nodes.push(...objects(answer["nodes"]).map(nodeOf));
      // Those for which the answer had no room come first in the next one.
      const left = texts(answer["left_out"]);
      if (left.length >= asked.length)
        throw new SvcError("unsupported", "the server reads nothing");
      rest = [...left, ...rest.slice(BATCH)];
    }
    return { nodes };
  };
  /** A key of all owners would reach every memory. */
  const requireOwned = async (ids: readonly string[], userId: string): Promise<void> => {
    const { nodes } = await getNodes(ids, userId);
    const missing = ids.find((id) => !nodes.some((node) => node.id === id.toLowerCase()));
    if (missing !== undefined) throw missingNode(asUuid(missing));
  };
  return {
    storeWithReceipt: (input) => store(ask, input),
    retrieve: (input) => retrieve(ask, input),
    listEvents: async ({ userId, sessionId, scopes, order, cursor, limit }) => {
      const query = new URLSearchParams({ user_id: userId });
      for (const [name, value] of Object.entries({ session_id: sessionId, order, cursor, limit })) {
        if (value !== null && value !== undefined) query.set(name, String(value));
      }
      for (const scope of scopes ?? []) query.append("scope", scope);
      const answer = await ask({ method: "GET", path: `/v1/events?${query}` });
      const next = answer["next_cursor"];
      return {
        events: objects(answer["events"]).map(eventOf),
        nextCursor: typeof next === "string" ? next : undefined,
      };
    },
    getNodes,
    supersede: async (oldId, newId, { userId }) => {
      await requireOwned([oldId, newId], userId);
      const body = { old_node_id: oldId, new_node_id: newId };
      const answer = await ask({ method: "POST", path: "/v1/supersedences", body });
      return objects(answer["nodes"]).map(nodeOf);
    },
    archive: async (nodeId, { userId }) => {
      await requireOwned([nodeId], userId);
      const path = `/v1/nodes/${encodeURIComponent(nodeId)}/archive`;
      return nodeOf(await ask({ method: "PUT", path }));
    },
    profile: async ({ userId, maxTokens = 500 }) => {
      const query = new URLSearchParams({ user_id: userId, max_tokens: String(maxTokens) });
      const answer = await ask({ method: "GET", path: `/v1/profile?${query}` });
      const entries = objects(answer["entries"]).map(recordOf<Overview["entries"][number]>);
      return { ...recordOf<Overview>(answer), entries };
    },
    changes: (query) => changesAt(door, query),
  };
}

/** How often a connection is made again before the server counts as gone, and milliseconds before the second try. */
const TRIES = 5;
const PAUSE_MS = 50;

async function* changesAt(
  door: Door,
  { userId, since, signal }: ChangesQuery,
): AsyncGenerator<FeedChange, void, undefined> {
  const query = new URLSearchParams({ user_id: userId, ...(since && { since }) });
  for (let failures = 0; ; failures += 1) {
    try {
      const path = `/v1/changes?${query}`;
      for await (const change of openFeed(door, path, signal)) {
        failures = 0;
        query.set("since", change.cursor);
        yield change;
      }
    } catch (error) {
      const mayPass = !(error instanceof SvcError) || error.code === "storage_unavailable";
      if (!mayPass || signal?.aborted === true) throw error;
      if (failures >= TRIES - 1) throw unavailable(door.base, "it cannot be reached", error);
    }
    await new Promise((done) => setTimeout(done, PAUSE_MS * 2 ** failures));
  }
}

/** The changes of one connection. */
async function* openFeed(
  { base, send }: Door,
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<FeedChange, void, undefined> {
  const headers = { accept: "text/event-stream" };
  const response = await send({ method: "GET", path, headers }, signal);
  if (!response.ok) readAnswer(response, await response.text(), base);
  for await (const line of linesOf(response)) {
    if (line.startsWith("data: ")) yield changeOf(JSON.parse(line.slice(6)));
  }
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

function changeOf({ node, ...change }: JsonObject): FeedChange {
  const [memory] = objects([node]);
  return { ...recordOf<FeedChange>(change), node: memory && nodeOf(memory) };
}

/** Memories that the server gives in one answer. */
const BATCH = 500;

/** On Bun, no proxy of the environment for a server of this machine or its network. Other runtimes know no such member. */
function directly(url: string): object {
  return isPrivateAddress(new URL(url)) ? { proxy: false } : {};
}

function doorOf({ url, apiKey, fetch: given }: RemoteMemoryOptions): Door {
  const base = baseOf(url);
  // Asked for at each call, so that a program may replace it.
  const request =
    given ?? ((to: string, init: RequestInit) => fetch(to, { ...init, ...directly(to) }));
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    base,
    send: ({ method, path, body, headers }, signal) =>
      request(`${base}${path}`, {
        method,
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...key,
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // The key is for this server alone.
        redirect: "error",
        ...(signal && { signal }),
      }),
  };
}

function askOf({ base, send }: Door, timeoutMs = 30_000): Ask {
  parseOptionalInteger(timeoutMs, "timeoutMs", 1, TIMER_MAX_MS);
  return async (call) => {
    const { signal } = call;
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const either = signal === undefined ? late : AbortSignal.any([signal, late]);
      const response = await send(call, either);
      return readAnswer(response, await response.text(), base);
    } catch (error) {
      if (error instanceof SvcError || signal?.aborted === true) throw error;
      const reason = late.aborted ? `no answer within ${timeoutMs} ms` : "it cannot be reached";
      throw unavailable(base, reason, error);
    }
  };
}

function unavailable(base: string, reason: string, cause: unknown): SvcError {
  const message = `the memory at ${base}: ${reason}`;
  return new SvcError("storage_unavailable", message, { path: base }, { cause });
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw invalid("url", "must be an address that begins with http");
  }
  // A name and password in it would stand in messages.
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, "")}`;
}

function readAnswer(response: Response, text: string, base: string): JsonObject {
  const body = parsed(text);
  if (response.ok && body !== undefined) return body;
  const { detail, code, ...data } = body ?? {};
  if (isErrorCode(code)) {
    throw new SvcError(code, typeof detail === "string" ? detail : code, data);
  }
  throw new SvcError(
    response.status >= 500 ? "storage_unavailable" : "unsupported",
    `${base} answered ${response.status}, but not as svc does; is this its address?`,
    { path: base },
  );
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // SAFETY: JSON that is an object and no list.
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function objects(value: unknown): readonly JsonObject[] {
  // SAFETY: parsed from JSON.
  return Array.isArray(value) ? (value.filter(isObject) as JsonObject[]) : [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** A record of an answer, with the names of the library and absent members for null. */
function recordOf<T>(json: JsonObject): T {
  // SAFETY: the server writes each record from the form that its type is made of; a test compares the two.
  return given(camelKeys(json)) as T;
}

function nodeOf(json: JsonObject): MemoryNode {
  return recordOf(json);
}

function eventOf(json: JsonObject): MemoryEvent {
  return recordOf(json);
}

async function store(ask: Ask, { requestId, ...input }: MemoryStore): Promise<StoredMemory> {
  const answer = await ask({
    method: "POST",
    path: "/v1/store",
    headers: requestId === undefined || requestId === null ? {} : { "idempotency-key": requestId },
    body: {
      content: input.content,
      user_id: input.userId,
      role: input.role,
      session_id: input.sessionId,
      scope: input.scope,
      node_type: input.nodeType,
      metadata: input.metadata,
      event_time: input.eventTime,
      supersedes: input.supersedes,
      ttl_days: input.ttlDays,
    },
  });
  const { near, ...ids } = answer;
  const receipt = recordOf<StoredMemory>(ids);
  if (near === undefined) return receipt;
  return { ...receipt, near: objects(near).map(nearOf) };
}

function nearOf(json: JsonObject): NonNullable<StoredMemory["near"]>[number] {
  const { nodeId, content, similarity, identical } = recordOf<{
    readonly nodeId: MemoryNode["id"];
    readonly content: string;
    readonly similarity: number;
    readonly identical: boolean;
  }>(json);
  return { node: { id: nodeId, content }, similarity, identical };
}

async function retrieve(ask: Ask, input: MemoryQuestion): ReturnType<Memory["retrieve"]> {
  const { client } = input;
  const { results, bundle, metrics } = await ask({
    method: "POST",
    path: "/v1/retrieve",
    headers: typeof client === "string" ? { "svc-client": client } : {},
    signal: input.signal,
    body: {
      query: input.query,
      user_id: input.userId,
      scope: input.scope,
      token_budget: input.tokenBudget,
      min_score: input.minScore,
      limit: input.limit ?? 0,
    },
  });
  const [context = {}] = objects([bundle]);
  const [numbers = {}] = objects([metrics]);
  return {
    results: objects(results).map(foundOf),
    bundle: { renderedContext: String(context["rendered_context"] ?? "") },
    metadata: { minScoreSkipped: numbers["min_score_skipped"] === true },
  };
}

function foundOf(json: JsonObject): FoundMemory {
  const { nodeId, score, strength, semanticRelevance, ...node } = recordOf<
    Omit<FoundMemory["node"], "id"> &
      Pick<FoundMemory, "strength" | "semanticRelevance"> & {
        readonly nodeId: MemoryNode["id"];
        readonly score: number;
      }
  >(json);
  return { node: { ...node, id: nodeId }, compositeScore: score, strength, semanticRelevance };
}
