import type { Client } from "../../scripts/bench/http-client.ts";
import { createRandom, sentence } from "../../scripts/bench/sentences.ts";

/** Characters that a careless store would change: blanks at both ends, line breaks, quotes, scripts, joined emoji. */
const AWKWARD = ["", "  ", "\n", "\t\r\n", '"', "'; --", "\\u0000", "ß é 東京 مرحبا", "👩‍👩‍👧", "​"];

/** A text that was sent, and what the server promised about it. */
export type Entry = {
  readonly content: string;
  /** A word that no other text holds. */
  readonly word: string;
  /** Texts of one call share it; they are kept together or not at all. */
  readonly call: number;
  readonly kind: "store" | "ingest";
  /** Set once the server has acknowledged it. */
  eventId?: string;
  /** Set once a store was acknowledged. */
  nodeId?: string;
};

/** A call with an idempotency key that got no answer and is to be repeated. */
export type OpenCall = { readonly key: string; readonly entries: readonly Entry[] };

/** Everything that was sent to a pack, by all clients, over all rounds. */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly openCalls: OpenCall[] = [];
  /** Answers that were neither an acknowledgement nor a lost connection. */
  readonly refusals: string[] = [];
  readonly #random: () => number;
  #calls = 0;
  #awaited: { readonly kind: Entry["kind"]; readonly resolve: () => void } | undefined;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  get acknowledged(): readonly Entry[] {
    return this.entries.filter(({ eventId }) => eventId !== undefined);
  }

  get acknowledgedStores(): readonly Entry[] {
    return this.acknowledged.filter(({ kind }) => kind === "store");
  }

  /** A number from 0 inclusive to `end` exclusive. */
  whole(end: number): number {
    return Math.floor(this.#random() * end);
  }

  /** Resolves at the next acknowledgement of this kind, before anything else happens. One wait at a time. */
  async nextAcknowledgement(kind: Entry["kind"]): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#awaited = { kind, resolve };
    });
  }

  /** Notes the texts of one call before they are sent. */
  begin(kind: Entry["kind"], count: number): Entry[] {
    const call = this.#calls++;
    const begun = Array.from({ length: count }, (): Entry => {
      const serial = this.entries.length;
      const word = `w${serial.toString(36)}q${this.whole(36 ** 4).toString(36)}z`;
      const edge = AWKWARD[serial % AWKWARD.length] ?? "";
      const content = `${edge} ${word} ${sentence(this.#random, serial)} ${edge}`;
      const entry = { content, word, call, kind };
      this.entries.push(entry);
      return entry;
    });
    return begun;
  }

  /** Stores one text. @returns whether the server is still there */
  async store(client: Client): Promise<boolean> {
    const [entry] = this.begin("store", 1);
    if (entry === undefined) return true;
    const answer = await client.store(entry.content, `session ${entry.call % 3}`);
    if (answer.kind === "ok") {
      entry.eventId = answer.value.event_id;
      entry.nodeId = answer.value.node_id;
      this.#announce("store");
    } else if (answer.kind === "refused") {
      if (answer.body.accepted === true && answer.body.event_id !== undefined) {
        entry.eventId = answer.body.event_id;
      } else this.refusals.push(`${answer.status} ${String(answer.body.detail)}`);
    }
    return answer.kind !== "unreachable";
  }

  /** Admits up to `most` texts in one call, every other time with an idempotency key. */
  async ingest(client: Client, most: number): Promise<boolean> {
    const entries = this.begin("ingest", 1 + this.whole(most));
    const key = this.whole(2) === 0 ? undefined : Bun.randomUUIDv7();
    return await this.#send(client, { key, entries });
  }

  /** Repeats the calls that got no answer and carry a key; the server must not apply them twice. */
  async repeatOpenCalls(client: Client): Promise<void> {
    for (const call of this.openCalls.splice(0)) {
      if (!(await this.#send(client, call))) return;
    }
  }

  #announce(kind: Entry["kind"]): void {
    if (this.#awaited?.kind !== kind) return;
    this.#awaited.resolve();
    this.#awaited = undefined;
  }

  async #send(
    client: Client,
    { key, entries }: { readonly key: string | undefined; readonly entries: readonly Entry[] },
  ): Promise<boolean> {
    const contents = entries.map(({ content }) => content);
    const answer = await client.ingest(contents, key);
    if (answer.kind === "ok") {
      for (const [index, entry] of entries.entries()) {
        const id = answer.value.event_ids[index];
        if (id !== undefined) entry.eventId = id;
      }
      this.#announce("ingest");
    } else if (answer.kind === "refused") {
      this.refusals.push(`${answer.status} ${String(answer.body.detail)}`);
    } else if (key !== undefined) this.openCalls.push({ key, entries });
    return answer.kind !== "unreachable";
  }
}

/** Acknowledged texts that a server does not give back exactly. */
export async function findLost(client: Client, entries: readonly Entry[]): Promise<string[]> {
  const lost: string[] = [];
  for (const { eventId, word, content } of entries) {
    const answer = await client.event(eventId ?? "");
    if (answer.kind !== "ok") lost.push(`${word}: event ${eventId} is gone`);
    else if (answer.value.content !== content) lost.push(`${word}: event ${eventId} was changed`);
  }
  return lost;
}

/** Acknowledged stores whose memory a question for their own word does not bring. */
export async function findUnfindable(
  client: Client,
  entries: readonly Entry[],
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { eventId, word, content } of entries) {
    const answer = await client.retrieve(word, 10);
    const isFound =
      answer.kind === "ok" && answer.value.results.some((result) => result.content === content);
    if (!isFound) missing.push(`${word}: event ${eventId} is not found`);
  }
  return missing;
}

/** Builds whatever is pending. @throws Error when it does not get less */
export async function processAll(client: Client): Promise<void> {
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const answer = await client.process(2_000);
    if (answer.kind !== "ok") throw new Error(`processing failed: ${JSON.stringify(answer)}`);
    const { pending, processed } = answer.value;
    if (pending === 0) return;
    // A job that another process holds is in nobody's way; one that stays for ever is.
    if (processed === 0 && pending >= left) await Bun.sleep(50);
    left = pending;
  }
}
