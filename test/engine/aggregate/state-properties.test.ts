import { expect, test } from "bun:test";
import fc from "fast-check";
import { NODE_TYPES, type Scope } from "../../../src/domain/enums.ts";
import type { Edge } from "../../../src/domain/node.ts";
import type { StateQuery } from "../../../src/domain/records/aggregation.ts";
import { freshId } from "../../contract/samples.ts";
import { useEngines } from "../engines.ts";
import {
  conflictOf,
  join,
  memories,
  moment,
  nodesOf,
  OBJECTS,
  ownedBy,
  PREDICATES,
  put,
  type Spelling,
  SUBJECTS,
  type Told,
} from "./claims-world.ts";
import { naiveState } from "./naive-state.ts";

const { open } = useEngines();

/** Spellings of one subject and one predicate, and one of each that differs. */
const SAME_SUBJECT = SUBJECTS.slice(0, 4);
const SAME_PREDICATE = PREDICATES.slice(0, 3);

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const query = fc.record({
  subject: fc.constantFrom(...SAME_SUBJECT.slice(0, 3)),
  predicate: fc.constantFrom(...SAME_PREDICATE.slice(0, 2)),
  scope: fc.constantFrom<Scope>("personal", "personal", "personal", "project"),
  validAt: moment,
  knowledgeAt: maybe(moment),
  nodeTypes: maybe(fc.uniqueArray(fc.constantFrom(...NODE_TYPES), { minLength: 1 })),
  limit: maybe(fc.integer({ min: 1, max: 4 })),
});

const conflict = fc.record({
  source: fc.nat(39),
  target: fc.nat(39),
  createdAt: moment,
  validFrom: moment,
  validTo: maybe(moment),
  confidence: fc.constantFrom(0.5, 1),
});

const likeness = fc.record({
  subject: fc.constantFrom(...SAME_SUBJECT),
  predicate: fc.constantFrom(...SAME_PREDICATE),
  object: fc.constantFrom(...OBJECTS.slice(0, 5)),
  isCurrent: fc.boolean(),
  isUnlike: fc.constantFrom(false, false, false, true),
});
type Likeness = typeof likeness extends fc.Arbitrary<infer T> ? T : never;

/** Memories most of which are about one subject, and about half of which hold now. */
const related = fc
  .tuple(memories, fc.array(likeness, { minLength: 40, maxLength: 40 }))
  .map(([told, drawn]) => told.map((record, at) => relate(record, drawn[at])));

function relate(told: Told, drawn: Likeness | undefined): Told {
  if (drawn === undefined || drawn.isUnlike) return told;
  const { subject, predicate, object } = drawn;
  const parts = { subject: subject.written, predicate: predicate.written, object: object.written };
  // SAFETY: members that are undefined were removed.
  const metadata = Object.fromEntries(
    Object.entries({ ...told.node.metadata, ...parts }).filter(([, value]) => value !== undefined),
  ) as NonNullable<typeof told.node.metadata>;
  const current = {
    lifecycleState: "stable",
    epistemicType: "observed",
    validTo: undefined,
  } as const;
  const isFact = { nodeType: "fact", scope: "personal" } as const;
  const node = { ...told.node, ...isFact, ...(drawn.isCurrent && current), metadata };
  return { ...told, subject, predicate, object, node };
}

function edgesOf(
  told: readonly Told[],
  drawn: readonly (typeof conflict extends fc.Arbitrary<infer T> ? T : never)[],
): Edge[] {
  return drawn.flatMap(({ source, target, ...given }) => {
    const [from, to] = [told[source % told.length]?.node, told[target % told.length]?.node];
    if (from === undefined || to === undefined || from === to) return [];
    return [conflictOf(from, to, { ...given, id: freshId() })];
  });
}

test("the state of a claim is that found by hand", async () => {
  const { engine, store } = await open();
  let owner = 0;
  await fc.assert(
    fc.asyncProperty(
      related,
      fc.array(conflict, { maxLength: 30 }),
      fc.array(query, { minLength: 1, maxLength: 4 }),
      async (drawn, conflicts, queries) => {
        owner += 1;
        const userId = `state-${owner}`;
        const told = ownedBy(drawn, owner, userId);
        await put(store, nodesOf(told));
        const edges = edgesOf(told, conflicts);
        for (const edge of edges) await join(store, edge);
        for (const asked of queries) await expectState(told, edges, userId, asked);
      },
    ),
    { numRuns: 300 },
  );

  async function expectState(
    told: readonly Told[],
    edges: readonly Edge[],
    userId: string,
    asked: typeof query extends fc.Arbitrary<infer T> ? T : never,
  ): Promise<void> {
    const texts = { subject: text(asked.subject), predicate: text(asked.predicate) };
    const complete: StateQuery = {
      ...asked,
      ...texts,
      nodeTypes: asked.nodeTypes ?? ["fact", "decision", "preference"],
      limit: asked.limit ?? 1000,
    };
    expect(await engine.getAssertionState({ ...asked, ...texts, userId })).toEqual(
      naiveState(told, edges, {
        userId,
        query: complete,
        subject: asked.subject.normal ?? "",
        predicate: asked.predicate.normal ?? "",
      }),
    );
  }
}, 120_000);

function text({ written }: Spelling): string {
  return String(written);
}
