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

const thing = (text: string, kind?: string): Told => ({
  ...{ at: "2026-05-01T08:00:00Z", text, type: "entity" },
  ...(kind === undefined ? {} : { metadata: { entity_type: kind } }),
});

/** @param marked its text, with subject, predicate and object in brackets @param value of an amount */
function fact(at: string, marked: string, value?: string): Told {
  const [subject = "", predicate = "", object = ""] = (marked.match(/[^[\]]+(?=\])/g) ?? []).map(
    String,
  );
  const quantity = { value, unit: "EUR", source_text: object, grounding: "object_decimal_v1" };
  const metadata = {
    subject,
    predicate,
    object,
    ...(value === undefined ? {} : { quantity: { ...quantity, value } }),
  };
  return { at, text: marked.replace(/[[\]]/g, ""), metadata };
}

const TOLD = {
  milan: thing("Milan Novak", "person"),
  ledger: thing("ledger service", "product"),
  linz: thing("Linz"),
  tuesday: fact("2026-06-16T10:31:00Z", "The [ledger service] [deploys on] [Tuesday]."),
  thursday: fact("2026-09-10T16:21:00Z", "The [ledger service] [deploys on] [Thursday]."),
  owner: fact("2026-09-11T08:00:00Z", "[Milan Novak] [looks after] the [ledger service]."),
  lives: fact("2026-09-12T08:00:00Z", "[Milan Novak] [lives in] [Linz]."),
  moved: fact("2026-10-12T08:00:00Z", "[Milan Novak] [lives in] [Graz]."),
  tea: fact("2026-10-13T08:00:00Z", "[I] [spent] [4.50 EUR] on tea.", "4.50"),
  train: fact("2026-10-14T08:00:00Z", "[I] [spent] [30 EUR] on a train.", "30"),
  taxi: fact("2026-10-15T08:00:00Z", "[I] [spent] [about 20 EUR] on a taxi.", "20"),
} as const satisfies Readonly<Record<string, Told>>;

export type ThingName = keyof typeof TOLD;

const EDGES: readonly (readonly [ThingName, "has_fact" | "mentions", ThingName])[] = [
  ["ledger", "has_fact", "tuesday"],
  ["ledger", "has_fact", "thursday"],
  ["milan", "has_fact", "owner"],
  ["milan", "has_fact", "lives"],
  ["milan", "has_fact", "moved"],
  ["owner", "mentions", "ledger"],
  ["lives", "mentions", "linz"],
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
  for (const [from, type, to] of EDGES) {
    await link(place, nodes[from], nodes[to], { type, userId: "anna" });
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
