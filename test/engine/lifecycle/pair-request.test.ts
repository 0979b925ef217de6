import { describe, expect, test } from "bun:test";
import type { ClaimsOptions } from "../../../src/engine/lifecycle/api.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { expectInvalid, testClock, useEngines } from "../engines.ts";
import { KEY, logOf, NOBODY, OTHER_KEY, refusal, remember, reread, tell } from "./memories.ts";

const engines = useEngines();

type Call = (
  engine: MemoryEngine,
  ids: readonly [string, string],
  options: ClaimsOptions,
) => Promise<unknown>;

const CALLS: readonly {
  readonly name: string;
  /** What the two memories are called. */
  readonly fields: readonly [string, string];
  readonly call: Call;
}[] = [
  {
    name: "supersede",
    fields: ["old_node_id", "new_node_id"],
    call: (engine, ids, options) => engine.supersede(...ids, options),
  },
  {
    name: "contradict",
    fields: ["node_a_id", "node_b_id"],
    call: (engine, ids, options) => engine.contradict(...ids, options),
  },
  {
    name: "resolveContradiction",
    fields: ["winner_id", "loser_id"],
    call: (engine, ids, options) => engine.resolveContradiction(...ids, options),
  },
];

async function prepared(name: string) {
  const opened = await engines.open({ clock: testClock() });
  const { engine } = opened;
  const [first, second] = [await remember(engine, "tea"), await remember(engine, "coffee")];
  if (name === "resolveContradiction") await engine.contradict(first.id, second.id);
  return { ...opened, ids: [first.id, second.id] as const };
}

describe.each(CALLS)("a request id of $name", ({ name, call }) => {
  test("makes a retry return both memories as they are now, whatever happened since", async () => {
    const { engine, store, ids } = await prepared(name);
    await call(engine, ids, { requestId: KEY });
    await engine.archive(ids[name === "resolveContradiction" ? 0 : 1]);
    const logged = await Promise.all(ids.map((id) => logOf(store, id)));

    const again = await call(engine, ids, { requestId: KEY });

    expect(again).toEqual(await Promise.all(ids.map((id) => reread(engine, id))));
    expect(await Promise.all(ids.map((id) => logOf(store, id)))).toEqual(logged);
  });

  test("is refused for another pair, another actor, other evidence and another change", async () => {
    const { engine, ids } = await prepared(name);
    await call(engine, ids, { requestId: KEY });
    const other = await remember(engine, "water");
    const evidenceId = await tell(engine);
    const others: (() => Promise<unknown>)[] = [
      () => call(engine, [ids[0], other.id], { requestId: KEY }),
      () => call(engine, [ids[1], ids[0]], { requestId: KEY }),
      () => call(engine, ids, { requestId: KEY, actorId: "somebody" }),
      () => call(engine, ids, { requestId: KEY, evidenceId }),
      ...CALLS.filter((known) => known.name !== name).map(
        (known) => () => known.call(engine, ids, { requestId: KEY }),
      ),
    ];

    for (const attempt of others) {
      expect(await refusal(attempt())).toMatchObject({
        code: "request_conflict",
        data: { request_id: KEY },
      });
    }
  });

  test("is kept after a call that another one had forestalled", async () => {
    const { engine, ids } = await prepared(name);
    await call(engine, ids, {});
    await call(engine, ids, { requestId: OTHER_KEY });
    await engine.archive(ids[name === "resolveContradiction" ? 0 : 1]);

    expect(await call(engine, ids, { requestId: OTHER_KEY })).toEqual(
      await Promise.all(ids.map((id) => reread(engine, id))),
    );
  });
});

describe.each(CALLS)("what $name refuses", ({ name, fields: [first, second], call }) => {
  test("is looked at in order: first memory, second memory, both the same", async () => {
    const { engine, ids } = await prepared(name);
    const missing = { kind: "node", id: NOBODY };
    const other = "00000000-0000-4000-8000-00000000beef";
    expect((await refusal(call(engine, [NOBODY, other], {}))).data).toEqual(missing);
    expect((await refusal(call(engine, [ids[0], NOBODY], {}))).data).toEqual(missing);
    expect((await refusal(call(engine, [NOBODY, NOBODY], {}))).data).toEqual(missing);
    expect(await refusal(call(engine, [ids[0], ids[0].toUpperCase()], {}))).toEqual({
      code: "invalid_argument",
      data: { field: second },
      message: `${second}: names the same memory as ${first}`,
    });
  });

  test("is another owner, another scope, evidence of either, and what breaks a rule", async () => {
    const { engine, ids } = await prepared(name);
    const before = await Promise.all(ids.map((id) => reread(engine, id)));
    const bobs = await remember(engine, "coffee", { userId: "bob" });
    const project = await remember(engine, "coffee", { scope: "project" });
    for (const { id } of [bobs, project]) {
      await expectInvalid(call(engine, [ids[0], id], {}), { field: second });
    }
    for (const evidenceId of [
      NOBODY,
      await tell(engine, { userId: "bob" }),
      await tell(engine, { scope: "project" }),
      "z",
    ]) {
      await expectInvalid(call(engine, ids, { evidenceId }), { field: "evidence_id" });
    }
    await expectInvalid(call(engine, ["x", "y"], {}), { field: first });
    await expectInvalid(call(engine, ids, { actorId: "" }), { field: "actor_id" });
    expect(await Promise.all(ids.map((id) => reread(engine, id)))).toEqual(before);
  });
});
