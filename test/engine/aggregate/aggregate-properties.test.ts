import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  LIFECYCLE_STATES,
  NODE_TYPES,
  RETRIEVAL_MODES,
  type Scope,
} from "../../../src/domain/enums.ts";
import {
  type AssertionQuery,
  CLAIM_DIMENSIONS,
  type ClaimDimension,
  QUANTITY_DIMENSIONS,
  type QuantityDimension,
  type QuantityQuery,
} from "../../../src/domain/records/aggregation.ts";
import { useEngines } from "../engines.ts";
import {
  memories,
  moment,
  nodesOf,
  OBJECTS,
  ownedBy,
  POLARITIES,
  PREDICATES,
  put,
  type Spelling,
  SUBJECTS,
} from "./claims-world.ts";
import { type NaiveFilter, naiveAssertions, naiveQuantities } from "./naive.ts";

const { open } = useEngines();
const RUNS = 300;

/** A member of a query: what is given, what it means written out, and what it compares as. */
type Chosen = {
  readonly given: readonly string[] | undefined;
  readonly complete: readonly string[];
  readonly normal: readonly string[];
};

function chosenFrom(spellings: readonly Spelling[], fallback: string[] = []): fc.Arbitrary<Chosen> {
  const usable = spellings.flatMap(({ written, normal }) =>
    typeof written === "string" && normal !== undefined ? [{ written, normal }] : [],
  );
  const some = fc.array(fc.constantFrom(...usable), { maxLength: 3 }).map((picked) => ({
    given: picked.map(({ written }) => written),
    complete: picked.map(({ written }) => written),
    normal: picked.map(({ normal }) => normal),
  }));
  const none = fc.constant({ given: undefined, complete: fallback, normal: fallback });
  return fc.oneof({ arbitrary: none, weight: 3 }, { arbitrary: some, weight: 2 });
}

/** A member that may be left out, with what that means. */
function orDefault<T, D>(arbitrary: fc.Arbitrary<T>, fallback: D, weight = 2) {
  return fc.oneof(
    { arbitrary: fc.constant({ given: undefined, complete: fallback }), weight },
    { arbitrary: arbitrary.map((given) => ({ given, complete: given })), weight: 2 },
  );
}
const orAbsent = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof(
    {
      arbitrary: fc.constantFrom(null, undefined).map((given) => ({ given, complete: undefined })),
      weight: 4,
    },
    { arbitrary: arbitrary.map((given) => ({ given, complete: given })), weight: 1 },
  );
const setOf = <T>(members: readonly T[], minLength = 0) =>
  fc.uniqueArray(fc.constantFrom(...members), { minLength });

const filter = fc.record({
  subjects: chosenFrom(SUBJECTS),
  predicates: chosenFrom(PREDICATES),
  objects: chosenFrom(OBJECTS),
  polarities: chosenFrom(POLARITIES, ["positive"]),
  scopes: orDefault(setOf<Scope>(["personal", "project", "sandbox"]), [] as Scope[]),
  nodeTypes: orDefault(setOf(NODE_TYPES, 1), ["fact", "decision", "preference"] as const),
  lifecycleStates: orAbsent(setOf(LIFECYCLE_STATES)),
  retrievalMode: orDefault(fc.constantFrom(...RETRIEVAL_MODES), "default" as const),
  window: orAbsent(fc.tuple(moment, moment).map(([a, b]) => (a < b ? [a, b] : [b, a]))),
  hasFrom: fc.boolean(),
  hasTo: fc.boolean(),
  validAt: orAbsent(moment),
  knowledgeAt: orAbsent(moment),
  groupLimit: orDefault(fc.nat(4), 1000),
  sampleLimit: orDefault(fc.nat(3), 10),
});
type Drawn = typeof filter extends fc.Arbitrary<infer T> ? T : never;

/** What an engine is asked, what it has to echo, and what the reference compares. */
function asked(drawn: Drawn) {
  const { window, hasFrom, hasTo, subjects, predicates, objects, polarities, ...plain } = drawn;
  const [from, to] = window.complete ?? [];
  const texts = { subjects, predicates, objects, polarities };
  const pick = <K extends "given" | "complete">(key: K) => ({
    ...Object.fromEntries(Object.entries(plain).map(([name, member]) => [name, member[key]])),
    eventTimeFrom: hasFrom ? from : undefined,
    eventTimeTo: hasTo ? to : undefined,
  });
  const textsAs = (key: keyof Chosen) =>
    Object.fromEntries(Object.entries(texts).map(([name, chosen]) => [name, chosen[key]]));
  return {
    input: { ...pick("given"), ...textsAs("given") },
    echo: { ...pick("complete"), ...textsAs("complete") },
    // SAFETY: the members are those of a filter, each drawn above.
    naive: { ...pick("complete"), ...textsAs("normal") } as unknown as NaiveFilter,
  };
}

/** Equality does not look at the order of names. */
function expectSorted(counts: Readonly<Record<string, number>>): void {
  expect(Object.keys(counts)).toEqual(Object.keys(counts).sort());
}

test("counted claims are those of a count by hand", async () => {
  const { engine, store } = await open();
  let owner = 0;
  await fc.assert(
    fc.asyncProperty(
      memories,
      fc.array(
        fc.tuple(
          filter,
          orDefault(setOf<ClaimDimension>(CLAIM_DIMENSIONS, 1), ["object"] as ClaimDimension[]),
        ),
        { minLength: 1, maxLength: 4 },
      ),
      async (drawn, queries) => {
        owner += 1;
        const userId = `counted-${owner}`;
        const told = ownedBy(drawn, owner, userId);
        await put(store, nodesOf(told));
        for (const [parts, groupBy] of queries) {
          const { input, echo, naive } = asked(parts);
          // SAFETY: the members are those of a query, each drawn above.
          const query = { ...echo, groupBy: groupBy.complete } as unknown as AssertionQuery;
          const answer = await engine.aggregateAssertions({
            ...input,
            userId,
            groupBy: groupBy.given,
          });
          expectSorted(answer.exclusions);
          expect(answer).toEqual(naiveAssertions(told, userId, query, naive));
        }
      },
    ),
    { numRuns: RUNS },
  );
}, 120_000);

test("summed amounts are those of a sum by hand", async () => {
  const { engine, store } = await open();
  let owner = 0;
  const prefixes = chosenFrom(PREDICATES);
  const units = chosenFrom([
    { written: "Km", normal: "km" },
    { written: "$", normal: "$" },
    { written: " USD ", normal: "usd" },
    { written: "sea  miles", normal: "sea miles" },
    { written: "1", normal: "1" },
  ]);
  const dimensions = setOf<QuantityDimension>(QUANTITY_DIMENSIONS, 1).filter((names) =>
    names.includes("unit"),
  );
  await fc.assert(
    fc.asyncProperty(
      memories,
      fc.array(
        fc.tuple(filter, orDefault(dimensions, ["unit"] as QuantityDimension[]), prefixes, units),
        { minLength: 1, maxLength: 4 },
      ),
      async (drawn, queries) => {
        owner += 1;
        const userId = `summed-${owner}`;
        const told = ownedBy(drawn, owner, userId);
        await put(store, nodesOf(told));
        for (const [parts, groupBy, families, chosen] of queries) {
          const { input, echo, naive } = asked(parts);
          const members = { predicatePrefixes: families, units: chosen };
          const query = {
            ...echo,
            groupBy: groupBy.complete,
            predicatePrefixes: members.predicatePrefixes.complete,
            units: members.units.complete,
            // SAFETY: the members are those of a query, each drawn above.
          } as unknown as QuantityQuery;
          const answer = await engine.aggregateQuantities({
            ...input,
            userId,
            groupBy: groupBy.given,
            predicatePrefixes: families.given,
            units: chosen.given,
          });
          expectSorted(answer.exclusions);
          expect(answer).toEqual(
            naiveQuantities(told, userId, query, {
              filter: naive,
              prefixes: families.normal,
              units: chosen.normal,
            }),
          );
        }
      },
    ),
    { numRuns: RUNS },
  );
}, 120_000);
