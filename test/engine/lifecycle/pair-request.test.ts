import { describe, expect, test } from "bun:test";
import type { ClaimsOptions } from "../../../src/engine/lifecycle/api.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { testClock, useEngines } from "../engines.ts";
import { KEY, logOf, OTHER_KEY, refusal, remember, reread, tell } from "./memories.ts";

const engines = useEngines();

type Call = (
  engine: MemoryEngine,
  ids: readonly [string, string],
  options: ClaimsOptions,
) => Promise<unknown>;

const CALLS: readonly { readonly name: string; readonly call: Call }[] = [
  { name: "supersede", call: (engine, ids, options) => engine.supersede(...ids, options) },
  { name: "contradict", call: (engine, ids, options) => engine.contradict(...ids, options) },
  {
    name: "resolveContradiction",
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

  test("of another owner is another one", async () => {
    const { engine, ids } = await prepared(name);
    await call(engine, ids, { requestId: KEY });
    const theirs = [
      await remember(engine, "tea", { userId: "bob" }),
      await remember(engine, "coffee", { userId: "bob" }),
    ] as const;
    if (name === "resolveContradiction") await engine.contradict(theirs[0].id, theirs[1].id);

    await call(engine, [theirs[0].id, theirs[1].id], { requestId: KEY, userId: "bob" });

    expect((await reread(engine, theirs[0].id)).lifecycleState).not.toBe("tentative");
  });
});
