import { describe, expect, test } from "bun:test";
import type { LifecycleState } from "../../src/domain/enums.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { Edge, MemoryNode } from "../../src/domain/node.ts";
import { uuidV5 } from "../../src/lib/hashing.ts";
import { asInstant } from "../../src/lib/instant.ts";
import type { Change, ChangeReads, ChangeSnapshot } from "../../src/ports/store/graph.ts";
import { aNode, anAdmission, anAuditRecord, anEvent, at, freshId, put, unit } from "./samples.ts";
import type { RetrievalStore, World } from "./store-contract.ts";
import { ANYTHING, contentsOf } from "./store-vectors.ts";

const NOTHING: Change = { nodes: [], edges: [], auditRecords: [] };

/** What a change may read; members that are given replace the empty ones. */
function reading(given: Partial<ChangeReads>): ChangeReads {
  return { nodeIds: [], auditRecordIds: [], eventIds: [], ...given };
}

/** An edge of ada; members that are given replace the usual ones. */
export function anEdge(source: MemoryNode, target: MemoryNode, given: Partial<Edge> = {}): Edge {
  return {
    id: freshId(),
    userId: "ada",
    sourceId: source.id,
    targetId: target.id,
    edgeType: "supersedes",
    confidence: 1,
    validFrom: at(0),
    validTo: undefined,
    provenanceEventId: undefined,
    metadata: undefined,
    createdAt: at(0),
    ...given,
  };
}

/** Writes what is given, with the nodes read that it names. */
export function write(store: RetrievalStore, given: Partial<Change>): Promise<void> {
  const change = { ...NOTHING, ...given };
  const nodeIds = change.nodes.map(({ id }) => id);
  return store.change(reading({ nodeIds }), () => ({ change, result: undefined }));
}

/** Gives each node the state. */
export function retire(
  store: RetrievalStore,
  state: LifecycleState,
  ...nodes: readonly (MemoryNode | undefined)[]
): Promise<void> {
  const retired = nodes.flatMap((node) => node ?? []);
  return write(store, { nodes: retired.map((node) => ({ ...node, lifecycleState: state })) });
}

function look(store: RetrievalStore, reads: Partial<ChangeReads>): Promise<ChangeSnapshot> {
  return store.change(reading(reads), (snapshot) => ({ change: undefined, result: snapshot }));
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof SvcError ? error.code : String(error);
}

async function two(store: RetrievalStore): Promise<readonly [MemoryNode, MemoryNode]> {
  const [first, second] = await put(store, { content: "old tea" }, { content: "new tea" });
  if (first === undefined || second === undefined) throw new Error("two memories were stored");
  return [first, second];
}

/** Each with the pair it is given; what results is never allowed. */
const FORBIDDEN: readonly {
  name: string;
  change: (first: MemoryNode, second: MemoryNode, bobs: MemoryNode) => Partial<Change>;
}[] = [
  { name: "another owner", change: (first) => ({ nodes: [{ ...first, userId: "bob" }] }) },
  { name: "another text", change: (first) => ({ nodes: [{ ...first, content: "forged" }] }) },
  { name: "another session", change: (first) => ({ nodes: [{ ...first, sessionId: "t" }] }) },
  { name: "another scope", change: (first) => ({ nodes: [{ ...first, scope: "agent" }] }) },
  { name: "another type", change: (first) => ({ nodes: [{ ...first, nodeType: "fact" }] }) },
  { name: "another creation", change: (first) => ({ nodes: [{ ...first, createdAt: at(9) }] }) },
  { name: "another event time", change: (first) => ({ nodes: [{ ...first, eventTime: at(9) }] }) },
  { name: "the same node twice", change: (first) => ({ nodes: [first, first] }) },
  {
    name: "an edge to nobody",
    change: (a, b) => ({ edges: [anEdge(a, { ...b, id: freshId() })] }),
  },
  { name: "an edge to another owner", change: (a, _, bobs) => ({ edges: [anEdge(a, bobs)] }) },
  {
    name: "another owner's edge",
    change: (a, b) => ({ edges: [anEdge(a, b, { userId: "bob" })] }),
  },
  {
    name: "one edge twice",
    change: (a, b) => {
      const edge = anEdge(a, b);
      return { edges: [edge, edge] };
    },
  },
  {
    name: "one operation twice",
    change: () => {
      const operation = anAuditRecord();
      return { auditRecords: [operation, operation] };
    },
  },
];

/** What a change that adds a node may not do besides. */
const BROKEN_ADDITIONS: readonly {
  name: string;
  change: (added: MemoryNode, first: MemoryNode, bobs: MemoryNode) => Partial<Change>;
}[] = [
  {
    name: "ties one to another owner",
    change: (added, _, bobs) => ({ edges: [anEdge(added, bobs)] }),
  },
  {
    name: "ties one to nobody",
    change: (added) => ({ edges: [anEdge(added, { ...added, id: freshId() })] }),
  },
  {
    name: "writes what it has not read",
    change: (_, first) => ({ nodes: [{ ...first, salience: 0.9 }] }),
  },
  {
    name: "writes one operation twice",
    change: () => {
      const operation = anAuditRecord();
      return { auditRecords: [operation, operation] };
    },
  },
];

/** Reads, decisions and writes in one transaction. */
export function describeChanges(world: World): void {
  describe("a change", () => {
    test("sees nodes of any owner and state, events, operations, and the edges among the nodes", async () => {
      const { store } = await world.fresh();
      const event = anEvent({ metadata: { a: 1 } });
      const operation = anAuditRecord();
      await store.admit(anAdmission([event], { auditRecords: [operation] }));
      const [tea, bobs] = await put(
        store,
        { content: "tea", metadata: { b: [null] } },
        { userId: "bob", lifecycleState: "archived" },
      );
      const [cup, milk] = await put(store, { content: "cup" }, { content: "milk" });
      if (!(tea && bobs && cup && milk)) throw new Error("four memories were stored");
      const late = anEdge(tea, cup, { createdAt: at(2), metadata: { c: "d" } });
      const early = anEdge(cup, tea, {
        edgeType: "contradicts",
        validTo: at(7),
        provenanceEventId: event.id,
      });
      await write(store, { edges: [late, early, anEdge(tea, milk)] });

      const seen = await look(store, {
        nodeIds: [tea.id, bobs.id, cup.id, tea.id, freshId()],
        auditRecordIds: [operation.id, freshId()],
        eventIds: [event.id, freshId()],
      });

      expect(seen.nodes).toEqual(new Map([tea, bobs, cup].map((node) => [node.id, node])));
      expect(seen.auditRecords).toEqual(new Map([[operation.id, operation]]));
      expect(seen.events).toEqual(new Map([[event.id, event]]));
      expect(seen.edges).toEqual([early, late]);
      expect(await look(store, {})).toEqual({
        at: expect.any(String),
        nodes: new Map(),
        auditRecords: new Map(),
        events: new Map(),
        edges: [],
        edgesOf: [],
      });
    });

    test("of an owner sees nothing of others", async () => {
      const { store } = await world.fresh();
      const [mine] = await two(store);
      const [bobs] = await put(store, { userId: "bob", content: "Bob's own." });
      if (bobs === undefined) throw new Error("no memory");
      const eventIds = [...mine.evidenceRefs, ...bobs.evidenceRefs];
      const reads = { nodeIds: [mine.id, bobs.id], auditRecordIds: [], eventIds };
      const seen = (owner?: string) =>
        store.change({ ...reads, owner }, ({ nodes, events }) => ({
          change: undefined,
          result: [[...nodes.keys()], [...events.keys()]],
        }));

      expect(await seen("ada")).toEqual([[mine.id], [...mine.evidenceRefs]]);
      expect(await seen("bob")).toEqual([[bobs.id], [...bobs.evidenceRefs]]);
      expect((await seen()).map((ids) => ids.length)).toEqual([2, eventIds.length]);
      expect(await seen("nobody")).toEqual([[], []]);
    });

    test("writes all of a node that may change, edges and operations, and gives its result", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const [old, next] = await two(store);
      const changed: MemoryNode = {
        ...old,
        lifecycleState: "superseded",
        confidence: 0.1,
        salience: 0.2,
        confidenceBase: 0.3,
        salienceBase: 0.4,
        reinforcementBoost: 0.5,
        lastReinforcedAt: at(60),
        decayProfile: "slow",
        epistemicType: "conditional",
        sourceType: "tool_output",
        metadata: { state: "true" },
        updatedAt: at(61),
        validFrom: at(63),
        validTo: at(64),
        ttlDays: undefined,
        supersededBy: next.id,
        evidenceRefs: [...old.evidenceRefs, ...next.evidenceRefs],
        pinned: true,
      };
      const edge = anEdge(next, old);
      const operation = anAuditRecord({ opType: "SUPERSEDENCE_APPLIED", targetId: old.id });

      const result = await store.change(reading({ nodeIds: [old.id] }), ({ nodes }) => ({
        change: { nodes: [changed], edges: [edge], auditRecords: [operation] },
        result: nodes.get(old.id)?.lifecycleState,
      }));

      expect(result).toBe("tentative");
      for (const each of [store, other]) {
        expect(await each.node(old.id, "ada")).toEqual(changed);
        expect(await each.node(next.id, "ada")).toEqual(next);
        const { auditRecords } = await look(each, { auditRecordIds: [operation.id] });
        expect(auditRecords.get(operation.id)).toEqual(operation);
      }
      expect((await look(other, { nodeIds: [old.id, next.id] })).edges).toEqual([edge]);
    });

    test.each(FORBIDDEN)("that tries to write $name changes nothing", async ({ change }) => {
      const { store } = await world.fresh();
      const [first, second] = await two(store);
      const [bobs] = await put(store, { userId: "bob" });
      const given = change(first, second, bobs ?? first);
      const operation = anAuditRecord();
      const tried = {
        nodes: [...(given.nodes ?? []), { ...second, salience: 0.9 }],
        edges: [anEdge(first, second), ...(given.edges ?? [])],
        auditRecords: [operation, ...(given.auditRecords ?? [])],
      };

      expect(await codeOf(write(store, tried))).toBe("internal");

      const ids = [first.id, second.id];
      const left = await look(store, { nodeIds: ids, auditRecordIds: [operation.id] });
      // In whatever order: the port promises none.
      expect(left.nodes).toEqual(new Map([first, second].map((node) => [node.id, node])));
      expect(left.edges).toEqual([]);
      expect(left.auditRecords.size).toBe(0);
    });

    test("writes no node that it has not read, and takes none back that was retired", async () => {
      const { store } = await world.fresh();
      const [first, second] = await two(store);
      const unread = store.change(reading({ nodeIds: [second.id] }), () => ({
        change: { ...NOTHING, nodes: [{ ...first, salience: 0.9 }] },
        result: undefined,
      }));
      expect(await codeOf(unread)).toBe("internal");
      await retire(store, "archived", first);

      expect(await codeOf(write(store, { nodes: [first] }))).toBe("internal");
      expect(await store.node(first.id, "ada")).toEqual({ ...first, lifecycleState: "archived" });
    });

    test("is of the present, and of a later moment than the last change of what it reads", async () => {
      const { store } = await world.fresh();
      const [old, next] = await two(store);
      const present = (await look(store, { nodeIds: [old.id] })).at;
      expect(present > old.updatedAt).toBe(true);
      const ahead = asInstant("2126-12-31T23:59:59.999999Z");
      await write(store, { nodes: [{ ...next, updatedAt: ahead }] });

      expect((await look(store, { nodeIds: [old.id, next.id] })).at).toBe(
        asInstant("2127-01-01T00:00:00.000000Z"),
      );
      expect((await look(store, { nodeIds: [old.id] })).at < ahead).toBe(true);
    });

    test("that throws fails alone, with what was thrown, while others of its group go through", async () => {
      const { store } = await world.fresh();
      const nodes = await put(store, ...Array.from({ length: 4 }, () => ({ vector: unit(1) })));
      const thrown = [
        new SvcError("invalid_transition", "promote: it is archived", { from: "archived" }),
        new TypeError("a mistake"),
      ];

      const outcomes = await Promise.allSettled(
        nodes.map((node, index) =>
          store.change(reading({ nodeIds: [node.id] }), () => {
            if (index % 2 === 1) throw thrown[(index - 1) / 2];
            const changed = { ...node, salience: 0.9 };
            return { change: { ...NOTHING, nodes: [changed] }, result: index };
          }),
        ),
      );
      const alone = await look(store, {}).then(() =>
        Promise.allSettled([
          store.change(reading({}), () => {
            throw thrown[0];
          }),
        ]),
      );

      const settled = [...outcomes, ...alone].map((outcome) =>
        outcome.status === "fulfilled" ? outcome.value : outcome.reason,
      );
      expect(settled).toEqual([0, thrown[0], 2, thrown[1], thrown[0]]);
      expect([settled[1], settled[3], settled[4]].every((one) => thrown.includes(one))).toBe(true);
      const left = await Promise.all(nodes.map(({ id }) => store.node(id, "ada")));
      expect(left.map((node) => node?.salience)).toEqual([0.9, 0.5, 0.9, 0.5]);
    });

    test("that adds nodes makes them found with its edges and records, for every store", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const [old] = await two(store);
      const added = aNode(anEvent(), { content: "Lapsang souchong", evidenceRefs: [old.id] });
      const edge = anEdge(added, old, { edgeType: "derived_from" });
      const operation = anAuditRecord({ targetId: added.id });
      const kept = { ...old, content: "forged", salience: 0.9, userId: "bob" };

      await write(store, {
        nodes: [{ ...old, lifecycleState: "superseded", supersededBy: added.id }],
        added: [added, kept].map((node) => ({ node, vector: unit(1, 2), at: at(5) })),
        edges: [edge],
        auditRecords: [operation],
      });

      for (const each of [store, other]) {
        const seen = await look(each, {
          nodeIds: [old.id, added.id],
          auditRecordIds: [operation.id],
        });
        expect(seen.nodes.get(added.id)).toEqual(added);
        // A node that is there already is kept.
        expect(seen.nodes.get(old.id)).toEqual({
          ...old,
          lifecycleState: "superseded",
          supersededBy: added.id,
        });
        expect(seen.edges).toEqual([edge]);
        expect(seen.auditRecords.get(operation.id)).toEqual(operation);
        const byText = await each.searchText("lapsang forged old", ANYTHING, 5);
        expect(await contentsOf(each, byText)).toEqual([added.content]);
        const byVector = await each.searchVectors(unit(1, 2), ANYTHING, 5);
        expect(await contentsOf(each, byVector)).toEqual([added.content]);
      }
    });

    test.each(BROKEN_ADDITIONS)(
      "that adds nodes and $name leaves none of them behind",
      async ({ change }) => {
        const { store } = await world.fresh();
        const [first, second] = await two(store);
        const [bobs] = await put(store, { userId: "bob" });
        const added = aNode(anEvent(), { content: "Lapsang souchong" });
        const before = await store.countNodes("ada");
        const changed = { ...second, salience: 0.9 };

        const outcome = store.change(reading({ nodeIds: [second.id] }), () => ({
          change: {
            ...{
              ...NOTHING,
              nodes: [changed],
              added: [{ node: added, vector: unit(1, 2), at: at(5) }],
            },
            ...change(added, first, bobs ?? first),
          },
          result: undefined,
        }));

        expect(await codeOf(outcome)).toBe("internal");
        expect(await store.node(added.id, "ada")).toBeUndefined();
        expect(await store.countNodes("ada")).toBe(before);
        expect(await store.node(second.id, "ada")).toEqual(second);
        expect(await store.searchText("lapsang", ANYTHING, 5)).toEqual([]);
        expect(await store.searchVectors(unit(1, 2), ANYTHING, 5)).toEqual([]);
      },
    );

    test("of several that decide alike at once leaves one record, over two stores", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const [node] = await put(store, { content: "tea" });
      if (node === undefined) throw new Error("a memory was stored");
      const id = uuidV5(node.id, "archive");
      const archive = (each: RetrievalStore) =>
        each.change(reading({ nodeIds: [node.id], auditRecordIds: [id] }), (snapshot) => {
          const before = snapshot.nodes.get(node.id);
          if (before === undefined) throw new Error("the memory is there");
          if (snapshot.auditRecords.has(id)) return { change: undefined, result: "again" };
          const nodes = [{ ...before, lifecycleState: "archived" as const }];
          const operations = [anAuditRecord({ id, targetId: node.id })];
          return { change: { ...NOTHING, nodes, auditRecords: operations }, result: "first" };
        });

      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => archive(index % 2 === 0 ? store : other)),
      );

      expect(results.filter((result) => result === "first")).toHaveLength(1);
      expect(results.filter((result) => result === "again")).toHaveLength(19);
    });

    test("never misses one that another store makes at the same time", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const [node] = await put(store, {});
      const id = node?.id ?? freshId();
      const raise = (each: RetrievalStore) =>
        each.change(reading({ nodeIds: [id] }), ({ nodes }) => {
          const changed = [...nodes.values()].map((before) => ({
            ...before,
            reinforcementBoost: before.reinforcementBoost + 1,
          }));
          return { change: { ...NOTHING, nodes: changed }, result: undefined };
        });

      await Promise.all(
        Array.from({ length: 40 }, (_, index) => raise(index % 2 === 0 ? store : other)),
      );

      expect((await store.node(id, "ada"))?.reinforcementBoost).toBe(40);
    });
  });
}
