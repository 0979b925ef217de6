import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ACTIVE_STATES, LIFECYCLE_STATES, NODE_TYPES, SCOPES } from "../../../src/domain/enums.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { NodeQuery } from "../../../src/engine/inspect/api.ts";
import { at, type Memory, put } from "../../contract/samples.ts";
import { expectInvalid, useEngines } from "../engines.ts";

const { open } = useEngines();

const OWNERS = ["ada", "bob"];
const SESSIONS = ["s1", "s2", "S1"];
const PARTS = ["tea", "TEA", "100%", "%", "_", "a_b", "\\", "É", "é", "", "none of it"];
const UNITS = [0, 0.25, 0.5, 0.75, 1];
const moment = fc.integer({ min: 0, max: 9 }).map((second) => at(second));

const memory: fc.Arbitrary<Memory> = fc.record({
  userId: fc.constantFrom(...OWNERS),
  nodeType: fc.constantFrom(...NODE_TYPES),
  scope: fc.constantFrom(...SCOPES),
  sessionId: fc.constantFrom(undefined, ...SESSIONS),
  lifecycleState: fc.constantFrom(...ACTIVE_STATES, ...LIFECYCLE_STATES),
  confidence: fc.constantFrom(...UNITS),
  salience: fc.constantFrom(...UNITS),
  content: fc.array(fc.constantFrom(...PARTS), { maxLength: 3 }).map((parts) => parts.join(" ")),
  validFrom: moment,
  validTo: fc.option(moment, { nil: undefined }),
  second: fc.integer({ min: 0, max: 9 }),
});

const someOf = <T>(values: readonly T[]) => fc.subarray([...values]);

const FILTERS = {
  userId: fc.constantFrom(...OWNERS, ...OWNERS, "eve", null),
  nodeType: fc.constantFrom(...NODE_TYPES),
  scope: fc.constantFrom(...SCOPES, null),
  scopes: someOf(SCOPES),
  sessionIds: someOf([...SESSIONS, "none"]),
  lifecycleStates: someOf(LIFECYCLE_STATES),
  validAt: moment,
  minConfidence: fc.constantFrom(...UNITS),
  minSalience: fc.constantFrom(...UNITS),
  contentContainsAny: someOf(PARTS.slice(0, -2)),
  createdBefore: moment,
  oldestFirst: fc.boolean(),
  limit: fc.constantFrom(0, 1, 5, 1000),
};

/** Few filters at a time: all of them together hardly ever find anything. */
const query: fc.Arbitrary<NodeQuery> = fc
  .tuple(fc.record(FILTERS), fc.subarray(Object.keys(FILTERS), { maxLength: 4 }))
  .map(([all, names]) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))),
  );

const isIn = <T>(list: readonly T[] | null | undefined, value: T | undefined): boolean =>
  list === undefined ||
  list === null ||
  list.length === 0 ||
  (value !== undefined && list.includes(value));

/** What the documented rules say, without an index and without SQL. */
function expected(nodes: readonly MemoryNode[], asked: NodeQuery): readonly string[] {
  const validAt = asked.validAt ?? undefined;
  const passing = nodes.filter((node) =>
    [
      (asked.userId ?? node.userId) === node.userId,
      (asked.nodeType ?? node.nodeType) === node.nodeType,
      (asked.scope ?? node.scope) === node.scope,
      isIn(asked.scopes, node.scope),
      isIn(asked.sessionIds, node.sessionId),
      (asked.lifecycleStates ?? ACTIVE_STATES).includes(node.lifecycleState),
      validAt === undefined ||
        (node.validFrom <= validAt && (node.validTo === undefined || validAt < node.validTo)),
      node.confidence >= (asked.minConfidence ?? 0),
      node.salience >= (asked.minSalience ?? 0),
      asked.contentContainsAny?.length
        ? asked.contentContainsAny.some((part) =>
            node.content.toLowerCase().includes(part.toLowerCase()),
          )
        : true,
      node.createdAt <= (asked.createdBefore ?? node.createdAt),
    ].every(Boolean),
  );
  const place = ({ createdAt, id }: MemoryNode) => `${createdAt} ${id}`;
  const oldestFirst = passing.sort((a, b) => (place(a) < place(b) ? -1 : 1));
  return (asked.oldestFirst ? oldestFirst : oldestFirst.reverse())
    .slice(0, asked.limit ?? 100)
    .map(({ id }) => id);
}

describe("a query for nodes", () => {
  test("finds what its filters say, whichever are given, in the same order", async () => {
    const { engine, store } = await open();
    const nodes = await put(store, ...fc.sample(memory, { numRuns: 150, seed: 6 }));
    let hits = 0;

    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const found: string[] = (await engine.queryNodes(asked)).map(({ id }) => id);
        hits += found.length;
        expect(found).toEqual([...expected(nodes, asked)]);
      }),
      { numRuns: 600 },
    );

    // A property about empty answers would say nothing.
    expect(hits).toBeGreaterThan(1000);
  });

  test("asks for one scope and for several at once: both have to hold", async () => {
    const { engine, store } = await open();
    await put(store, { content: "at work", scope: "project" }, { content: "at home" });
    const contents = async (asked: NodeQuery) =>
      (await engine.queryNodes(asked)).map(({ content }) => content);

    expect(await contents({ scope: "project", scopes: ["project", "agent"] })).toEqual(["at work"]);
    expect(await contents({ scope: "project", scopes: ["personal"] })).toEqual([]);
    expect(await contents({ scope: "project", scopes: [] })).toEqual(["at work"]);
    // SAFETY: a wrong scope is what is tested.
    const wrong = { scope: "project", scopes: ["galaxy"] } as unknown as NodeQuery;
    await expectInvalid(engine.queryNodes(wrong), { field: "scopes" });
  });

  test("refuses an order that is neither true nor false", async () => {
    const { engine } = await open();

    // SAFETY: a wrong type is what is tested.
    const wrong = { oldestFirst: "yes" } as unknown as NodeQuery;
    await expectInvalid(engine.queryNodes(wrong), { field: "oldest_first" });
  });
});
