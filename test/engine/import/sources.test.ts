import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { useEngines } from "../engines.ts";
import * as samples from "./samples.ts";

setDefaultTimeout(120_000);

const { open } = useEngines();
const userId = "anna";

type Row = {
  readonly name: string;
  readonly source: () => string;
  readonly records: Readonly<Record<string, { readonly new: number }>>;
  /** A text, who said it there, and when. */
  readonly says: readonly [content: string, role: string, eventTime: string | undefined];
  readonly leftOut?: Readonly<Record<string, number>>;
};

// Names say nothing: the content decides.
const file = (content: string | object) => () =>
  samples.fileOf(typeof content === "string" ? content : JSON.stringify(content), "x.dat");

function claudeMem(): string {
  const path = join(samples.newFolder(), "store");
  using database = new Database(path);
  database.run(`CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT, created_at_epoch INTEGER);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, narrative TEXT, facts TEXT, created_at_epoch INTEGER);
    INSERT INTO sdk_sessions VALUES (1, 'c', 'm', 'shop');
    INSERT INTO user_prompts VALUES (1, 'c', 1, 'Make the cart faster', 1767323045678);
    INSERT INTO observations VALUES (1, 'm', 'shop', 'bugfix', 'Cart cached', 'Redis holds carts', '["TTL is 5 min"]', 1767323046000);`);
  return path;
}

const real = (name: string) => readFileSync(join(import.meta.dir, "real", name), "utf8");

function realMem0(): string {
  const path = join(samples.newFolder(), "store");
  using database = new Database(path);
  database.run(real("mem0-history.sql"));
  return path;
}

function realMcpMemory(): string {
  const path = join(samples.newFolder(), "store");
  using database = new Database(path);
  database.run(real("mcp-memory-service.sql"));
  return path;
}

function mcpMemory(): string {
  const path = join(samples.newFolder(), "store");
  using database = new Database(path);
  database.run(`CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT, content TEXT, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL);
    CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, similarity REAL, connection_types TEXT, metadata TEXT, created_at REAL);
    INSERT INTO memories VALUES (1, 'h1', 'Window seats', 'travel,anna', 'note', '{"a":1}', 1767323045.5, 1767323045.5, '2026-01-02T03:04:05.5Z', '2026-01-02T03:04:05.5Z', NULL);
    INSERT INTO memories VALUES (2, 'h2', 'Aisle seats', '', 'note', '{}', 1767323046.5, NULL, NULL, NULL, NULL);
    INSERT INTO memories VALUES (3, 'h3', 'Gone', '', 'note', '{}', 1767323046.5, NULL, NULL, NULL, 1767323050);
    INSERT INTO memory_graph VALUES ('h1', 'h2', 0.8, '["related"]', '{}', 1767323047);`);
  return path;
}

function mem0History(): string {
  const path = join(samples.newFolder(), "store");
  using database = new Database(path);
  database.run(`CREATE TABLE history (id TEXT, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at TEXT, updated_at TEXT, is_deleted INTEGER);
    INSERT INTO history VALUES ('h1', 'a', NULL, 'Lives in Rome', 'ADD', '2026-01-01T00:00:00Z', NULL, 0);
    INSERT INTO history VALUES ('h2', 'a', 'Lives in Rome', 'Lives in Turin', 'UPDATE', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 0);
    INSERT INTO history VALUES ('h3', 'b', NULL, 'Gone', 'ADD', '2026-01-01T00:00:00Z', NULL, 0);
    INSERT INTO history VALUES ('h4', 'b', 'Gone', NULL, 'DELETE', '2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z', 1);`);
  return path;
}

const ROWS: readonly Row[] = [
  {
    name: "claude-ai",
    source: file(samples.CLAUDE_AI),
    records: { said: { new: 1 } },
    says: ["I am allergic to nuts.", "user", "2024-05-01T10:00:01.123456Z"],
    leftOut: { "pictures and files": 1 },
  },
  {
    name: "gemini",
    source: file(samples.TAKEOUT),
    records: { said: { new: 2 }, answer: { new: 1 } },
    says: ["An inlet & deep.\n\n- old", "assistant", "2024-06-01T08:00:00.000000Z"],
  },
  {
    name: "claude-code",
    source: file(samples.CLAUDE_CODE),
    records: { said: { new: 1 }, answer: { new: 1 } },
    says: ["Use tabs.", "user", "2026-01-02T03:04:05.678000Z"],
    leftOut: { tools: 1 },
  },
  {
    name: "codex",
    source: file(samples.CODEX),
    records: { said: { new: 1 }, answer: { new: 1 } },
    says: ["Prefer Postgres.", "user", "2026-01-02T03:04:06.000000Z"],
    leftOut: { hidden: 1 },
  },
  {
    name: "gemini-cli",
    source: file(samples.GEMINI_CLI),
    records: { said: { new: 1 }, answer: { new: 1 } },
    says: ["I like blue.", "user", "2026-01-02T03:04:06.000000Z"],
  },
  {
    name: "server-memory",
    source: file(samples.jsonLines(...samples.GRAPH)),
    records: { derived: { new: 5 } },
    says: ["Anna lives_in Porto", "system", undefined],
  },
  {
    name: "mem0",
    source: file(samples.MEM0),
    records: { derived: { new: 1 } },
    says: ["Likes climbing", "system", "2026-01-02T10:04:05.000000Z"],
  },
  {
    name: "mem0",
    source: mem0History,
    records: { derived: { new: 1 } },
    says: ["Lives in Turin", "system", "2026-01-02T00:00:00.000000Z"],
    leftOut: { deleted: 1 },
  },
  {
    name: "mem0",
    source: realMem0,
    records: { derived: { new: 1 }, said: { new: 1 }, answer: { new: 1 } },
    says: ["Lives in Turin", "system", "2026-02-01T08:00:00.000000Z"],
    leftOut: { deleted: 1 },
  },
  {
    name: "server-memory",
    source: () => samples.fileOf(real("server-memory.jsonl")),
    records: { derived: { new: 7 } },
    says: ['Is allergic to nuts — "all" kinds', "system", undefined],
  },
  {
    name: "mcp-memory-service",
    source: mcpMemory,
    records: { derived: { new: 2 } },
    says: ["Window seats", "system", "2026-01-02T03:04:05.500000Z"],
    leftOut: { deleted: 1 },
  },
  {
    name: "mcp-memory-service",
    source: realMcpMemory,
    records: { derived: { new: 2 } },
    says: ["Anna lives in Porto", "system", "2026-11-28T02:19:23.395497Z"],
    leftOut: { deleted: 1, replaced: 1 },
  },
  {
    name: "claude-mem",
    source: claudeMem,
    records: { said: { new: 1 }, derived: { new: 1 } },
    says: ["Cart cached\nRedis holds carts\nTTL is 5 min", "system", "2026-01-02T03:04:06.000000Z"],
  },
  {
    name: "prme",
    source: file(samples.ORIGINAL),
    records: { said: { new: 2 }, derived: { new: 1 } },
    says: ["Hello there", "user", "2026-01-02T03:04:06.000000Z"],
    leftOut: { retired: 1, "said by a memory": 1 },
  },
];

async function eventsOf(engine: MemoryEngine): Promise<readonly MemoryEvent[]> {
  return await engine.getEvents({ userId, limit: 1000 });
}

describe("what is imported", () => {
  test.each(ROWS.map((row) => [row.name, row] as const))("%s", async (name, row) => {
    const { engine } = await open();
    const source = row.source();
    const dry = await engine.importSource({ source, userId, dryRun: true, sample: 5 });
    expect(dry.sources.map((one) => one.source)).toEqual([name]);
    expect(dry.samples.length).toBeGreaterThan(0);
    expect(await eventsOf(engine)).toEqual([]);

    const report = await engine.importSource({ source, userId });
    expect(report.records).toMatchObject(row.records);
    expect(report.leftOut).toMatchObject(row.leftOut ?? {});
    expect(report.unreadable).toEqual([]);
    const [content, role, eventTime] = row.says;
    const event = (await eventsOf(engine)).find((one) => one.content === content);
    expect(event).toMatchObject({ role, ...(eventTime !== undefined && { eventTime }) });
    // What another system made up is not its owner's word.
    const [node] = (await engine.getEventNodes(event?.id ?? "", userId)) ?? [];
    expect(node?.sourceType === "user_stated").toBe(role === "user");

    const before = await engine.storeCounts(userId);
    const again = await engine.importSource({ source, userId });
    expect(again.importId).toBeUndefined();
    for (const tally of Object.values(again.records)) expect(tally.unchanged).toBe(tally.seen);
    expect(await engine.storeCounts(userId)).toEqual(before);
  });
});

describe("a knowledge graph of server-memory", () => {
  test("can be written again from the events alone", async () => {
    const { engine } = await open();
    const source = samples.fileOf(samples.jsonLines(...samples.GRAPH));
    await engine.importSource({ source, userId });
    const events = (await eventsOf(engine)).map(({ content, metadata }) => ({
      content,
      ...(metadata?.["import"] as Record<string, unknown>),
    })) as Record<string, unknown>[];
    const of = (record: string) => events.filter((one) => one["record"] === record);
    const entities = of("entity").map(({ entity, entity_type: entityType }) => ({
      ...{ type: "entity", name: entity, entityType },
      observations: of("observation")
        .filter((one) => one["entity"] === entity)
        .sort((one, other) => Number(one["position"]) - Number(other["position"]))
        .map(({ content }) => content),
    }));
    const relations = of("relation").map(({ from, to, relation_type: relationType }) => ({
      ...{ type: "relation", from, to, relationType },
    }));
    const written = [...entities, ...relations] as object[];
    expect(written).toHaveLength(samples.GRAPH.length);
    for (const record of samples.GRAPH) expect(written).toContainEqual(record);
    const { edges } = await engine.getEdges({ userId });
    expect(edges.map(({ edgeType }) => edgeType).sort()).toEqual([
      "has_fact",
      "has_fact",
      "relates_to",
    ]);
  });
});

type Raw = Readonly<Record<string, unknown>>;

/** The rows of a table, from the events alone. */
function rowsOf(events: readonly MemoryEvent[], column: string, table?: string): readonly object[] {
  const kept = events.map(
    ({ content, metadata }) => [content, metadata?.["import"] as Raw] as const,
  );
  return kept
    .filter(([, about]) => about["table"] === table && about["raw"] !== undefined)
    .map(([content, { raw }]) => ({ [column]: content, ...(raw as Raw) }));
}

describe("a database", () => {
  test.each([
    ["claude-mem", claudeMem, "user_prompts", "prompt_text", "user_prompts"],
    ["claude-mem", claudeMem, "observations", "-", "observations"],
    ["mcp-memory-service", mcpMemory, "memories", "content", undefined],
    ["mcp-memory-service itself", realMcpMemory, "memories", "content", undefined],
  ])("of %s can be written again from the events alone", async (_, make, table, column, of) => {
    const { engine } = await open();
    const source = make();
    await engine.importSource({ source, userId });
    using database = new Database(source, { readonly: true });
    const all = database.query(`SELECT * FROM ${table}`).all() as Raw[];
    const rows = all.filter((row) => row["deleted_at"] == null && row["superseded_by"] == null);
    const written = rowsOf(await eventsOf(engine), column, of);
    expect(written).toHaveLength(rows.length);
    for (const row of rows) expect(written).toContainEqual(expect.objectContaining(row));
  });

  test("of mcp-memory-service says what contradicts what", async () => {
    const { engine } = await open();
    await engine.importSource({ source: realMcpMemory(), userId });
    const { edges } = await engine.getEdges({ userId });
    expect(edges.map(({ edgeType, metadata }) => [edgeType, metadata?.["relation_type"]])).toEqual([
      ["contradicts", "contradicts"],
    ]);
  });
});
