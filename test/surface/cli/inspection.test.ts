/** The commands that look into a pack across its owners. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createDesk, createWordDesk, type Desk } from "./run-svc.ts";

// Each test starts processes.
setDefaultTimeout(120_000);

const PACK = "memory.pack";
const HOSTILE = "Nobody\u001b]0;owned\u0007 may\u202e read\u0000 this";
/** An owner whose name steers a terminal. */
const EVE = "eve\u001b[2J";

let desk: Desk;
let tea: string;
let coffee: string;
let cocoa: string;
let hostile: string;

/** An id as lists show it. */
const end = (id: string): string => id.slice(-6);

async function json(...args: readonly string[]) {
  const { stdout, code } = await desk.run([...args, "--format", "json"]);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

/** The lines of a table, without what colours them. */
async function lines(...args: readonly string[]): Promise<readonly string[]> {
  const { stdout, code } = await desk.run(args);
  expect(code).toBe(0);
  // Nothing of a memory or an owner steers the terminal.
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
  return stdout.trimEnd().split("\n");
}

beforeAll(async () => {
  desk = createWordDesk();
  await desk.run(["init", PACK, "--plain", "--owner", "anna"]);
  const engine = await desk.engine(PACK);
  try {
    const store = async (content: string, userId: string, more: object = {}) =>
      (await engine.storeWithReceipt({ content, userId, ...more })).nodeId;
    tea = await store("Anna drinks tea", "anna", { confidence: 0.25 });
    coffee = await store("Anna drinks coffee", "anna", { supersedes: [tea], nodeType: "fact" });
    cocoa = await store("Anna drinks cocoa", "anna", { supersedes: [coffee], nodeType: "fact" });
    hostile = await store(HOSTILE, EVE, { scope: "project" });
  } finally {
    await engine.close();
  }
});
afterAll(() => desk.remove());

describe("svc nodes", () => {
  test("shows the active memories of all owners, newest first", async () => {
    const [heading, ...rows] = await lines("nodes", PACK);

    expect(heading).toMatch(/^MEMORY +TYPE +OWNER +STORED +ID$/);
    expect(rows.slice(0, 2).map((row) => row.slice(-6))).toEqual([end(hostile), end(cocoa)]);
    expect(rows[0]).toContain("eve\ufffd[2J");
    expect(rows.slice(2)).toEqual(["", "2 memories"]);
  });

  test("restricts by owner, type and state", async () => {
    const ids = async (...more: readonly string[]) =>
      (await json("nodes", PACK, ...more)).nodes.map(({ id }: { id: string }) => id);

    expect(await ids("--user-id", "anna", "--state", "superseded")).toEqual([coffee, tea]);
    expect(await ids("--type", "note", "--state", "superseded")).toEqual([tea]);
    expect(await ids("--type", "Note", "--state", "SUPERSEDED")).toEqual([tea]);
    expect(await ids("--limit", "1")).toEqual([hostile]);
    expect(await ids("--limit", "0")).toEqual([]);
    expect((await desk.run(["nodes", PACK, "--state", "lost"])).code).toBe(2);
  });
});

describe("svc node", () => {
  test("shows a memory of any owner in any state, by its id or a part of it", async () => {
    const whole = await lines("node", PACK, hostile);
    expect(whole.join("\n")).toContain("Owner       eve\ufffd[2J");
    expect(whole.at(-1)).toContain("Nobody");
    expect(await json("node", PACK, tea.slice(-12))).toMatchObject({
      id: tea,
      lifecycle_state: "superseded",
      superseded_by: coffee,
    });
  });

  test("says what is missing, and finds only memories of the owner who is named", async () => {
    const unknown = "00000000-0000-4000-8000-00000000dead";
    expect(await desk.run(["node", PACK, unknown])).toMatchObject({
      code: 1,
      stderr: `Error: there is no memory ${unknown} here; svc nodes shows them\n`,
    });
    expect((await desk.run(["node", PACK, tea, "--user-id", EVE])).code).toBe(1);
    expect((await desk.run(["node", PACK, "x"])).code).toBe(2);
  });
});

describe("svc edges", () => {
  test("lists edges by id with the ends of what they connect", async () => {
    const [heading, ...rows] = await lines("edges", PACK);

    expect(heading).toMatch(/^TYPE +SOURCE +TARGET +CONF +ID$/);
    expect(rows.slice(2)).toEqual(["", "2 edges"]);
    const all = await json("edges", PACK);
    expect(
      all.map((edge: { source_id: string; target_id: string }) => [edge.source_id, edge.target_id]),
    ).toEqual(
      expect.arrayContaining([
        [coffee, tea],
        [cocoa, coffee],
      ]),
    );
    expect(rows[0]).toStartWith(`supersedes  ${end(all[0].source_id)}  ${end(all[0].target_id)}`);
  });

  test("restricts by type, source and target, and goes on behind an edge", async () => {
    const count = async (...more: readonly string[]) => (await json("edges", PACK, ...more)).length;

    expect(await count("--type", "contradicts")).toBe(0);
    expect(await count("--source", coffee, "--target", tea.slice(-8))).toBe(1);
    expect(await count("--user-id", EVE)).toBe(0);
    const [first, second] = await json("edges", PACK);
    const page = await desk.run(["edges", PACK, "--limit", "1"]);
    expect(page.stderr).toBe(`There are more: add --after ${first.id}\n`);
    expect(await json("edges", PACK, "--after", first.id)).toEqual([second]);
    expect(await lines("edges", PACK, "--type", "mentions")).toEqual(["(no results)"]);
  });
});

test("svc chain shows what a memory replaced and what replaced it, oldest first", async () => {
  const [, ...rows] = await lines("chain", PACK, coffee);

  expect(rows.slice(0, 3).map((row) => row.slice(-6))).toEqual([tea, coffee, cocoa].map(end));
  expect(rows.at(-1)).toBe(`${end(coffee)} replaced 1; 1 replaced it`);
  const { node_id, forward_chain, backward_chain } = await json("chain", PACK, coffee);
  expect([node_id, forward_chain[0].id, backward_chain[0].id]).toEqual([coffee, cocoa, tea]);
});

test("svc stats counts everything in all states, most frequent first", async () => {
  expect(await json("stats", PACK)).toEqual({
    totals: { nodes: 4, edges: 2, events: 4 },
    avg_confidence: 0.6625,
    avg_salience: 0.5,
    nodes_by_type: { fact: 2, note: 2 },
    nodes_by_state: { superseded: 2, tentative: 2 },
    nodes_by_scope: { personal: 3, project: 1 },
    edges_by_type: { supersedes: 2 },
  });
  expect((await json("stats", PACK, "--user-id", "nobody")).totals).toEqual({
    nodes: 0,
    edges: 0,
    events: 0,
  });
  expect(await lines("stats", PACK)).toContain("Nodes by scope  personal 3, project 1");
});

test("svc info says what memories and questions cost, as far as it was measured, and how long receipts are kept", async () => {
  // The model counts its tokens.
  const own = createDesk();
  await own.run(["init", "asked.pack", "--plain", "--owner", "anna"]);
  const fresh = (await own.run(["info", "asked.pack"])).stdout;
  expect(fresh).toMatch(/^Receipts +0; kept for 90 days$/m);
  expect(fresh).not.toContain("Costs");
  await own.run(["search", "asked.pack", "tea"]);
  const info = await own.run(["info", "asked.pack", "--format", "json"]);
  const told = JSON.parse(info.stdout);
  expect(told).toMatchObject({ receipt_count: 1, receipt_days: 90 });
  const bytes = told["receipt_bytes"];
  expect(bytes).toBeGreaterThan(100);
  expect(told["costs"]).toEqual({
    model_tokens: 0,
    store_ms: null,
    question_ms: expect.any(Number),
    memory_bytes: null,
    question_bytes: bytes,
  });
  await own.store("asked.pack", "anna", ...Array.from({ length: 100 }, (_, at) => `tea ${at}`));
  const { stdout } = await own.run(["info", "asked.pack"], {
    env: { SVC_RECEIPTS__RETENTION_DAYS: "0" },
  });
  expect(stdout).toContain(`1 (${bytes} bytes); none is kept now`);
  expect(stdout).toMatch(
    new RegExp(
      `^Costs +0 tokens of a model, \\d+ ms a store, \\d+ ms a question, \\d+ bytes a memory, ${bytes} bytes a question$`,
      "m",
    ),
  );
  own.remove();
});
