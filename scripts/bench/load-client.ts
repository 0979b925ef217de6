import { createRandom, question, sentence } from "./sentences.ts";

/** Owners that share the clients. */
export const OWNERS = 8;

export const KINDS = ["store", "retrieve", "change"] as const;
export type Kind = (typeof KINDS)[number];

/** What a server has acknowledged of one memory. An undefined state: a change of it got no answer. */
export type Known = { readonly content: string; state: string | undefined };

export type Tally = {
  readonly times: Record<Kind, number[]>;
  readonly statuses: Map<number, number>;
  readonly complaints: string[];
  /** Calls that got no answer: the server was gone. */
  readonly unanswered: string[];
  /** By node id. */
  readonly known: Map<string, Known>;
};

export function newTally(): Tally {
  return {
    times: { store: [], retrieve: [], change: [] },
    statuses: new Map(),
    complaints: [],
    unanswered: [],
    known: new Map(),
  };
}

/** One client: owns the memories that it makes, so that it knows what state each must be in. */
export class LoadClient {
  readonly #url: () => string;
  readonly #owner: string;
  readonly #tally: Tally;
  readonly #random: () => number;
  /** Ids of its own memories that are still tentative. */
  readonly #fresh: string[] = [];
  /** Memories that the call at hand changes. */
  #changing: readonly string[] = [];
  #turn = 0;

  /** @param url of the server that the next call is for */
  constructor(url: string | (() => string), index: number, tally: Tally) {
    this.#url = typeof url === "string" ? () => url : url;
    this.#owner = `owner-${index % OWNERS}`;
    this.#tally = tally;
    this.#random = createRandom(index + 1);
  }

  /** The next call of a fixed mix: nine stores, seven questions and four changes in twenty. */
  async next(): Promise<void> {
    const place = (this.#turn * 7) % 20;
    this.#turn += 1;
    if (place >= 9 && place < 16) await this.retrieve();
    else if (place >= 16 && this.#fresh.length >= 2) await this.change();
    else await this.store();
  }

  async store(): Promise<void> {
    const content = `${sentence(this.#random, this.#turn)} (${crypto.randomUUID()})`;
    const answer = await this.#call("store", "POST", "/v1/store", {
      content,
      user_id: this.#owner,
      node_type: this.#turn % 3 === 0 ? "fact" : "note",
      session_id: this.#turn % 2 === 0 ? `session-${this.#turn % 5}` : null,
    });
    if (answer === undefined) return;
    const id = String(answer["node_id"]);
    this.#tally.known.set(id, { content, state: "tentative" });
    this.#fresh.push(id);
  }

  async retrieve(): Promise<void> {
    await this.#call("retrieve", "POST", "/v1/retrieve", {
      query: question(this.#random),
      user_id: this.#owner,
      limit: 0,
    });
  }

  /** One of six changes that the state of the memory allows. */
  async change(): Promise<void> {
    const [first, second] = [this.#fresh.shift(), this.#fresh.shift()];
    if (first === undefined || second === undefined) return;
    this.#changing = [first, second];
    const path = `/v1/nodes/${first}`;
    switch (this.#turn % 6) {
      case 0:
        await this.#transition(first, "promote", "stable");
        break;
      case 1:
        await this.#transition(first, "archive", "archived");
        break;
      case 2:
        await this.#call("change", "PUT", `${path}/reinforce`, {});
        break;
      case 3:
        await this.#replace(first, second);
        break;
      default:
        await this.#settle(first, second);
    }
    if (this.#turn % 6 <= 2) this.#fresh.push(second);
  }

  async #transition(id: string, step: string, state: string): Promise<void> {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const path = `/v1/nodes/${id}/${step}`;
    const done = await this.#call("change", "PUT", path, undefined, headers);
    if (done !== undefined) this.#expect(id, state);
  }

  async #replace(old: string, next: string): Promise<void> {
    const pair = { old_node_id: old, new_node_id: next };
    const done = await this.#call("change", "POST", "/v1/supersedences", pair);
    if (done !== undefined) this.#expect(old, "superseded");
  }

  async #settle(winner: string, loser: string): Promise<void> {
    const claims = { node_a_id: winner, node_b_id: loser };
    const marked = await this.#call("change", "POST", "/v1/contradictions", claims);
    if (marked === undefined) return;
    this.#expect(winner, "contested");
    this.#expect(loser, "contested");
    const outcome = { winner_id: winner, loser_id: loser };
    const done = await this.#call("change", "POST", "/v1/contradictions/resolve", outcome);
    if (done === undefined) return;
    this.#expect(winner, "stable");
    this.#expect(loser, "deprecated");
  }

  #expect(id: string, state: string): void {
    const known = this.#tally.known.get(id);
    if (known?.state !== undefined) known.state = state;
  }

  #forget(id: string): void {
    const known = this.#tally.known.get(id);
    if (known !== undefined) known.state = undefined;
  }

  async #call(
    kind: Kind,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown> | undefined> {
    const { times, statuses, complaints } = this.#tally;
    const start = performance.now();
    try {
      const response = await fetch(`${this.#url()}${path}`, {
        method,
        headers: { ...(body && { "content-type": "application/json" }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      const answer: Record<string, unknown> = Object(await response.json());
      times[kind].push(performance.now() - start);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (response.ok) return answer;
      complaints.push(`${method} ${path}: ${response.status} ${String(answer["detail"])}`);
    } catch (error) {
      this.#tally.unanswered.push(
        `${method} ${path}: ${error instanceof Error ? error.message : error}`,
      );
      // Whether it was done, nobody can know.
      if (kind === "change") for (const id of this.#changing) this.#forget(id);
    }
    return undefined;
  }
}

/** What is not there as it was acknowledged. */
export async function missing(url: string, known: ReadonlyMap<string, Known>): Promise<string[]> {
  const wrong: string[] = [];
  for (const [id, { content, state }] of known) {
    const response = await fetch(`${url}/v1/nodes/${id}`);
    const node: Record<string, unknown> = Object(await response.json());
    if (node["content"] !== content) wrong.push(`${id} is gone`);
    else if (state !== undefined && node["lifecycle_state"] !== state) {
      wrong.push(`${id} is ${String(node["lifecycle_state"])}, acknowledged as ${state}`);
    }
  }
  return wrong;
}
