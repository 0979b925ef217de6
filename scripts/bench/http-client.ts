/** What became of a request. Only `ok` and an `accepted` refusal are promises of the server. */
export type Answer<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "refused"; readonly status: number; readonly body: RefusalBody }
  /** No complete answer came: whether the request had an effect is unknown. */
  | { readonly kind: "unreachable" };

export type RefusalBody = {
  readonly detail?: unknown;
  /** Of a source text that is safe although its memory could not be written yet. */
  readonly event_id?: string;
  readonly accepted?: boolean;
};

export type StoreReceipt = { readonly event_id: string; readonly node_id: string };
export type EventAnswer = { readonly id: string; readonly content: string };
export type StatusAnswer = { readonly status: "pending" | "complete"; readonly attempts: number };
export type ProcessAnswer = {
  readonly processed: number;
  readonly pending: number;
  readonly failed: number;
};
export type RetrieveAnswer = {
  readonly results: readonly { readonly node_id: string; readonly content: string }[];
  readonly metrics: {
    readonly timing_ms: number;
    readonly stages: readonly { readonly stage: string; readonly timing_ms: number }[];
    readonly backend_failures: Readonly<Record<string, string>>;
  };
};

/** Speaks to one server as one owner. Calls never reject for what the server or the network does. */
export type Client = {
  store(content: string, sessionId?: string): Promise<Answer<StoreReceipt>>;
  /** @param key UUID that makes a repetition of the call harmless */
  ingest(
    contents: readonly string[],
    key?: string,
  ): Promise<Answer<{ readonly event_ids: readonly string[] }>>;
  process(budgetMs: number): Promise<Answer<ProcessAnswer>>;
  retrieve(query: string, limit?: number): Promise<Answer<RetrieveAnswer>>;
  event(eventId: string): Promise<Answer<EventAnswer>>;
  status(eventId: string): Promise<Answer<StatusAnswer>>;
  node(nodeId: string): Promise<Answer<{ readonly id: string; readonly content: string }>>;
};

/** A client of the server at `url` for one owner. */
export function createClient(url: string, userId: string): Client {
  const post = <T>(path: string, body: object, headers: Record<string, string> = {}) =>
    call<T>(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return {
    store: (content, sessionId) =>
      post("/v1/store", { content, user_id: userId, session_id: sessionId ?? null }),
    ingest: (contents, key) =>
      post(
        "/v1/ingest/fast",
        { items: contents.map((content) => ({ content })), user_id: userId },
        key === undefined ? {} : { "idempotency-key": key },
      ),
    process: (budgetMs) =>
      post("/v1/materializations/process", { user_id: userId, budget_ms: budgetMs }),
    retrieve: (query, limit) => post("/v1/retrieve", { query, user_id: userId, limit: limit ?? 0 }),
    event: (eventId) => call(`${url}/v1/events/${eventId}`),
    status: (eventId) => call(`${url}/v1/events/${eventId}/processing-status`),
    node: (nodeId) => call(`${url}/v1/nodes/${nodeId}`),
  };
}

/** The value of an answer. @throws Error that shows any other answer */
export function unwrap<T>(answer: Answer<T>): T {
  if (answer.kind === "ok") return answer.value;
  throw new Error(`the server did not answer as hoped: ${JSON.stringify(answer)}`);
}

async function call<T>(url: string, init?: RequestInit): Promise<Answer<T>> {
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    if (response.ok) return { kind: "ok", value: JSON.parse(text) };
    return { kind: "refused", status: response.status, body: parsed(text) };
  } catch {
    // Refused, cut or half an answer: all the same to the caller.
    return { kind: "unreachable" };
  }
}

function parsed(text: string): RefusalBody {
  try {
    return JSON.parse(text);
  } catch {
    return { detail: text };
  }
}
