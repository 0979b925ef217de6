/** Every job of the organizer, run by the built program over one of its surfaces: what it says, what it changed, its record, and how that is undone. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { startAssistant } from "../../scripts/bench/assistant-client.ts";
import { type ServerProcess, startServer, svcCommand } from "../../scripts/bench/server.ts";
import { onPack } from "../contract/sqlite-seed.ts";
import { usePlace } from "./place.ts";

setDefaultTimeout(180_000);

type Json = Readonly<Record<string, unknown>>;

const place = usePlace("organizer");
const environment = {
  ...place.environment(),
  SVC_ORGANIZER__OPPORTUNISTIC_ENABLED: "false",
  SVC_ORGANIZER__FADING: "original",
  SVC_ORGANIZER__EXTRACTIVE_SUMMARIES: "true",
  SVC_SCORING__FUSION: "weighted",
};
const WHEN = { valid_from: "2026-03-01T08:00:00Z", event_time: "2026-03-01T08:00:00Z" };
const DAY = "2026-02-03T10:00:00Z";

/** By a name of its own, what is stored a hundred days ago. */
const MEMORIES: Readonly<Record<string, Json>> = {
  lock: { content: "The gate has a new lock", node_type: "fact" },
  doubt: { content: "Perhaps the roof leaks", epistemic_type: "hypothetical", ttl_days: null },
  umbrella: { content: "The umbrella is in the car", ttl_days: null },
  faint: { content: "Anna may call on Friday", role: "assistant", ttl_days: null },
  parcel: { content: "The parcel is at the gate", node_type: "fact", ...WHEN },
  parcelToo: { content: "The parcel is at the gate", node_type: "fact", ...WHEN },
  js: { content: "JS", node_type: "entity" },
  javascript: { content: "JavaScript", node_type: "entity" },
  keller: { content: "Anna Maria Keller", node_type: "entity" },
  sofia: { content: "Anna Maria Sofia Keller", node_type: "entity" },
  pan: { content: "The pan is on the stove", ttl_days: 1 },
  ...Object.fromEntries(
    ["", " too", " as well"].map((more, at) => [
      `garden${at}`,
      {
        content: `The garden behind the house needs water in the evening${more}`,
        ...{ node_type: "fact", confidence: 0.5, event_time: DAY },
      },
    ]),
  ),
  ...Object.fromEntries(
    ["bread", "soap", "two lamps"].map((what) => [
      what,
      { content: `Anna bought ${what}`, node_type: "fact", event_time: DAY },
    ]),
  ),
};

let server: ServerProcess;
let pack = "";
const ids: Record<string, string> = {};

async function ask(path: string, body?: object, method?: string): Promise<Json> {
  const response = await fetch(`${server.url}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return Object(answer);
}

async function store(memory: Json): Promise<string> {
  return String((await ask("/v1/store", { user_id: "ada", ...memory }))["node_id"]);
}

async function svc(...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([...svcCommand(), ...args], {
    env: { ...environment, PATH: process.env["PATH"], SVC_ENCRYPTION_ENABLED: "false" },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  const [said, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(complaint);
  return said;
}

beforeAll(async () => {
  pack = place.packIn("p");
  server = await startServer({ pack, environment });
  for (const [name, memory] of Object.entries(MEMORIES)) ids[name] = await store(memory);
  await server.end("SIGTERM");
  onPack({ layout: { kind: "file", path: pack } }, (database) =>
    database.run(`UPDATE nodes SET
      created_at = strftime('%Y-%m-%dT%H:%M:%S', created_at, '-100 days') || '.000000Z',
      last_reinforced_at = strftime('%Y-%m-%dT%H:%M:%S', last_reinforced_at, '-100 days') || '.000000Z'`),
  );
  server = await startServer({ pack, environment });
});

/** A machine that does much else at the same time needs more than the usual budget. */
const LONG = ["--budget-ms", "60000"];

/** Runs one job over HTTP, over MCP or on the command line. */
const SURFACES = {
  http: async (job: string) => {
    const { jobs_run } = await ask("/v1/organize", { jobs: [job], budget_ms: 60_000 });
    return jobs_run;
  },
  mcp: async (job: string) => {
    const assistant = await startAssistant({ pack, environment });
    try {
      const { value } = await assistant.call("memory_organize", { jobs: job, budget_ms: 60_000 });
      return value["jobs_run"];
    } finally {
      await assistant.leave();
    }
  },
  cli: async (job: string) => {
    const said = await svc("organize", pack, "--jobs", job, ...LONG, "--format", "json");
    return JSON.parse(said).jobs_run;
  },
} as const;

const stateOf = async (id: string): Promise<unknown> =>
  (await ask(`/v1/nodes/${id}`))["lifecycle_state"];

async function recordsOf(id: string): Promise<readonly Json[]> {
  const { operations } = await ask(`/v1/nodes/${id}/provenance`);
  // SAFETY: the interface describes the list.
  return operations as Json[];
}

const idOf = (name: string): string => ids[name] ?? name;

/** The active summaries. */
async function summaries(): Promise<readonly Json[]> {
  const { nodes } = await ask("/v1/nodes?user_id=ada&limit=100");
  // SAFETY: the interface describes the list.
  return (nodes as Json[]).filter(({ node_type }) => node_type === "summary");
}

const GARDENS = ["garden0", "garden1", "garden2"];

/** What each job changes: the state that memories get, and the operation that says so. */
const JOBS: readonly {
  readonly job: string;
  readonly surface: keyof typeof SURFACES;
  readonly state?: string;
  readonly names?: readonly string[];
  readonly operation?: string;
  readonly summaries?: number;
}[] = [
  {
    ...{ job: "promote", surface: "http", state: "stable" },
    ...{ names: Object.keys(MEMORIES), operation: "LIFECYCLE_CHANGED" },
  },
  {
    ...{ job: "tombstone_sweep", surface: "mcp", state: "archived" },
    ...{ names: ["pan"], operation: "TOMBSTONE_SWEEP" },
  },
  {
    ...{ job: "archive", surface: "cli", state: "archived" },
    ...{ names: ["doubt", "faint"], operation: "LIFECYCLE_CHANGED" },
  },
  {
    ...{ job: "decay_sweep", surface: "mcp", state: "archived" },
    ...{ names: ["umbrella"], operation: "LIFECYCLE_CHANGED" },
  },
  {
    ...{ job: "deduplicate", surface: "http", state: "superseded" },
    ...{ names: ["parcelToo"], operation: "ORGANIZER_MERGED" },
  },
  {
    ...{ job: "alias_resolve", surface: "cli", state: "superseded" },
    ...{ names: ["js"], operation: "ORGANIZER_MERGED" },
  },
  { job: "summarize", surface: "http", summaries: 1 },
  {
    ...{ job: "consolidate", surface: "cli", state: "superseded", summaries: 3 },
    ...{ names: GARDENS, operation: "CONSOLIDATION_RETIRED" },
  },
  { job: "snapshot_generation", surface: "mcp" },
  { job: "index_compaction", surface: "http" },
  { job: "feedback_apply", surface: "cli" },
];

test.each(JOBS)(
  "$job over $surface changes what its dry run lists, each with a record",
  async ({ job, surface, ...wanted }) => {
    const { names = [], state, operation, summaries: made } = wanted;
    const before = await Promise.all(Object.values(ids).map(stateOf));
    const listed = await svc(
      "organize",
      pack,
      "--jobs",
      job,
      ...LONG,
      "--dry-run",
      "--format",
      "json",
    );
    // SAFETY: the interface describes the list.
    const changes = JSON.parse(listed).would_change.changes as Json[];
    expect(await Promise.all(Object.values(ids).map(stateOf))).toEqual(before);

    expect(await SURFACES[surface](job)).toEqual([job]);

    const retired = changes.filter(({ from, to }) => from !== null && from !== to);
    expect(retired.map(({ target_id }) => target_id).sort()).toEqual(names.map(idOf).sort());
    for (const name of names) {
      expect([name, await stateOf(idOf(name))]).toEqual([name, state]);
      const record = (await recordsOf(idOf(name))).at(-1);
      expect(record?.["op_type"]).toBe(operation);
      const { content } = MEMORIES[name] ?? {};
      // The memory as it was is in the record, from which it can be had again.
      expect(JSON.stringify(record?.["payload"])).toContain(String(content));
    }
    const untouched = Object.keys(ids).filter((name) => !names.includes(name));
    const now = await Promise.all(untouched.map((name) => stateOf(idOf(name))));
    expect(now).toEqual(untouched.map((name) => before[Object.keys(ids).indexOf(name)]));
    if (made !== undefined) expect(await summaries()).toHaveLength(made);
  },
);

test.each([
  ["umbrella", /archived \d{4}-.* by decay_sweep \(/],
  ["pan", /archived \d{4}-.* because its retention of 1 day had ended/],
  ["parcelToo", /replaced \d{4}-.* by another memory that says the same/],
  ["js", /replaced \d{4}-.* by another name of the same thing/],
  ["garden1", /replaced \d{4}-.* by a summary that quotes it/],
])("svc show says what became of %s", async (name, words) => {
  const shown = await svc("show", pack, idOf(name));

  expect(shown).toMatch(new RegExp(`^Organizer +${words.source}`, "m"));
});

test("what was changed is undone as the documentation says, and the next run leaves it so", async () => {
  const again = {
    ...Object.fromEntries(
      ["pan", "doubt", "faint", "umbrella", "parcelToo", "garden1"].map((name) => [
        name,
        { content: MEMORIES[name]?.["content"] },
      ]),
    ),
    js: { content: "JS", node_type: "entity", metadata: { apart: true } },
  };
  const restored: string[] = [];
  for (const memory of Object.values(again)) restored.push(await store(memory));
  const keyOf = ({ metadata }: Json) => Object(metadata)["consolidation_key"];
  const former = await summaries();
  for (const { id } of former) await svc("archive", pack, String(id), "--yes");

  await ask("/v1/organize", { budget_ms: 60_000 });

  expect(await Promise.all(restored.map(stateOf))).toEqual(restored.map(() => "tentative"));
  expect(await Promise.all(["keller", "sofia"].map((name) => stateOf(idOf(name))))).toEqual([
    "stable",
    "stable",
  ]);
  const keys = new Set(former.map(keyOf));
  expect((await summaries()).filter((summary) => keys.has(keyOf(summary)))).toEqual([]);
});
