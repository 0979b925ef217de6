import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { PackingSettings } from "../../../src/domain/records/retrieval-record.ts";
import type { EngineDeps } from "../../../src/engine/deps.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { RetrievalResponse, RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import type { EngineSettings } from "../../../src/engine/settings.ts";
import { at, type Memory, put } from "../../contract/samples.ts";
import { type SqlitePack, storeOptions } from "../../contract/sqlite-pack.ts";
import { seedInto } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { DEFAULT_SETTINGS, type OpenedEngine } from "../engines.ts";

/** Runs statements on a connection of its own, beside whatever has the pack open. */
export function runRaw(
  pack: SqlitePack,
  sql: string,
  ...parameters: readonly (string | Uint8Array)[]
): void {
  const database = openDatabase({ ...storeOptions(pack), mode: "read-write" });
  try {
    database.query(sql).run(...parameters);
  } finally {
    database.close();
  }
}

/** Reads rows on a connection of its own. */
export function readRaw<Row>(pack: SqlitePack, sql: string): readonly Row[] {
  const database = openDatabase({ ...storeOptions(pack), mode: "read-write" });
  try {
    return database.query<Row, []>(sql).all();
  } finally {
    database.close();
  }
}

/** The packing settings of a fresh installation, some of them replaced. */
export function packing(given: Partial<PackingSettings>): Partial<EngineSettings> {
  return { packing: { ...DEFAULT_SETTINGS.packing, ...given } };
}

/** Another engine on the store of an open one, which still is the one to close. */
export function withSettings(
  { deps }: Pick<OpenedEngine, "deps">,
  settings: Partial<EngineSettings>,
  models: Pick<EngineDeps, "reranker" | "languageModel"> = {},
): MemoryEngine {
  return createEngine({
    ...deps,
    settings: { ...DEFAULT_SETTINGS, upkeep: undefined, ...settings },
    ...models,
  });
}

/** Stores memories of any state as they are, each with the vector of its text. */
export async function remember(
  { store, deps }: Pick<OpenedEngine, "store" | "deps">,
  ...memories: readonly Memory[]
): Promise<MemoryNode[]> {
  const given = await Promise.all(
    memories.map(async (memory) => ({
      ...memory,
      vector: await deps.embedder.embedDocument(memory.content ?? ""),
    })),
  );
  return put(store, ...given);
}

/** Asks as ada at a fixed moment. */
export function ask(
  engine: MemoryEngine,
  query: string,
  given: Partial<RetrieveInput> = {},
): Promise<RetrievalResponse> {
  return engine.retrieve({ query, userId: "ada", referenceTime: at(86_400), ...given });
}

export function contentsOf(candidates: RetrievalResponse["results"]): string[] {
  return candidates.map(({ node }) => node.content);
}

/** Every memory id that an answer names anywhere. */
export function idsIn(response: RetrievalResponse): string[] {
  const { results, bundle, excluded, crossScopeHints } = response;
  return [
    ...[...results, ...crossScopeHints].flatMap(({ node, contradictsId }) => [
      node.id,
      ...(contradictsId === undefined ? [] : [contradictsId]),
    ]),
    ...[...bundle.sections.values()].flat().map(({ candidate }) => candidate.node.id),
    ...bundle.excludedIds,
    ...bundle.contextReferences.values(),
    ...excluded.map(({ nodeId }) => nodeId),
  ];
}

/** The lines of a context that are records, and those that are section headings. */
export function linesOf(context: string): { records: string[]; headings: string[] } {
  const lines = context.split("\n");
  return {
    records: lines.filter((line) => /^(?:- |\{|\[")/.test(line)),
    headings: lines.filter((line) => /^\[[a-z_]+\](?: \(stored texts, [a-z ]+\))?$/.test(line)),
  };
}

/** A trip to Lisbon as ada, who has it in every form that a memory takes, and bob, who wrote the same. */
export async function fillWorld(
  opened: OpenedEngine,
): Promise<Readonly<Record<string, MemoryNode>>> {
  const turns = [
    "We are planning the trip to Lisbon.",
    "The hotel in Lisbon is near the river.",
    "It costs ninety euros.",
    "Breakfast is served until ten.",
    "The trip begins on Friday.",
    "I will bring the green umbrella.",
  ];
  const given: Readonly<Record<string, Memory>> = {
    lisbon: { content: "Lisbon", nodeType: "entity", second: 1 },
    ...Object.fromEntries(
      turns.map((content, index) => [
        `turn${index}`,
        { content, sessionId: "planning", second: 10 + index },
      ]),
    ),
    old: { content: "The hotel in Lisbon is the Alfama.", nodeType: "fact", second: 20 },
    update: { content: "The hotel in Lisbon changed to the Baixa.", nodeType: "fact", second: 900 },
    friend: { content: "Marta speaks Portuguese.", nodeType: "fact", second: 30 },
    pinned: { content: "Always answer in English.", pinned: true, second: 31 },
    instruction: { content: "Never book a hotel without asking.", nodeType: "instruction" },
    task: { content: "Renew the passport.", nodeType: "task", second: 32 },
    doubt: {
      content: "The hotel might have a pool.",
      epistemicType: "hypothetical",
      second: 33,
    },
    yes: { content: "The hotel takes dogs.", lifecycleState: "contested", second: 34 },
    no: { content: "The hotel takes no dogs.", lifecycleState: "contested", second: 35 },
    project: { content: "The hotel project is late.", scope: "project", second: 36 },
    gone: { content: "The hotel was full.", lifecycleState: "superseded", second: 37 },
  };
  const names = Object.keys(given);
  const own = await remember(opened, ...Object.values(given));
  await remember(opened, ...Object.values(given).map((memory) => ({ ...memory, userId: "bob" })));
  const world = Object.fromEntries(names.map((name, index) => [name, own[index]]));
  const source = world["turn3"]?.id;
  const drawn = { evidenceRefs: source === undefined ? [] : [source], second: 40 };
  const claims: readonly Memory[] = [
    { ...drawn, content: "The hotel serves breakfast.", nodeType: "fact" },
    { ...drawn, content: "Breakfast at the hotel ends at ten.", nodeType: "fact" },
  ];
  const [serves, ends] = await remember(opened, ...claims);
  // Bob's claims name a source that is not his.
  await remember(opened, ...claims.map((memory) => ({ ...memory, userId: "bob" })));
  const place = { seed: seedInto(opened.pack) };
  await link(place, world["lisbon"], world["friend"]);
  await link(place, world["friend"], world["turn5"], { type: "relates_to" });
  await link(place, world["yes"], world["no"], { type: "contradicts" });
  // SAFETY: each name has its memory, in the order in which they were stored.
  return { ...world, serves, ends } as Readonly<Record<string, MemoryNode>>;
}
