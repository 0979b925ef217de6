import { describe, expect, test } from "bun:test";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { testClock, useEngines } from "../engines.ts";
import {
  edgesAmong,
  KEY,
  logOf,
  nodesOf,
  recordOf,
  refusal,
  remember,
  rememberConditional,
  reread,
} from "./memories.ts";

const engines = useEngines();

/** Two memories of ada that a change is about; the second one may not matter. */
type Ids = readonly [Uuid, Uuid];

type Repeatable = {
  readonly name: string;
  readonly prepare?: (engine: MemoryEngine, ids: Ids) => Promise<unknown>;
  readonly call: (engine: MemoryEngine, ids: Ids) => Promise<unknown>;
  /** What is recorded of both memories, what preparation recorded included. */
  readonly recorded: readonly string[];
};

const contest = (engine: MemoryEngine, ids: Ids) => engine.contradict(...ids);

/** Calls that change something once, however often they are made. */
const REPEATABLE = (
  [
    ["promote", (engine, [id]) => engine.promote(id, { requestId: KEY }), ["LIFECYCLE_CHANGED"]],
    ["archive", (engine, [id]) => engine.archive(id, { requestId: KEY }), ["LIFECYCLE_CHANGED"]],
    ["reinforce", (engine, [id]) => engine.reinforce(id, { requestId: KEY }), ["REINFORCE"]],
    [
      "evaluateCondition",
      (engine, [id]) => engine.evaluateCondition(id, { state: "true", requestId: KEY }),
      ["EPISTEMIC_TRANSITION"],
    ],
    ["supersede", (engine, ids) => engine.supersede(...ids), ["SUPERSEDENCE_APPLIED"]],
    ["contradict", contest, ["CONTRADICTION_NOTED"]],
    [
      "resolveContradiction",
      (engine, ids) => engine.resolveContradiction(...ids),
      [
        "CONTRADICTION_NOTED",
        "CONTRADICTION_RESOLVED",
        "EPISTEMIC_TRANSITION",
        "EPISTEMIC_TRANSITION",
      ],
      contest,
    ],
  ] as readonly (readonly [
    name: Repeatable["name"],
    call: Repeatable["call"],
    recorded: Repeatable["recorded"],
    prepare?: Repeatable["prepare"],
  ])[]
).map(([name, call, recorded, prepare]) => ({ name, call, recorded, prepare }));

async function memoriesOf(engine: MemoryEngine): Promise<Ids> {
  const { id } = await rememberConditional(engine);
  return [id, (await remember(engine, "the red kayak stays ashore")).id];
}

describe("twenty identical calls at once", () => {
  test.each(REPEATABLE)("of $name make one record and answer alike", async (change) => {
    const { engine, store, pack } = await engines.open();
    const { engine: neighbour } = await engines.open({ pack });
    const ids = await memoriesOf(engine);
    await change.prepare?.(engine, ids);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        change.call(index % 2 === 0 ? engine : neighbour, ids),
      ),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    const operations = [...(await logOf(store, ids[0])), ...(await logOf(store, ids[1]))];
    expect(operations.map(({ opType }) => opType).sort()).toEqual([...change.recorded]);
    expect((await edgesAmong(store, ...ids)).length).toBeLessThanOrEqual(1);
  });
});

/** Calls of which only one can be right. */
const CONFLICTS: readonly {
  readonly name: string;
  readonly prepare?: (engine: MemoryEngine, ids: Ids) => Promise<unknown>;
  readonly calls: (
    engine: MemoryEngine,
    ids: Ids,
    third: Uuid,
  ) => readonly (() => Promise<unknown>)[];
  readonly code: string;
}[] = [
  {
    name: "two promotions",
    calls: (engine, [id]) => [() => engine.promote(id), () => engine.promote(id)],
    code: "invalid_transition",
  },
  {
    name: "one request id for two memories",
    calls: (engine, [a, b]) => [
      () => engine.promote(a, { requestId: KEY }),
      () => engine.promote(b, { requestId: KEY }),
    ],
    code: "request_conflict",
  },
  {
    name: "one request id for two pieces of evidence",
    calls: (engine, [a, b]) => [
      async () => {
        const { evidenceRefs } = await reread(engine, a);
        return engine.reinforce(a, { requestId: KEY, evidenceId: evidenceRefs[0] });
      },
      async () => {
        const { evidenceRefs } = await reread(engine, b);
        return engine.reinforce(a, { requestId: KEY, evidenceId: evidenceRefs[0] });
      },
    ],
    code: "request_conflict",
  },
  {
    name: "two replacements of one memory",
    calls: (engine, [a, b], c) => [() => engine.supersede(a, b), () => engine.supersede(a, c)],
    code: "invalid_transition",
  },
  {
    name: "two memories that replace each other",
    calls: (engine, [a, b]) => [() => engine.supersede(a, b), () => engine.supersede(b, a)],
    code: "invalid_transition",
  },
  {
    name: "a contradiction in both orders",
    calls: (engine, [a, b]) => [() => engine.contradict(a, b), () => engine.contradict(b, a)],
    code: "invalid_transition",
  },
  {
    name: "contradictions with two memories",
    calls: (engine, [a, b], c) => [() => engine.contradict(a, b), () => engine.contradict(a, c)],
    code: "invalid_transition",
  },
  {
    name: "two resolutions",
    prepare: contest,
    calls: (engine, [a, b]) => [
      () => engine.resolveContradiction(a, b),
      () => engine.resolveContradiction(b, a),
    ],
    code: "invalid_transition",
  },
];

test.each(CONFLICTS)("of $name at once exactly one wins", async ({ prepare, calls, code }) => {
  const { engine } = await engines.open();
  const ids = await memoriesOf(engine);
  const { id: third } = await remember(engine, "a third one");
  await prepare?.(engine, ids);
  const outcomes = await Promise.all(
    calls(engine, ids, third).map((call) =>
      call().then(
        () => "won",
        async (error: unknown): Promise<string> => (await refusal(Promise.reject(error))).code,
      ),
    ),
  );
  expect(outcomes.sort()).toEqual([code, "won"].sort());
});

test("changes by engines whose clocks differ stand in the log in the order in which they were made", async () => {
  const { engine, store, pack } = await engines.open({ clock: testClock("2026-03-18T12:00:00Z") });
  const behind = await engines.open({ pack, clock: testClock("2026-03-18T11:00:00Z") });
  const [a, b] = await memoriesOf(engine);
  const steps: readonly ((one: MemoryEngine) => Promise<unknown>)[] = [
    (one) => one.promote(a),
    (one) => one.reinforce(a),
    (one) => one.evaluateCondition(a, { state: "true" }),
    (one) => one.contradict(a, b),
    (one) => one.reinforce(a),
    (one) => one.resolveContradiction(b, a),
    (one) => one.archive(a),
  ];
  const moments: string[] = [(await reread(engine, a)).updatedAt];
  for (const [index, step] of steps.entries()) {
    await step(index % 2 === 0 ? engine : behind.engine);
    moments.push((await reread(engine, a)).updatedAt);
  }
  expect(moments).toEqual([...new Set(moments)].sort());
  const log = (await logOf(store, a)).filter(({ payload }) => "record" in payload);
  expect(log.map(({ opType }) => opType)).toEqual([
    "LIFECYCLE_CHANGED",
    "REINFORCE",
    "EPISTEMIC_TRANSITION",
    "CONTRADICTION_NOTED",
    "REINFORCE",
    "LIFECYCLE_CHANGED",
  ]);
  const last = log.at(-1);
  expect(last && nodesOf({ after: recordOf(last)["after"] })).toEqual({
    after: await reread(engine, a),
  });
});

test("a refused call does not spoil the changes that are written with it", async () => {
  const { engine } = await engines.open();
  const ids = await memoriesOf(engine);
  const memories = await Promise.all(
    Array.from({ length: 10 }, (_, index) => remember(engine, `memory ${index}`)),
  );
  await Promise.allSettled([
    ...memories.map(({ id }) => engine.promote(id)),
    engine.supersede(ids[0], ids[0]),
    ...memories.map(({ id }) => engine.reinforce(id)),
  ]);
  for (const { id } of memories) {
    expect(await reread(engine, id)).toMatchObject({
      lifecycleState: "stable",
      reinforcementBoost: 0.15,
    });
  }
});
