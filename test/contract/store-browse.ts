import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  SCOPES,
  SOURCE_TYPES,
} from "../../src/domain/enums.ts";
import { retentionEnd } from "../../src/domain/fading.ts";
import type { Edge, MemoryNode } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import type { Instant } from "../../src/lib/instant.ts";
import type { BrowseClock, BrowseFilter, BrowsePage } from "../../src/ports/store/graph.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { anAdmission, anAuditRecord, at, freshId, type Memory, put } from "./samples.ts";
import { anEdge, write } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";
import { anEdgeBetween } from "./store-graph.ts";
import { LARGE } from "./store-graph-reads.ts";

const DAY = 86_400;

function pick<T>(members: readonly T[], index: number): T {
  const member = members[index % members.length];
  if (member === undefined) throw new Error("no members");
  return member;
}

/** Memories of every kind; some happened at another time than they were stored, and some share their moment. */
const SAMPLES: readonly Memory[] = Array.from({ length: 36 }, (_, index): Memory => {
  const second = Math.floor(index / 2) * 420;
  const createdAt = at(second);
  return {
    content: `memory ${index} of ${index % 3 === 0 ? "Ärger" : "100% tea"}`,
    second,
    createdAt,
    userId: index % 9 === 8 ? "bob" : "ada",
    nodeType: pick(NODE_TYPES, index * 5),
    lifecycleState: pick(LIFECYCLE_STATES, index * 5 + Math.floor(index / 6)),
    scope: pick(SCOPES, Math.floor(index / 3)),
    sourceType: pick(SOURCE_TYPES, index * 7),
    epistemicType: pick(EPISTEMIC_TYPES, index * 11),
    sessionId: index % 4 === 0 ? "talk" : undefined,
    eventTime: index % 5 === 0 ? at(9000 - index * 60) : undefined,
    ttlDays: index % 6 === 0 ? undefined : (index % 3) + 1,
    pinned: index % 12 === 1,
    validTo: index % 7 === 0 ? at(second + 600) : undefined,
  };
});

/** Most often no restriction: then several together still leave something. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const someOf = <T>(values: readonly T[]) =>
  sometimes(fc.subarray([...values]).map((some) => [...some].sort()));
const moment = sometimes(fc.integer({ min: 0, max: 25 }).map((step) => at(step * 420)));

const filters: fc.Arbitrary<BrowseFilter> = fc.record({
  userId: fc.constantFrom("ada", "ada", "ada", "bob", "eve"),
  clock: fc.constantFrom<BrowseClock>("learned", "happened"),
  lifecycleStates: someOf(LIFECYCLE_STATES),
  nodeType: sometimes(fc.constantFrom(...NODE_TYPES)),
  scopes: someOf(SCOPES),
  sourceTypes: someOf(SOURCE_TYPES),
  epistemicTypes: someOf(EPISTEMIC_TYPES),
  sessionId: sometimes(fc.constantFrom("talk", "nothing")),
  validAt: moment,
  timeFrom: moment,
  timeTo: moment,
  expiresBefore: sometimes(fc.integer({ min: 0, max: 100 }).map((hour) => at(hour * 3600))),
  contains: sometimes(fc.constantFrom("äRGER", "100%", "_", "", "MEMORY 1", "\\", "k")),
});

const momentOf = (node: MemoryNode, clock: BrowseClock): Instant =>
  clock === "happened" ? (node.eventTime ?? node.createdAt) : node.createdAt;

/** The filter of the port, in words of its own. */
function isWanted(node: MemoryNode, filter: BrowseFilter): boolean {
  const { validAt, timeFrom, timeTo, expiresBefore } = filter;
  const moment = momentOf(node, filter.clock);
  const end = retentionEnd(node);
  return (
    node.userId === filter.userId &&
    (filter.lifecycleStates?.includes(node.lifecycleState) ?? true) &&
    (filter.nodeType ?? node.nodeType) === node.nodeType &&
    (filter.scopes?.includes(node.scope) ?? true) &&
    (filter.sourceTypes?.includes(node.sourceType) ?? true) &&
    (filter.epistemicTypes?.includes(node.epistemicType) ?? true) &&
    (filter.sessionId ?? node.sessionId) === node.sessionId &&
    node.content.toLowerCase().includes((filter.contains ?? "").toLowerCase()) &&
    (validAt === undefined ||
      (node.validFrom <= validAt && (node.validTo === undefined || node.validTo > validAt))) &&
    (timeFrom === undefined || moment >= timeFrom) &&
    (timeTo === undefined || moment < timeTo) &&
    (expiresBefore === undefined || (end !== undefined && end < expiresBefore))
  );
}

/** All pages. */
async function paged(store: Store, page: BrowsePage): Promise<MemoryNode[]> {
  const found: MemoryNode[] = [];
  for (let after = page.after; ; ) {
    const { items, hasMore } = await store.browse({ ...page, after });
    found.push(...items);
    const last = items.at(-1);
    if (!hasMore || last === undefined) return found;
    after = { at: momentOf(last, page.clock), id: last.id };
  }
}

/** How often each value occurs, in the order of the values. */
function tally(values: readonly string[]): (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
}

const facetOf = ({
  nodeType,
  lifecycleState,
  scope,
  sourceType,
  epistemicType,
}: Pick<
  MemoryNode,
  "nodeType" | "lifecycleState" | "scope" | "sourceType" | "epistemicType"
>): string => [nodeType, lifecycleState, scope, sourceType, epistemicType].join(" ");

/** The quarter of an hour in which a moment is, as text. */
function quarterOf(moment: Instant): string {
  const minute = Math.floor(Number(moment.slice(14, 16)) / 15) * 15;
  return `${moment.slice(0, 14)}${String(minute).padStart(2, "0")}`;
}

/** Looking through what is stored. */
export function describeBrowse(world: StoreWorld): void {
  describe("browsing", () => {
    test("shows and counts what passes every restriction, by both clocks, page after page", async () => {
      const { store } = await world.fresh();
      const nodes = await put(store, ...SAMPLES);
      await fc.assert(
        fc.asyncProperty(
          filters,
          fc.boolean(),
          fc.integer({ min: 1, max: 9 }),
          async (filter, oldestFirst, limit) => {
            const wanted = nodes.filter((node) => isWanted(node, filter));
            const placeOf = (node: MemoryNode) => `${momentOf(node, filter.clock)} ${node.id}`;
            const ordered = wanted.toSorted((one, other) =>
              placeOf(one) < placeOf(other) ? -1 : 1,
            );
            if (!oldestFirst) ordered.reverse();

            expect(await paged(store, { ...filter, oldestFirst, limit })).toEqual(ordered);
            const facets = await store.facetCounts(filter);
            expect(tally(facets.flatMap((each) => Array(each.count).fill(facetOf(each))))).toEqual(
              tally(wanted.map(facetOf)),
            );
            const quarters = await store.quarterCounts(filter);
            expect(
              tally(
                quarters.flatMap(({ count, quarter, lifecycleState }) =>
                  Array(count).fill(`${quarter} ${lifecycleState}`),
                ),
              ),
            ).toEqual(
              tally(
                wanted.map((node) =>
                  [quarterOf(momentOf(node, filter.clock)), node.lifecycleState].join(" "),
                ),
              ),
            );
          },
        ),
        { numRuns: 80 },
      );
    });

    test("keeps the order of the moments where the clock was set back meanwhile", async () => {
      const { store } = await world.fresh();
      const later = await put(store, { second: 60 }, { second: 2 * DAY, userId: "bob" });
      const earlier = await put(store, { second: 0 });
      const page = { userId: "ada", clock: "learned", limit: 1 } as const;
      const found = [...earlier, later[0]!];

      expect(await paged(store, { ...page, oldestFirst: true })).toEqual(found);
      expect(await paged(store, { ...page, oldestFirst: false })).toEqual(found.toReversed());
    });

    test("tells quarters of an hour apart to the microsecond, across midnight", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        ...[899.999999, 900, 86_399.999999, 86_400].map((second) => ({
          second,
          createdAt: at(second),
        })),
      );
      const counted = await store.quarterCounts({ userId: "ada", clock: "learned" });

      expect(counted.map(({ quarter, count }) => [quarter, count] as const).sort()).toEqual([
        ["2026-01-01T00:00", 1],
        ["2026-01-01T00:15", 1],
        ["2026-01-01T23:45", 1],
        ["2026-01-02T00:00", 1],
      ]);
    });

    test("ends a page at its number of characters, with at least one memory", async () => {
      const { store } = await world.fresh();
      const nodes = await put(
        store,
        ...[1, 2, 3, 4].map((second) => ({ second, content: `${second}${LARGE}` })),
      );
      const page = { userId: "ada", clock: "learned", oldestFirst: true, limit: 9 } as const;

      expect(await store.browse(page)).toEqual({ items: nodes.slice(0, 2), hasMore: true });
      const ids = nodes.map(({ id }) => id);
      const byId = await store.nodesOf("ada", ids);
      expect([byId.items.length, byId.hasMore]).toEqual([2, true]);
    });
  });

  test("memories are read by id in any state, of their owner alone", async () => {
    const { store } = await world.fresh();
    const nodes = await put(
      store,
      { lifecycleState: "archived" },
      { lifecycleState: "superseded", metadata: { list: [1, null] } },
      {},
      { userId: "bob" },
    );
    const ids = [freshId(), ...nodes.map(({ id }) => id)].toReversed();
    const read = async (userId: string, wanted = ids) => {
      const { items, hasMore } = await store.nodesOf(userId, wanted);
      return [items.toSorted((one, other) => (one.id < other.id ? -1 : 1)), hasMore];
    };

    expect(await read("ada", [...ids, ...ids])).toEqual([nodes.slice(0, 3), false]);
    expect(await read("bob")).toEqual([nodes.slice(3), false]);
    expect(await read("eve")).toEqual([[], false]);
    expect(await read("ada", [])).toEqual([[], false]);
  });

  describeEdges(world);
  describeNotedContradictions(world);
}

function describeEdges({ fresh }: StoreWorld): void {
  test("edges are listed by id, by either end, type and owner, and never lead to another owner", async () => {
    const { store, place } = await fresh();
    const [tea, cup, pot, bobs, bobsCup] = await put(
      store,
      ...[{}, {}, { lifecycleState: "archived" as const }, { userId: "bob" }, { userId: "bob" }],
    );
    const own = [
      anEdgeBetween(tea, cup),
      anEdgeBetween(cup, tea, { type: "supports", metadata: { a: [1] }, validTo: at(9) }),
      anEdgeBetween(pot, tea),
      anEdgeBetween(tea, tea),
    ];
    const [toCup, toTea, fromPot, loop] = own;
    const foreign = anEdgeBetween(bobs, bobsCup, { userId: "bob" });
    const crossing = [anEdgeBetween(tea, bobs), anEdgeBetween(bobs, bobsCup)];
    // The order of writing is not that of the ids.
    await place.seed.edges([...crossing, foreign, ...own.toReversed()]);
    const read = async (given: Partial<Parameters<Store["edges"]>[0]>) =>
      (await store.edges({ owner: "ada", limit: 9, ...given })).items;

    expect(await read({})).toEqual(own);
    expect(await read({ owner: ALL_OWNERS })).toEqual([...own, foreign]);
    expect(await read({ nodeId: cup?.id })).toEqual([toCup!, toTea!]);
    expect(await read({ nodeId: tea?.id, edgeType: "mentions" })).toEqual([
      toCup!,
      fromPot!,
      loop!,
    ]);
    expect(await read({ sourceId: tea?.id })).toEqual([toCup!, loop!]);
    expect(await read({ targetId: tea?.id })).toEqual([toTea!, fromPot!, loop!]);
    expect(await read({ sourceId: pot?.id, targetId: tea?.id })).toEqual([fromPot!]);
    for (const end of ["nodeId", "sourceId", "targetId"]) {
      for (const id of [bobs?.id, bobsCup?.id, freshId()])
        expect(await read({ [end]: id })).toEqual([]);
    }
    expect(await read({ owner: "eve" })).toEqual([]);
    const first = await store.edges({ owner: "ada", limit: 2 });
    expect(first).toEqual({ items: own.slice(0, 2), hasMore: true });
    const rest = { owner: "ada", afterId: toTea?.id, limit: 2 };
    expect(await store.edges(rest)).toEqual({ items: own.slice(2), hasMore: false });
  });

  test("edges at a node are those in either direction, oldest first", async () => {
    const { store } = await fresh();
    const [tea, cup, pot] = await put(store, {}, {}, {});
    if (!(tea && cup && pot)) throw new Error("three memories were stored");
    const edges: readonly Edge[] = [
      anEdge(cup, tea, { createdAt: at(3) }),
      anEdge(tea, pot, { createdAt: at(1), edgeType: "mentions", metadata: { b: "c" } }),
      anEdge(pot, tea, { createdAt: at(1) }),
      anEdge(cup, pot),
    ];
    await write(store, { edges });

    expect(await store.edgesAt(tea.id)).toEqual([edges[1]!, edges[2]!, edges[0]!]);
    expect(await store.edgesAt(freshId())).toEqual([]);
  });

  test("everything is counted by type, state and scope, with its sums, for an owner or everybody", async () => {
    const { store } = await fresh();
    const [first, second, , , bobs, bobsNext] = await put(
      store,
      { confidence: 0.25, salience: 0.5 },
      { confidence: 0.5, salience: 0.75 },
      { lifecycleState: "archived", confidence: 0.125, salience: 0 },
      { scope: "project", nodeType: "fact", confidence: 1, salience: 1 },
      { userId: "bob", confidence: 0.25, salience: 0.25 },
      { userId: "bob", nodeType: "task", confidence: 1, salience: 0.5 },
    );
    if (!(first && second && bobs && bobsNext)) throw new Error("memories were stored");
    await write(store, { edges: [anEdge(first, second), anEdge(second, first)] });
    await write(store, {
      edges: [anEdge(bobs, bobsNext, { userId: "bob", edgeType: "mentions" })],
    });
    await store.admit(anAdmission([], { auditRecords: [anAuditRecord()] }));
    const read = async (owner: Parameters<Store["storeCounts"]>[0]) => {
      const { nodes, edges, events } = await store.storeCounts(owner);
      const rows = nodes.map((row) =>
        [row.nodeType, row.lifecycleState, row.scope, row.count, row.confidence, row.salience].join(
          " ",
        ),
      );
      return {
        nodes: rows.sort(),
        edges: edges.map((row) => [row.edgeType, row.count]).sort(),
        events,
      };
    };

    const rest = ["fact tentative project 1 1 1", "note archived personal 1 0.125 0"];
    expect(await read("ada")).toEqual({
      nodes: [...rest, "note tentative personal 2 0.75 1.25"],
      edges: [["supersedes", 2]],
      events: 4,
    });
    expect(await read(ALL_OWNERS)).toEqual({
      nodes: [...rest, "note tentative personal 3 1 1.5", "task tentative personal 1 1 0.5"],
      edges: [
        ["mentions", 1],
        ["supersedes", 2],
      ],
      events: 6,
    });
    expect(await read("eve")).toEqual({ nodes: [], edges: [], events: 0 });
  });
}

function describeNotedContradictions({ fresh }: StoreWorld): void {
  test("noted contradictions are listed oldest first with both sides, open while both are contested", async () => {
    const { store, place } = await fresh();
    const contested = { lifecycleState: "contested" } as const;
    const [a, b, c, d, bobs, bobsOther] = await put(
      store,
      contested,
      { ...contested, scope: "project" },
      contested,
      { lifecycleState: "archived" },
      { ...contested, userId: "bob" },
      { ...contested, userId: "bob" },
    );
    if (!(a && b && c && d && bobs && bobsOther)) throw new Error("six memories were stored");
    const noted = (source: MemoryNode, target: MemoryNode, second: number, userId = "ada"): Edge =>
      anEdge(source, target, { edgeType: "contradicts", createdAt: at(second), userId });
    const [late, early, tied, foreign] = [
      noted(b, a, 5),
      noted(d, c, 2),
      noted(c, a, 5),
      noted(bobsOther, bobs, 1, "bob"),
    ];
    await place.seed.edges([tied, late, early, foreign, noted(bobs, a, 0), anEdge(a, b)]);
    const record = { opType: "CONTRADICTION_NOTED", targetId: a.id, createdAt: at(5) };
    const auditRecords = [
      anAuditRecord({ ...record, actorId: "carl" }),
      anAuditRecord({ ...record, actorId: "dora", createdAt: at(4) }),
      anAuditRecord({
        ...record,
        actorId: "eve",
        targetId: c.id,
        opType: "ARCHIVED",
        createdAt: at(2),
      }),
    ];
    await store.admit(anAdmission([], { auditRecords }));
    const rows = [
      { edge: early, nodeA: c, nodeB: d, actorId: undefined },
      { edge: late, nodeA: a, nodeB: b, actorId: "carl" },
      { edge: tied, nodeA: a, nodeB: c, actorId: "carl" },
    ];
    const read = (given: Partial<Parameters<Store["notedContradictions"]>[0]> = {}) =>
      store.notedContradictions({ userId: "ada", limit: 9, ...given });

    expect(await read()).toEqual({ items: rows, hasMore: false });
    expect(await read({ isOpen: true })).toEqual({ items: rows.slice(1), hasMore: false });
    expect(await read({ isOpen: false })).toEqual({ items: rows.slice(0, 1), hasMore: false });
    expect(await read({ limit: 2 })).toEqual({ items: rows.slice(0, 2), hasMore: true });
    expect(await read({ afterId: late.id, limit: 1 })).toEqual({
      items: rows.slice(2),
      hasMore: false,
    });
    // An empty page would say that there are no more.
    for (const afterId of [foreign.id, freshId()]) {
      for (const userId of ["ada", "eve"]) {
        await expect(read({ userId, afterId })).rejects.toMatchObject({
          code: "invalid_argument",
          data: { field: "after_id" },
        });
      }
    }
    expect((await read({ userId: "bob" })).items.map(({ edge }) => edge)).toEqual([foreign]);
    expect(await read({ userId: "eve" })).toEqual({ items: [], hasMore: false });
  });
}
