/** A memory behind the HTTP interface of `svc serve`, for the adapters. It needs nothing but `fetch`. */

import { isPrivateAddress } from "../../../src/domain/addresses.ts";
import { parseOptionalInteger } from "../../../src/domain/arguments.ts";
import { invalid, missingNode, SvcError } from "../../../src/domain/errors.ts";
import type { MemoryEvent, MemoryNode } from "../../../src/domain/node.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { camelKeys, given } from "../../../src/lib/text.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import {
  type FoundMemory,
  isErrorCode,
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

/**
 * The memory of a server. Calls reject with the SvcError that the server answers, or storage_unavailable where it cannot be reached
 * or is late: what was being stored may have been, and a call with a `requestId` can be repeated.
 * @throws SvcError invalid_argument
 */
export function remoteMemory(options: RemoteMemoryOptions): Memory {
  const ask = askOf(options);
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
  };
}

/** Memories that the server gives in one answer. */
const BATCH = 500;

/** On Bun, no proxy of the environment for a server of this machine or its network. Other runtimes know no such member. */
function directly(url: string): object {
  return isPrivateAddress(new URL(url)) ? { proxy: false } : {};
}

function askOf({ url, apiKey, timeoutMs = 30_000, fetch: given }: RemoteMemoryOptions): Ask {
  const base = baseOf(url);
  parseOptionalInteger(timeoutMs, "timeoutMs", 1, TIMER_MAX_MS);
  // Asked for at each call, so that a program may replace it.
  const request =
    given ?? ((to: string, init: RequestInit) => fetch(to, { ...init, ...directly(to) }));
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return async ({ method, path, body, headers, signal }) => {
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(`${base}${path}`, {
        method,
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...key,
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // The key is for this server alone.
        redirect: "error",
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      });
      return readAnswer(response, await response.text(), base);
    } catch (error) {
      if (error instanceof SvcError || signal?.aborted === true) throw error;
      const reason = late.aborted ? `no answer within ${timeoutMs} ms` : "it cannot be reached";
      throw new SvcError(
        "storage_unavailable",
        `the memory at ${base}: ${reason}`,
        { path: base },
        { cause: error },
      );
    }
  };
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

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
