import { describe, expect, test } from "bun:test";
import { LIMITS } from "../../../src/domain/arguments.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { ProvenanceOptions } from "../../../src/engine/inspect/api.ts";
import type { AuditRecord } from "../../../src/ports/store/records.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anAuditRecord,
  anEvent,
  at,
  freshId,
  put,
} from "../../contract/samples.ts";
import { expectInvalid, useEngines, wordEmbedder } from "../engines.ts";
import { anEdge, connect } from "./edges.ts";

const { open } = useEngines();

/** The cursor behind a position, made by other means than those under test. */
const cursor = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Writes operations on a memory, as lifecycle changes do. */
async function record(
  store: Store,
  node: MemoryNode | undefined,
  ...given: readonly Partial<AuditRecord>[]
): Promise<AuditRecord[]> {
  const operations = given.map((each, index) =>
    anAuditRecord({
      opType: "REINFORCE",
      targetId: node?.id ?? "",
      payload: { record: "{}", sha256: "0" },
      namespaceId: "personal",
      createdAt: at(index),
      ...each,
    }),
  );
  await store.admit(anAdmission([], { auditRecords: operations }));
  return operations;
}

/** A memory of ada with three operations on it. */
async function changed() {
  const opened = await open();
  const [node, other] = await put(opened.store, { content: "tea" }, { content: "coffee" });
  // Written in another order than that of time; two of the same moment.
  const written = await record(
    opened.store,
    node,
    { createdAt: at(2) },
    { createdAt: at(1) },
    { createdAt: at(1) },
  );
  await record(opened.store, other, {});
  const [last, first, second] = written;
  const ordered = [first, second, last].flatMap((operation) => operation ?? []);
  return { ...opened, id: node?.id ?? "", node, other, ordered };
}

describe("where a memory comes from", () => {
  test("are its source events in the order of citation; others are missing", async () => {
    const { engine, store } = await open();
    const own = [anEvent({ content: "first" }), anEvent({ content: "second" })];
    const [first, second] = own;
    const foreign = anEvent({ userId: "bob" });
    const elsewhere = anEvent({ scope: "project" });
    const gone = freshId();
    if (first === undefined || second === undefined) throw new Error("two events were made");
    const evidenceRefs = [
      gone,
      second.id,
      foreign.id,
      first.id,
      second.id,
      elsewhere.id,
      gone,
    ] as const;
    const node = aNode(first, { evidenceRefs });
    await store.admit(anAdmission([...own, foreign, elsewhere]));
    await store.materialize([aMaterialization(first, node)]);

    expect(await engine.getProvenance(node.id, { userId: "ada" })).toEqual({
      node,
      evidenceEvents: [second, first],
      missingEvidenceRefs: [gone, foreign.id, elsewhere.id],
      operations: [],
      contradictionEdges: [],
      nextOperationCursor: undefined,
    });
  });

  test("may be nothing that is known", async () => {
    const { engine, store } = await open();
    const [node] = await put(store, { evidenceRefs: [], lifecycleState: "archived" });

    expect(await engine.getProvenance(node?.id ?? "")).toMatchObject({
      node: { id: node?.id, lifecycleState: "archived" },
      evidenceEvents: [],
      missingEvidenceRefs: [],
    });
  });

  test("is not there for a foreign or unknown memory", async () => {
    const { engine, id } = await changed();

    expect(await engine.getProvenance(id, { userId: "ada" })).toMatchObject({ node: { id } });
    expect(await engine.getProvenance(id, { userId: "bob" })).toBeUndefined();
    expect(await engine.getProvenance(freshId())).toBeUndefined();
  });
});

describe("contradictions of a memory", () => {
  test("are edges of both directions within owner and scope, oldest first, in any state", async () => {
    const { engine, store } = await open();
    const [claim, retired, other, elsewhere] = await put(
      store,
      { content: "claim", lifecycleState: "contested" },
      { content: "retired", lifecycleState: "deprecated" },
      { content: "other" },
      { content: "elsewhere", scope: "project" },
    );
    const contradicts = (edge: Parameters<typeof anEdge>) =>
      anEdge(edge[0], edge[1], { edgeType: "contradicts", ...edge[2] });
    const late = contradicts([
      retired,
      claim,
      { createdAt: at(2), validTo: at(9), metadata: { a: 1 }, provenanceEventId: freshId() },
    ]);
    const early = contradicts([claim, other, { createdAt: at(1) }]);
    const sameMoment = contradicts([claim, retired, { createdAt: at(1) }]);
    await connect(
      store,
      late,
      early,
      sameMoment,
      contradicts([claim, elsewhere, {}]),
      contradicts([other, retired, {}]),
      anEdge(claim, other, { edgeType: "supersedes" }),
    );

    const found = await engine.getProvenance(claim?.id ?? "");

    expect(found?.contradictionEdges).toEqual([early, sameMoment, late]);
  });
});

describe("operations on a memory", () => {
  test("are those on it alone, oldest first, ties by id", async () => {
    const { engine, id, ordered } = await changed();

    const found = await engine.getProvenance(id);

    expect(found?.operations).toEqual(ordered);
    expect(found?.nextOperationCursor).toBeUndefined();
  });

  test("continue behind a cursor that is a position and says so", async () => {
    const { engine, id, ordered } = await changed();
    const [first, second, last] = ordered;

    const page = await engine.getProvenance(id, { operationLimit: 1 });

    expect(page?.operations).toEqual(first === undefined ? [] : [first]);
    expect(page?.nextOperationCursor).toBe(cursor([first?.createdAt, first?.id]));
    const rest = await engine.getProvenance(id, { operationCursor: page?.nextOperationCursor });
    expect(rest?.operations).toEqual([second, last].flatMap((operation) => operation ?? []));
  });

  test("begin behind any moment, written with any offset", async () => {
    const { engine, id, ordered, other } = await changed();
    const shifted = cursor(["2026-01-01T01:00:01+01:00", ordered[0]?.id]);

    const page = await engine.getProvenance(id, { operationCursor: shifted });
    expect(page?.operations).toEqual(ordered.slice(1));

    // A position belongs to no memory.
    const same = await engine.getProvenance(other?.id ?? "", { operationCursor: shifted });
    expect(same?.operations).toEqual([]);
  });

  test("are none that others wrote under an id of their own choice", async () => {
    const { engine, store, id, ordered } = await changed();
    const [node] = ordered;
    const intruders = ["FAST_INGEST_BATCH", "ANSWER_CITATIONS_RECORDED"].map((opType) => ({
      opType,
      actorId: "bob",
      namespaceId: undefined,
    }));
    await record(store, (await engine.getNode(id)) ?? undefined, ...intruders, {
      ...intruders[0],
      createdAt: at(1),
    });
    await engine.ingestFastMany({ items: [{ content: "x" }], userId: "bob", requestId: id });

    const all = await engine.getProvenance(id);
    expect(all?.operations).toEqual(ordered);
    const page = await engine.getProvenance(id, { operationLimit: 1 });
    expect(page?.operations).toEqual(node === undefined ? [] : [node]);
    const last = await engine.getProvenance(id, { operationLimit: 3 });
    expect(last?.nextOperationCursor).toBeUndefined();
  });

  const ID = freshId();
  const MOMENT = "2026-01-01T00:00:01.000000Z";
  test.each([
    { name: "empty", operationCursor: "" },
    { name: "no base64", operationCursor: "!" },
    { name: "padded", operationCursor: `${cursor([MOMENT, ID])}==` },
    { name: "no JSON", operationCursor: cursor("[") },
    { name: "an object", operationCursor: cursor({}) },
    { name: "one part", operationCursor: cursor([MOMENT]) },
    { name: "three parts", operationCursor: cursor([MOMENT, ID, 1]) },
    { name: "a number as moment", operationCursor: cursor([1, ID]) },
    { name: "a naive moment", operationCursor: cursor(["2026-01-01T00:00:01", ID]) },
    { name: "a bare date", operationCursor: cursor(["2026-01-01", ID]) },
    { name: "no moment", operationCursor: cursor(["soon", ID]) },
    { name: "an id that is none", operationCursor: cursor([MOMENT, "7"]) },
    { name: "no text at all", operationCursor: 7 },
  ])("refuse a cursor that is $name", async ({ operationCursor }) => {
    const { engine, id } = await changed();

    // SAFETY: a wrong type is among what is tested.
    const options = { operationCursor } as ProvenanceOptions;
    await expectInvalid(engine.getProvenance(id, options), { field: "operation_cursor" });
    // The cursor is looked at before the memory.
    await expectInvalid(engine.getProvenance(freshId(), options), { field: "operation_cursor" });
  });

  test.each([0, 1001, -1, 1.5, Number.NaN])("refuse a limit of %d", async (operationLimit) => {
    const { engine, id } = await changed();

    await expectInvalid(engine.getProvenance(id, { operationLimit }), { field: "operation_limit" });
    await expectInvalid(engine.getProvenance("n0"), { field: "node_id" });
  });
});

/** More than a third of what a page may hold. */
const LARGE = " ".repeat(LIMITS.pageChars / 3 + 1);

test("a provenance of more text than a page holds shows a part, and tells exactly what is missing", async () => {
  const { engine, store, deps } = await open({ embedder: wordEmbedder() });
  const events = Array.from({ length: 5 }, () => anEvent({ content: LARGE }));
  const foreign = anEvent({ userId: "bob" });
  const unknown = freshId();
  const source = events[0] ?? foreign;
  const evidenceRefs = [...events.map(({ id }) => id), foreign.id, unknown];
  const node = aNode(source, { content: "tea", evidenceRefs });
  const operations = [
    ...Array.from({ length: 5 }, (_, second) =>
      anAuditRecord({
        opType: "LIFECYCLE_CHANGED",
        targetId: node.id,
        payload: { note: LARGE },
        createdAt: at(second),
      }),
    ),
    ...Array.from({ length: 30 }, () => anAuditRecord({ targetId: node.id, createdAt: at(9) })),
  ];
  await store.admit(anAdmission([...events, foreign], { auditRecords: operations }));
  const vector = await deps.embedder.embedDocument("tea");
  await store.addNodes([{ node, vector, at: at(1) }]);

  const pages: number[] = [];
  let operationCursor: string | undefined;
  do {
    const found = await engine.getProvenance(node.id, { userId: "ada", operationCursor });
    expect(found?.evidenceEvents).toEqual(events.slice(0, 2));
    expect(found?.missingEvidenceRefs).toEqual([foreign.id, unknown]);
    pages.push(found?.operations.length ?? 0);
    operationCursor = found?.nextOperationCursor;
  } while (operationCursor !== undefined);

  expect(pages).toEqual([2, 2, 1]);
});
