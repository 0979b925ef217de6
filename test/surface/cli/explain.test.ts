import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { createReceiptKeeper } from "../../../src/engine/receipts/keep.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import { filePack, openSqlitePack } from "../../contract/sqlite-pack.ts";
import { testClock } from "../../engine/engines.ts";
import { aRetrieval, SURROUNDINGS } from "../../engine/receipts/retrievals.ts";
import { createWordDesk, type Desk } from "./run-svc.ts";

// Each test starts a process.
setDefaultTimeout(120_000);

/** The vectors of the pack are made up; no search takes part here. */
const OTHER_MODEL = expect.stringMatching(
  /^Warning: this program lacks the embedding model of what is stored, hand-made, [^\n]*\n$/,
);
const UNKNOWN = "01900000-0000-7000-8000-0000000000ff";

/** Memories that are no results, by what left them out. */
const LEFT_OUT = [
  { reason: "below_threshold", compositeScore: 0.21, semanticRelevance: 0.12 },
  { reason: "source_limit", compositeScore: 0.2, semanticRelevance: 0.4 },
  { reason: "evidence_limit", compositeScore: 0.19, semanticRelevance: 0.4 },
  { reason: "result_limit", compositeScore: 0.18, semanticRelevance: 0.4 },
  { reason: "node_type_filtered:task", compositeScore: undefined },
  { reason: "source_type_filtered:tool_output", compositeScore: undefined },
  { reason: "condition_filtered:unknown", compositeScore: undefined },
  { reason: "epistemic_filtered:hypothetical", compositeScore: undefined },
  { reason: "unverified_below_threshold:0.20<=0.30", compositeScore: undefined },
].map((item, index) => ({
  ...item,
  nodeId: asUuid(`01900000-0000-7000-8000-0000000000a${index}`),
}));

let desk: Desk;
let requestId: Uuid;

beforeAll(async () => {
  desk = createWordDesk();
  const store = await openSqlitePack(filePack(desk.folder));
  const keeper = createReceiptKeeper({
    ...SURROUNDINGS,
    store,
    clock: testClock(),
    settings: { ...SURROUNDINGS.settings, receiptRetentionDays: undefined, receiptDetail: "full" },
    warn: (message) => {
      throw new Error(message);
    },
  });
  const usual = aRetrieval({
    seed: 21,
    found: 5,
    neighbours: 6,
    packed: 7,
    query: "When did\u001b[31m Caroline\npaint?",
    intent: "temporal",
  });
  const outside = usual.results.slice(7).map(({ node }) => node.id);
  const retrieval = {
    ...usual,
    excluded: LEFT_OUT,
    bundle: {
      ...usual.bundle,
      blankIds: [outside[0]!],
      folded: new Map([[outside[1]!, usual.results[0]!.node.id]]),
    },
    filter: { ...usual.filter, scopes: ["personal" as const] },
    metadata: {
      ...usual.metadata,
      minScore: 0.3,
      resultLimit: 11,
      maxPerSource: 1,
      maxPerEvidence: 2,
      reranker: "timeout" as const,
    },
  };
  requestId = retrieval.metadata.requestId;
  await keeper.keep(retrieval);
  await keeper.close();
  await store.close();
});

afterAll(() => desk.remove());

const explain = (...args: readonly string[]) =>
  desk.run(["explain", ...args, "--db-path", "memory.pack"]);

describe("svc explain", () => {
  test("tells a person why each candidate is or is not in the context", async () => {
    const { code, stdout, stderr } = await explain(requestId);
    expect({ code, stderr }).toEqual({ code: 0, stderr: OTHER_MODEL });
    const golden = join(import.meta.dir, "../../golden/explain.txt");
    expect(stdout).toBe(readFileSync(golden, "utf8"));
  });

  test("has complete ids and every reason as JSON", async () => {
    const { code, stdout } = await explain(requestId.toUpperCase(), "--format", "json");
    expect(code).toBe(0);
    const explanation: Readonly<Record<string, readonly Record<string, unknown>[]>> =
      JSON.parse(stdout);
    expect(explanation).toMatchObject({
      request_id: requestId,
      user_id: "conv-26",
      intent: "temporal",
      notes: ["The reranker was too slow and was left out."],
    });
    expect(explanation["in_context"]).toHaveLength(7);
    expect(explanation["not_in_context"]?.map((item) => [item["node_id"], item["code"]])).toEqual(
      [
        ...Array.from({ length: 4 }, () => [
          expect.stringMatching(/^[0-9a-f-]{36}$/),
          expect.any(String),
        ]),
        ...LEFT_OUT.filter(({ compositeScore }) => compositeScore !== undefined),
        ...LEFT_OUT.filter(({ compositeScore }) => compositeScore === undefined),
      ].map((item) => (Array.isArray(item) ? item : [item.nodeId, item.reason])),
    );
  });

  test("fails for a retrieval that has no receipt", async () => {
    const { code, stdout, stderr } = await explain(UNKNOWN);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.replace(/^Warning: .*\n/, "")).toBe(
      `Error: there is no receipt of a retrieval ${UNKNOWN} here; receipts are kept for a limited time\n`,
    );
  });

  test.each([
    { name: "an id that is none", args: ["7"], says: 'request_id: "7" is not a UUID' },
    { name: "an unknown format", args: [UNKNOWN, "--format", "xml"], says: "Allowed choices" },
  ])("refuses $name", async ({ args, says }) => {
    const { code, stderr } = await explain(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });

  test("refuses a missing pack and makes none", async () => {
    const { code, stderr } = await desk.run(["explain", UNKNOWN, "--db-path", "other.pack"]);
    expect(code).toBe(1);
    expect(stderr).toContain("other.pack");
  });
});

test("an explanation comes from the receipt alone", async () => {
  const { openEngine } = await import("../../../src/app/open-engine.ts");
  const { loadConfig } = await import("../../../src/config/load.ts");
  const { config } = loadConfig({
    explicit: { pack_path: join(desk.folder, "memory.pack") },
    environment: {},
    folder: desk.folder,
  });
  const engine: MemoryEngine = await openEngine(config);
  try {
    // The pack holds the receipt and no memory at all.
    expect(await engine.queryNodes({ limit: 1 })).toEqual([]);
    expect((await engine.explain(requestId, "conv-26"))?.inContext).toHaveLength(7);
    expect(await engine.explain(requestId, "eve")).toBeUndefined();
  } finally {
    await engine.close();
  }
});

test("an explanation shows each text as a line that cannot command a terminal, of what is in the pack", async () => {
  const own = createWordDesk();
  try {
    await own.run(["init", "memory.pack", "--plain", "--owner", "anna"]);
    const { stdout: tea } = await own.run([
      ...["store", "memory.pack", "--format", "json"],
      `Anna drinks\u001b[2J tea\nat \u009b5mnoon, ${"and again ".repeat(20)}`,
    ]);
    await own.run(["store", "memory.pack", "The spare key lies under the flower pot"]);
    const { stderr } = await own.run(["search", "memory.pack", "tea", "--limit", "1"]);
    const [, id = ""] = /svc explain (\S+)/.exec(stderr) ?? [];

    const shown = await own.run(["explain", id, "--db-path", "memory.pack"]);
    expect(shown.stdout).toMatch(
      /^ {8}"Anna drinks\ufffd\[2J tea at \ufffd5mnoon, (and again )+.*\.\.\."$/m,
    );
    expect(shown.stdout.split("\n").filter((line) => line.length > 200)).toEqual([]);
    const json = await own.run(["explain", id, "--db-path", "memory.pack", "--format", "json"]);
    const { in_context: context } = JSON.parse(json.stdout);
    expect(context[0]).toMatchObject({
      node_id: JSON.parse(tea).node_id,
      content: expect.stringContaining("Anna drinks\u001b[2J tea\nat"),
    });
  } finally {
    own.remove();
  }
});
