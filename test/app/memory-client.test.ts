import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryClient } from "../../src/app/client/memory-client.ts";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import {
  EngineClosedError,
  InvalidArgumentError,
  NotFoundError,
  PackError,
  PackInUseError,
  RequestConflictError,
  SvcError,
  UnsupportedError,
} from "../../src/domain/errors.ts";
import { RAW_KEY } from "../contract/sqlite-pack.ts";

let place = "";
const clients: MemoryClient[] = [];
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "svc-client-"));
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  rmSync(place, { recursive: true, force: true });
});

function open(name = "memory.pack", settings: object = {}): MemoryClient {
  const client = MemoryClient.create({ pack_path: join(place, name), ...settings });
  clients.push(client);
  return client;
}

function raised(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

type MethodName = Exclude<keyof MemoryEngine, symbol>;

/** Runs a program of its own to its end. */
function run(source: string): { readonly exitCode: number; readonly output: string } {
  const path = join(place, "program.ts");
  const module = join(import.meta.dir, "../../src/library.ts");
  writeFileSync(path, `import { MemoryClient } from ${JSON.stringify(module)};\n${source}`);
  const child = Bun.spawnSync([process.execPath, path], { cwd: place, timeout: 30_000 });
  return { exitCode: child.exitCode, output: `${child.stdout}${child.stderr}` };
}

describe("a synchronous client", () => {
  test("stores and retrieves with the model, and hands over maps and absent members", () => {
    const client = open();
    const id = client.store({ content: "Anna prefers tea to coffee", userId: "anna" });
    client.store({ content: "The bicycle is in the cellar", userId: "anna" });
    const { results, bundle } = client.retrieve({ query: "favourite drink?", userId: "anna" });

    expect(results[0]?.node.evidenceRefs).toEqual([id]);
    expect(bundle.sections).toBeInstanceOf(Map);
    // What is weak and far behind is a result, and not in the context.
    expect([results.length, [...bundle.sections.values()].flat().length]).toEqual([2, 1]);
    expect(bundle.renderedContext).toContain("tea to coffee");
    expect(client.getNode(crypto.randomUUID())).toBeUndefined();
    expect(Object.hasOwn(results[0]?.node ?? {}, "eventTime")).toBeTrue();
  });

  test("blocks until the answer is there", () => {
    const client = open();
    let hasRun = false;
    setTimeout(() => {
      hasRun = true;
    }, 0);
    client.store({ content: "one", userId: "anna" });
    expect(hasRun).toBeFalse();
    expect(client.stats("anna").eventCount).toBe(1);
  });

  test("keeps packs that are open at once apart, also after one of them is closed", () => {
    const [first, second] = [open("first.pack"), open("second.pack")];
    first.ingestFast({ content: "one", userId: "anna" });
    expect([first.stats().eventCount, second.stats().eventCount]).toEqual([1, 0]);
    first.close();
    second.ingestFast({ content: "two", userId: "anna" });
    expect(second.stats().eventCount).toBe(1);
    expect(raised(() => first.stats())).toBeInstanceOf(EngineClosedError);
  });

  test("shares a pack with an engine of the same process", async () => {
    const client = open();
    await using engine = await MemoryEngine.create({ pack_path: join(place, "memory.pack") });
    client.ingestFast({ content: "from the client", userId: "anna" });
    await engine.ingestFast({ content: "from the engine", userId: "anna" });
    expect(client.getEvents({ userId: "anna" })).toEqual(
      await engine.getEvents({ userId: "anna" }),
    );
    expect(client.stats("anna").eventCount).toBe(2);
  });

  test("has every method of the engine, and no other", async () => {
    await using engine = await MemoryEngine.create({ pack_path: join(place, "other.pack") });
    expect(Object.keys(open()).sort()).toEqual(Object.keys(engine).sort());
  });
});

describe("every method", () => {
  /** For each method a call that only reads or is refused: the same inputs, to the engine and to the client. */
  function calls(known: {
    readonly eventId: string;
    readonly nodeId: string;
    readonly requestId: string;
  }): Readonly<Record<Exclude<MethodName, "close">, readonly unknown[]>> {
    const { eventId, nodeId, requestId } = known;
    const other = crypto.randomUUID();
    const userId = "anna";
    const nobody = { userId: "nobody" };
    return {
      changes: [{ userId, since: "x" }],
      store: [{ content: "x", userId, confidence: 2 }],
      storeWithReceipt: [{ content: "x", userId, scope: "moon" }],
      storeMany: [{ items: [{ content: "x", confidence: 2 }], userId }],
      ingest: [{ content: "x", userId, speaker: "\n" }],
      ingestBatch: [{ messages: [{ content: "x" }], userId }],
      processExtractions: [{ userId, budgetMs: 0 }],
      retryExtraction: [eventId, { userId }],
      overview: [{ userId, maxTokens: -1 }],
      ingestFast: [{ content: "x", userId, role: "king" }],
      ingestFastMany: [{ items: [], userId }],
      processPending: [{ userId, budgetMs: 0 }],
      forget: [{ userId, ids: [nodeId] }],
      getForgetting: [other, userId],
      listForgettings: [userId],
      verifyForgetting: [{ format: "another" }],
      processingStatus: [eventId, userId],
      getEvent: [eventId, userId],
      getEvents: [{ userId }],
      getBlob: ["frames/0a.jpg", { userId }],
      readBlob: ["frames/ 0a.jpg", { userId }],
      getNode: [nodeId, { userId, includeSuperseded: true }],
      queryNodes: [{ userId, oldestFirst: true }],
      scanNodes: [{ userId, limit: 1 }],
      iterNodes: [{ userId, batchSize: 1 }],
      browse: [{ userId, limit: 1 }],
      timeline: [{ userId, timeZone: "Moon/Base" }],
      facets: [{ userId }],
      getEdges: [{ userId }],
      getNodeEdges: [nodeId, { userId }],
      listEntities: [{ userId, contains: "x", limit: 1 }],
      listContradictions: [{ userId, status: "open" }],
      getNodes: [[nodeId, other], userId],
      listEvents: [{ userId, order: "oldest" }],
      listSessions: [{ userId, limit: 1 }],
      listChanges: [{ userId, opTypes: ["PIN"] }],
      nodeRetrievals: [nodeId, { userId }],
      storeCounts: [userId],
      neighborhood: [nodeId, { userId, maxHops: 3 }],
      chain: [nodeId, { userId }],
      getProvenance: [nodeId, { userId }],
      getEventNodes: [eventId, userId],
      getExtraction: [eventId, userId],
      extractionStatus: [eventId, userId],
      promote: [nodeId, nobody],
      archive: [other],
      restore: [other, { userId, reason: " " }],
      restoreFaded: [{ userId, dryRun: true }],
      pin: [other, true, { userId }],
      listRetrievals: [{ userId, limit: 5 }],
      reinforce: [nodeId, { userId, evidenceId: other }],
      supersede: [nodeId, nodeId, { userId }],
      contradict: [nodeId, other, { userId }],
      resolveContradiction: [nodeId, other, nobody],
      evaluateCondition: [nodeId, { state: "true", userId }],
      aggregateAssertions: [{ userId }],
      aggregateQuantities: [{ userId }],
      aggregateQuantitiesFromText: [{ userId, question: "How much did I spend on tea?" }],
      getAssertionState: [
        {
          userId,
          subject: "Anna",
          predicate: "drinks",
          scope: "personal",
          validAt: "2026-03-18T12:00:00Z",
        },
      ],
      retrieve: [{ userId, query: "tea", tokenBudget: -1 }],
      getRetrievalReceipt: [requestId, userId],
      explain: [requestId, userId],
      recordAnswerCitations: [{ requestId, answerId: "a", citedNodeIds: [other] }, userId],
      getAnswerCitations: [other, userId],
      listAnswerCitations: [{ userId }],
      packOwner: [],
      listOwners: [],
      usePackOwner: [" ", "test"],
      moveOwner: [{ from: "nobody", into: "anna", isJoin: true, actorId: "test" }],
      claimPack: [" "],
      ownersWithMemories: [],
      stats: [userId],
      isReadOnly: [],
      ready: [],
      observe: [{ source: "no.jpg", userId }],
      observeSource: [{ source: "no.jpg", userId }],
      importSource: [{ source: "no.zip", userId }],
      undoImport: [userId, other],
      organize: [{ budgetMs: Number.NaN }],
      feedback: [{ query: "x", signalType: "loved" }],
      endSession: [" "],
      snapshot: [nodeId, { userId }],
      consolidateKnowledge: [{ userId, entityNames: [" "] }],
      rebuildIndexes: [{ batchSize: 0 }],
      lock: [],
      unlock: ["key"],
    };
  }

  /** What a call comes to, as a value. */
  async function outcome(call: () => unknown): Promise<unknown> {
    try {
      const result = await call();
      return isWalk(result) ? { items: await Array.fromAsync(result) } : { result: alike(result) };
    } catch (error) {
      if (!(error instanceof SvcError)) return { thrown: String(error) };
      const { name, code, data, message } = error;
      return { name, isOwn: error.constructor.name === name, code, data, message };
    }
  }

  /** A result without what differs between two engines on one pack. */
  function alike(result: unknown): unknown {
    const details: unknown = Reflect.get(Object(result), "details");
    if (typeof Reflect.get(Object(details), "changeSequence") !== "string") return result;
    // What a model has done is counted by the engine that asked it.
    const own = { changeSequence: "", embeddings: undefined };
    return { ...Object(result), details: { ...Object(details), ...own } };
  }

  function isWalk(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    return Symbol.asyncIterator in value || Symbol.iterator in value;
  }

  test("answers as the engine does, in values and in errors", async () => {
    await using engine = await MemoryEngine.create({ pack_path: join(place, "memory.pack") });
    const { eventId, nodeId } = await engine.storeWithReceipt({
      content: "Anna drinks tea",
      userId: "anna",
    });
    for (const content of ["one", "two"]) await engine.store({ content, userId: "anna" });
    const { metadata } = await engine.retrieve({ query: "tea", userId: "anna" });
    const client = open();

    const given = calls({ eventId, nodeId, requestId: metadata.requestId });
    expect(Object.keys(given).sort()).toEqual(
      Object.keys(engine)
        .filter((name) => name !== "close")
        .sort(),
    );
    const ofEngine = new Map(Object.entries(engine));
    const ofClient = new Map(Object.entries(client));
    for (const [name, args] of Object.entries(given)) {
      const wanted = await outcome(() => Reflect.apply(ofEngine.get(name)!, undefined, args));
      const got = await outcome(() => Reflect.apply(ofClient.get(name)!, undefined, args));
      expect({ name, outcome: got }).toEqual({ name, outcome: wanted });
      expect(JSON.stringify(got)).not.toContain('"internal"');
    }
  });

  test("fails at once after close, whatever it is given", () => {
    const client = open();
    client.close();
    const names = Object.keys(client).filter((name) => name !== "close");
    expect(names.length).toBeGreaterThan(35);
    const methods = new Map(Object.entries(client));
    for (const name of names) {
      const error = raised(() => methods.get(name)!());
      expect({ name, isClosed: error instanceof EngineClosedError }).toEqual({
        name,
        isClosed: true,
      });
    }
    expect(client.close()).toBeUndefined();
  });
});

describe("errors", () => {
  test("come as the same class, with code, data and message, from where they were caught and arose", () => {
    const client = open();
    const error = raised(() => client.getNode("nope"));
    for (const file of ["memory-client.test.ts", "arguments.ts"]) {
      expect((error as Error).stack).toContain(file);
    }
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(error).toMatchObject({
      name: "InvalidArgumentError",
      code: "invalid_argument",
      data: { field: "node_id" },
      message: 'node_id: "nope" is not a UUID',
    });
    expect(raised(() => client.lock())).toBeInstanceOf(UnsupportedError);
    expect(raised(() => client.promote(crypto.randomUUID()))).toBeInstanceOf(NotFoundError);

    const request = { userId: "anna", requestId: crypto.randomUUID() };
    client.ingestFastMany({ items: [{ content: "one" }], ...request });
    const conflict = raised(() =>
      client.ingestFastMany({ items: [{ content: "two" }], ...request }),
    );
    expect(conflict).toBeInstanceOf(RequestConflictError);
  });

  test("of opening leave no file behind, and the process can end", () => {
    writeFileSync(join(place, "notes.pack"), "hello");
    expect(raised(() => open("notes.pack"))).toBeInstanceOf(PackError);
    expect(raised(() => open("x.pack", { write_queue_size: -1 }))).toMatchObject({
      code: "invalid_config",
      data: { setting: "write_queue_size" },
    });
    expect(existsSync(join(place, "x.pack"))).toBeFalse();
  });

  test("say that an input cannot cross, and the client goes on", () => {
    const client = open();
    const signal = new AbortController().signal;
    const inputs = [
      () => client.store({ content: "x", userId: "anna", metadata: { f: () => 1 } }),
      // @ts-expect-error: there is no signal in the client's inputs
      () => client.retrieve({ query: "x", userId: "anna", signal }),
      // @ts-expect-error: nor a function to call
      () => client.rebuildIndexes({ onProgress: () => {} }),
    ];
    for (const input of inputs) {
      const error = raised(input);
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect((error as Error).message).toContain("pass plain data");
    }
    expect(raised(() => open("y.pack", { pack_path: () => "x" }))).toBeInstanceOf(
      InvalidArgumentError,
    );
    expect(client.stats().eventCount).toBe(0);
  });

  test("tell that an encrypted pack is open in this process already", () => {
    const encryption = { encryption_enabled: true, encryption_key: RAW_KEY };
    const client = open("sealed.pack", encryption);
    client.ingestFast({ content: "one", userId: "anna" });
    expect(raised(() => open("sealed.pack", encryption))).toBeInstanceOf(PackInUseError);
    client.close();
    expect(open("sealed.pack", encryption).stats().eventCount).toBe(1);
  });
});

test("a walk over memories gives each once, may be left, names a wrong field, and fails when the client is closed", () => {
  const client = open();
  const items = Array.from({ length: 205 }, (_, n) => ({ content: `memory ${n}` }));
  client.ingestFastMany({ items, userId: "anna" });
  while (client.processPending({ userId: "anna", budgetMs: 30_000 }).pending > 0);

  const ids = [...client.iterNodes({ userId: "anna", batchSize: 7 })].map(({ id }) => id);
  expect(ids).toHaveLength(205);
  expect(ids).toEqual([...ids].sort());
  expect([...client.iterNodes({ userId: "tom" })]).toEqual([]);
  for (const node of client.iterNodes({ userId: "anna" })) {
    expect(node.userId).toBe("anna");
    break;
  }
  const error = raised(() => [...client.iterNodes({ userId: "anna", batchSize: 0 })]);
  expect(error).toMatchObject({ code: "invalid_argument", data: { field: "batch_size" } });

  const rest = client.iterNodes({ userId: "anna" })[Symbol.iterator]();
  expect(rest.next().done).toBeFalse();
  client.close();
  expect(raised(() => [...{ [Symbol.iterator]: () => rest }])).toBeInstanceOf(EngineClosedError);
});

test("what is too deep or too long is refused or answered, and the client goes on", () => {
  const client = open();
  client.store({ content: "one", userId: "anna" });
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 100_000; level += 1) deep = { deep };
  const error = raised(() => client.store({ content: "x", userId: "anna", metadata: deep }));
  expect(error).toMatchObject({ code: "invalid_argument", data: { field: "store" } });
  const scopes = Array.from({ length: 500_000 }, () => "personal" as const);
  expect(client.getEvents({ userId: "anna", scopes })).toHaveLength(1);
  expect(client.queryNodes({ userId: "anna", scopes })).toHaveLength(1);
});

describe("the process", () => {
  test.each([
    { name: "closed", ending: "client.close();" },
    { name: "left open", ending: "" },
  ])("ends by itself with a client that was $name, and nothing is lost", ({ ending }) => {
    const source = `
      const client = MemoryClient.create({ pack_path: "./memory.pack" });
      console.log(client.store({ content: "one", userId: "anna" }).length);
      ${ending}`;
    expect(run(source)).toEqual({ exitCode: 0, output: "36\n" });
    expect(open().stats("anna")).toMatchObject({ eventCount: 1, nodeCount: 1 });
  });

  test("ends by itself after a pack could not be opened", () => {
    const source = `
      try { MemoryClient.create({ pack_path: "./program.ts" }); }
      catch (error) { console.log(error.name); }`;
    expect(run(source)).toEqual({ exitCode: 0, output: "PackError\n" });
  });

  test("leaves a block with the client closed", () => {
    let kept: MemoryClient | undefined;
    {
      using client = MemoryClient.create({ pack_path: join(place, "memory.pack") });
      client.ingestFast({ content: "one", userId: "anna" });
      kept = client;
    }
    expect(raised(() => kept?.stats())).toBeInstanceOf(EngineClosedError);
  });
});
