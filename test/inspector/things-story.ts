import type { MemoryNode } from "../../src/domain/node.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { seedInto } from "../contract/sqlite-seed.ts";
import { link } from "../contract/store-graph.ts";
import { type Served, type ServeOptions, serve } from "./place.ts";

/** A memory with people, things, claims and amounts in it. */
export type ThingsPlace = Served & {
  readonly nodes: Readonly<Record<ThingName, MemoryNode>>;
};

type Told = {
  readonly at: string;
  readonly text: string;
  readonly type?: "entity" | "fact" | "preference";
  readonly metadata?: JsonObject;
};

const claim = (subject: string, predicate: string, object: string): JsonObject => ({
  subject,
  predicate,
  object,
});
const spent = (value: string, object: string): JsonObject => ({
  ...claim("I", "spent", object),
  quantity: { value, unit: "EUR", source_text: object, grounding: "object_decimal_v1" },
});

const TOLD = {
  milan: {
    at: "2026-05-01T08:00:00Z",
    text: "Milan Novak",
    type: "entity",
    metadata: { entity_type: "person" },
  },
  ledger: {
    at: "2026-05-01T08:00:00Z",
    text: "ledger service",
    type: "entity",
    metadata: { entity_type: "product" },
  },
  linz: { at: "2026-05-01T08:00:00Z", text: "Linz", type: "entity" },
  tuesday: {
    at: "2026-06-16T10:31:00Z",
    text: "The ledger service deploys on Tuesday.",
    metadata: claim("ledger service", "deploys on", "Tuesday"),
  },
  thursday: {
    at: "2026-09-10T16:21:00Z",
    text: "The ledger service deploys on Thursday.",
    metadata: claim("ledger service", "deploys on", "Thursday"),
  },
  owner: {
    at: "2026-09-11T08:00:00Z",
    text: "Milan Novak looks after the ledger service.",
    metadata: claim("Milan Novak", "looks after", "ledger service"),
  },
  lives: {
    at: "2026-09-12T08:00:00Z",
    text: "Milan Novak lives in Linz.",
    metadata: claim("Milan Novak", "lives in", "Linz"),
  },
  moved: {
    at: "2026-10-12T08:00:00Z",
    text: "Milan Novak lives in Graz.",
    metadata: claim("Milan Novak", "lives in", "Graz"),
  },
  tea: {
    at: "2026-10-13T08:00:00Z",
    text: "I spent 4.50 EUR on tea.",
    metadata: spent("4.50", "4.50 EUR"),
  },
  train: {
    at: "2026-10-14T08:00:00Z",
    text: "I spent 30 EUR on a train.",
    metadata: spent("30", "30 EUR"),
  },
  taxi: {
    at: "2026-10-15T08:00:00Z",
    text: "I spent about 20 EUR on a taxi.",
    metadata: spent("20", "about 20 EUR"),
  },
} as const satisfies Readonly<Record<string, Told>>;

export type ThingName = keyof typeof TOLD;

const FACTS: readonly (readonly [ThingName, ThingName])[] = [
  ["ledger", "tuesday"],
  ["ledger", "thursday"],
  ["milan", "owner"],
  ["milan", "lives"],
  ["milan", "moved"],
];
const MENTIONS: readonly (readonly [ThingName, ThingName])[] = [
  ["owner", "ledger"],
  ["lives", "linz"],
];

/** Serves anna's memory of Milan, the ledger service, Linz, and of what she spent. */
export async function serveThings(options: Omit<ServeOptions, "fill"> = {}): Promise<ThingsPlace> {
  const stored: Partial<Record<ThingName, MemoryNode>> = {};
  const served = await serve({
    ...options,
    fill: async (engine, at) => {
      for (const [name, told] of Object.entries(TOLD)) {
        at(told.at);
        // SAFETY: the key is one of the table's own.
        stored[name as ThingName] = await tell(engine, told);
      }
    },
  });
  // SAFETY: every name of the table has been stored.
  const nodes = stored as Record<ThingName, MemoryNode>;
  const place = { seed: seedInto(served.pack) };
  for (const [from, to] of FACTS) {
    await link(place, nodes[from], nodes[to], { type: "has_fact", userId: "anna" });
  }
  for (const [from, to] of MENTIONS) {
    await link(place, nodes[from], nodes[to], { type: "mentions", userId: "anna" });
  }
  const { engine } = served;
  await engine.supersede(nodes.tuesday.id, nodes.thursday.id, { actorId: "anna" });
  await engine.contradict(nodes.lives.id, nodes.moved.id, { actorId: "codex" });
  return { ...served, nodes };
}

async function tell(engine: MemoryEngine, { text, type, metadata }: Told): Promise<MemoryNode> {
  const { node } = await engine.storeWithReceipt({
    userId: "anna",
    content: text,
    role: "user",
    nodeType: type ?? "fact",
    scope: "project",
    ...(metadata === undefined ? {} : { metadata }),
  });
  return node;
}
