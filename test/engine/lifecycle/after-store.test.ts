import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { StoreStepSettings } from "../../../src/engine/settings.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import type { AuditRecord } from "../../../src/ports/store/records.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { DEFAULT_SETTINGS, type OpenedEngine, REAL_MODEL, useEngines } from "../engines.ts";

const { open } = useEngines();

const OFF = DEFAULT_SETTINGS.storeSteps;

function withSteps(steps: Partial<StoreStepSettings>, alter?: (store: Store) => Partial<Store>) {
  const settings = { storeSteps: { ...OFF, ...steps }, upkeep: undefined };
  return open(alter === undefined ? { settings } : { settings, alter });
}

async function stored(engine: MemoryEngine, content: string, given: Partial<StoreInput> = {}) {
  const { node, eventId } = await engine.storeWithReceipt({ content, userId: "ada", ...given });
  return { id: node.id, eventId, node };
}

async function operationsOn({ store }: OpenedEngine, id: Uuid): Promise<readonly AuditRecord[]> {
  return (await store.auditRecordsOn({ targetId: id, after: undefined, limit: 100 })).items;
}

const now = (engine: MemoryEngine, id: Uuid) => engine.getNode(id, { includeSuperseded: true });

describe("with every setting off", () => {
  test("a store changes nothing else", async () => {
    const calls: string[] = [];
    const counted = (name: "change" | "addNodes" | "chain") => ({
      [name]: async () => {
        calls.push(name);
        throw new Error("not to be called");
      },
    });
    const { engine, store, warnings } = await open({
      settings: { upkeep: undefined },
      alter: () => ({ ...counted("change"), ...counted("addNodes"), ...counted("chain") }),
    });
    const old = await stored(engine, "Our database is Postgres", { sessionId: "s" });
    const same = { content: "switched from Postgres to SQLite", sessionId: "s" };
    await stored(engine, same.content, { sessionId: "s", role: "assistant" });
    await stored(engine, same.content, { nodeType: "instruction", role: "assistant" });
    await stored(engine, same.content, { nodeType: "instruction", epistemicType: "unverified" });

    expect(calls).toEqual([]);
    expect(warnings).toEqual([]);
    expect(await store.countNodes("ada")).toBe(4);
    expect(await store.node(old.id, "ada")).toEqual(old.node);
    const log = await store.auditRecordsOn({ targetId: old.id, after: undefined, limit: 9 });
    expect(log.items).toEqual([]);
  });
});

describe("a memory that says what was given up", () => {
  test("retires what names it, and the answer shows the new one", async () => {
    const opened = await withSteps({ supersedes: true });
    const { engine } = opened;
    const old = await stored(engine, "Our database is Postgres");
    const other = await stored(engine, "Our database hums in the cellar");

    const { id, eventId } = await stored(engine, "We switched from Postgres to SQLite");

    expect(await now(engine, old.id)).toMatchObject({
      lifecycleState: "superseded",
      supersededBy: id,
      evidenceRefs: [old.eventId],
    });
    expect(await now(engine, other.id)).toEqual(other.node);
    const [operation, ...more] = await operationsOn(opened, old.id);
    expect(more).toEqual([]);
    expect(operation).toMatchObject({ opType: "SUPERSEDENCE_APPLIED", actorId: "ada" });
    expect(openChecksummed(operation?.payload ?? {})).toMatchObject({ evidence_id: null });
    const answer = await engine.retrieve({ query: "Which database is ours?", userId: "ada" });
    expect(answer.results.map(({ node }) => node.id)).toContain(id);
    expect(answer.results.map(({ node }) => node.id)).not.toContain(old.id);
    expect((await engine.getEventNodes(eventId, "ada"))?.map((node) => node.id)).toEqual([id]);
  });

  test("retires what names it among vectors of the real model", async () => {
    const settings = { storeSteps: { ...OFF, supersedes: true }, upkeep: undefined };
    const { engine } = await open({ settings, embedder: REAL_MODEL });
    const old = await stored(engine, "Our production database runs on Postgres.", {
      nodeType: "fact",
    });
    const other = await stored(engine, "Tom prefers oat milk in his coffee.", { nodeType: "fact" });
    const { id } = await stored(engine, "We have switched from Postgres to SQLite.", {
      nodeType: "fact",
    });

    const answer = await engine.retrieve({ query: "Which database do we use?", userId: "ada" });

    expect(answer.results[0]?.node.id).toBe(id);
    expect(answer.bundle.renderedContext).toContain("SQLite");
    expect(answer.bundle.renderedContext).not.toContain("runs on Postgres");
    expect((await now(engine, old.id))?.supersededBy).toBe(id);
    expect(await now(engine, other.id)).toEqual(other.node);
  });

  test("retires what names one word of it", async () => {
    const { engine } = await withSteps({ supersedes: true });
    const old = await stored(engine, "I wear a red hat");

    await stored(engine, "I switched from Red Fedora to a blue cap");

    expect((await now(engine, old.id))?.lifecycleState).toBe("superseded");
  });

  test.each([
    { name: "of another scope", given: { scope: "project" } },
    { name: "of another owner", given: { userId: "bob" } },
    { name: "that does not name it", given: { content: "I like MySQL" } },
    { name: "of another person", given: { content: "The database of Ann is Postgres" } },
    { name: "that has its name inside a word", given: { content: "I read Postgresql Weekly" } },
  ] as const)("leaves alone a memory $name", async ({ given }) => {
    const opened = await withSteps({ supersedes: true });
    const old = await stored(opened.engine, "Our database is Postgres", given);

    await stored(opened.engine, "We switched from Postgres to SQLite");

    expect(await now(opened.engine, old.id)).toEqual(old.node);
    expect(await operationsOn(opened, old.id)).toEqual([]);
    expect(opened.warnings).toEqual([]);
  });

  test.each(["We no longer use Postgres", "Postgres is deprecated", "I moved to Postgres"])(
    "retires nothing without a name: %s",
    async (content) => {
      const { engine } = await withSteps({ supersedes: true });
      const old = await stored(engine, "Our database is Postgres");

      await stored(engine, content);

      expect(await now(engine, old.id)).toEqual(old.node);
    },
  );

  test("leaves a contested memory contested", async () => {
    const { engine, warnings } = await withSteps({ supersedes: true });
    const one = await stored(engine, "Our database is Postgres");
    const other = await stored(engine, "Our database is not Postgres");
    await engine.contradict(one.id, other.id);

    await stored(engine, "We switched from Postgres to SQLite");

    expect((await now(engine, one.id))?.lifecycleState).toBe("contested");
    expect(warnings).toEqual([]);
  });
});

describe("a memory that resembles others", () => {
  test("reinforces those from the threshold on, with its event as evidence", async () => {
    const opened = await withSteps({ reinforceSimilarity: 0.9 });
    const { engine } = opened;
    const rule = await stored(engine, "Ada drinks green tea daily", { nodeType: "instruction" });
    const same = await stored(engine, "Ada drinks green tea daily");
    const unlike = await stored(engine, "Ada drinks coffee");
    const elsewhere = await stored(engine, "Ada drinks green tea daily", { scope: "project" });

    const { id, eventId, node } = await stored(engine, "Ada drinks green tea daily");

    const after = await now(engine, same.id);
    expect(after?.reinforcementBoost).toBeCloseTo(0.15, 6);
    expect(after?.confidenceBase).toBeCloseTo(0.85, 6);
    expect(after?.evidenceRefs).toEqual([same.eventId, eventId]);
    for (const left of [unlike, elsewhere, rule]) {
      expect(await now(engine, left.id)).toEqual(left.node);
    }
    expect(await now(engine, id)).toEqual(node);
    expect((await operationsOn(opened, same.id)).map(({ opType }) => opType)).toEqual([
      "REINFORCE",
    ]);
  });

  test("reinforces five of them at most", async () => {
    const opened = await withSteps({ reinforceSimilarity: 0.9 });
    const before: Uuid[] = [];
    for (let count = 0; count < 7; count += 1) {
      const given = { nodeType: "fact", scope: "project", metadata: { count } } as const;
      const { id } = await stored(opened.engine, "tea", given);
      before.push(id);
    }
    const lastBoosts = await Promise.all(before.map((id) => now(opened.engine, id)));
    await stored(opened.engine, "tea", { nodeType: "fact", scope: "project" });

    const grown = await Promise.all(
      before.map(async (id, index) => {
        const cited = (await now(opened.engine, id))?.evidenceRefs.length ?? 0;
        return cited - (lastBoosts[index]?.evidenceRefs.length ?? 0);
      }),
    );
    expect(grown.filter((count) => count === 1)).toHaveLength(5);
    expect(grown.filter((count) => count === 0)).toHaveLength(2);
  });
});

describe("a repeated instruction", () => {
  const RULE = "Always answer in British English";
  const instruct = (engine: MemoryEngine, given: Partial<StoreInput> = {}) =>
    stored(engine, RULE, { nodeType: "instruction", ...given });

  test("reinforces the one before, whatever the settings", async () => {
    const opened = await open({ settings: { upkeep: undefined } });
    const first = await instruct(opened.engine);

    const second = await instruct(opened.engine, { role: "human" });

    expect(await now(opened.engine, first.id)).toMatchObject({
      evidenceRefs: [first.eventId, second.eventId],
      reinforcementBoost: 0.15,
    });
    expect(await now(opened.engine, second.id)).toEqual(second.node);
  });

  const ALONE: readonly {
    readonly name: string;
    readonly first?: Partial<StoreInput>;
    readonly second?: Partial<StoreInput>;
  }[] = [
    { name: "said by the assistant", second: { role: "assistant" } },
    { name: "said by another participant", second: { role: "participant" } },
    { name: "from a document", second: { sourceType: "external_document" } },
    { name: "that is a guess", second: { epistemicType: "hypothetical" } },
    { name: "in other words", second: { content: `${RULE}.` } },
    { name: "of another scope", second: { scope: "project" } },
    { name: "that is a preference", second: { nodeType: "preference" } },
    { name: "that happened before", second: { eventTime: "2020-01-01T00:00:00Z" } },
    { name: "that repeats a guess", first: { epistemicType: "hypothetical" } },
    { name: "that repeats the assistant", first: { role: "assistant" } },
    { name: "that repeats a preference", first: { nodeType: "preference" } },
    { name: "that repeats what comes later", first: { eventTime: "2030-01-01T00:00:00Z" } },
  ];
  test.each(ALONE)("$name reinforces nothing", async ({ first = {}, second = {} }) => {
    const opened = await open({ settings: { upkeep: undefined } });
    const before = await instruct(opened.engine, first);

    await instruct(opened.engine, second);

    expect(await now(opened.engine, before.id)).toEqual(before.node);
    expect(opened.warnings).toEqual([]);
  });
});

describe("a step that fails", () => {
  test("fails neither the store nor the steps after it", async () => {
    const opened = await withSteps(
      { supersedes: true, reinforceSimilarity: 0.5, pairsTurns: true },
      () => ({ searchVectors: () => Promise.reject(new Error("secret text")) }),
    );
    const { engine, warnings, store } = opened;
    await stored(engine, "Do we use Postgres?", { sessionId: "s" });

    const { processingStatus } = await engine.storeWithReceipt({
      content: "We switched from Postgres to SQLite",
      userId: "ada",
      sessionId: "s",
      role: "assistant",
    });

    expect(processingStatus.status).toBe("complete");
    expect(await store.countNodes("ada")).toBe(3);
    expect(warnings.filter((text) => text.includes("not reinforced"))).toHaveLength(2);
    expect(warnings.filter((text) => text.includes("nothing was retired"))).toHaveLength(1);
    expect(warnings.join()).not.toMatch(/secret|Postgres/);
  });

  test("for one memory goes on with the next", async () => {
    let refused = 0;
    const opened = await withSteps({ supersedes: true }, (store) => ({
      change: (reads, decide) => {
        if (refused === 0) {
          refused += 1;
          return Promise.reject(new Error("busy"));
        }
        return store.change(reads, decide);
      },
    }));
    const { engine, warnings } = opened;
    const olds = [await stored(engine, "Postgres one"), await stored(engine, "Postgres two")];

    await stored(engine, "We switched from Postgres to SQLite");

    const states = await Promise.all(olds.map(({ id }) => now(engine, id)));
    expect(states.map((node) => node?.lifecycleState).sort()).toEqual(["superseded", "tentative"]);
    expect(warnings).toEqual([expect.stringMatching(/^store: memory .* was not retired/)]);
  });
});
