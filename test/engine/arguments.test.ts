/** What a program without types is told that leaves arguments out. */
import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import { useEngines } from "./engines.ts";

const { open } = useEngines();

/** Ends the engine, or needs a pack of another kind. */
const NOT_CALLED: ReadonlySet<string> = new Set(["close", "lock", "unlock"]);

type Ended = readonly [name: string, ended: unknown];

/** How each method ends that gets these arguments. */
async function endsWith(engine: MemoryEngine, args: readonly unknown[]): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  for (const [name, method] of Object.entries<unknown>(engine)) {
    if (typeof method !== "function" || NOT_CALLED.has(name)) continue;
    const call = async (): Promise<string> => {
      const answer: unknown = await method(...args);
      if (name === "iterNodes") await Array.fromAsync(answer as AsyncIterable<unknown>);
      return "answered";
    };
    ended.push([name, await call().catch((error: unknown) => error)]);
  }
  return ended;
}

/** Calls a method without an argument. */
async function without(engine: MemoryEngine, name: string): Promise<unknown> {
  const method: unknown = Reflect.get(engine, name);
  return typeof method === "function" ? await method() : undefined;
}

const isOwn = (ended: unknown): boolean =>
  ended === "answered" || (ended instanceof SvcError && ended.code !== "internal");

describe("a call", () => {
  test.each<[string, readonly unknown[]]>([
    ["no argument", []],
    ["null in place of every argument", [null, null, null]],
    ["a number in place of every argument", [7, 7, 7]],
    ["an id alone", ["01900000-0000-7000-8000-000000000001"]],
    ["a list in place of every argument", [[], [], []]],
  ])("with %s is answered or refused by a code, whatever the method", async (_what, args) => {
    const { engine } = await open();
    const wrong = (await endsWith(engine, args)).filter(([, ended]) => !isOwn(ended));
    expect(wrong.map(([name, ended]) => `${name}: ${ended}`)).toEqual([]);
  });

  test.each(["store", "retrieve", "ingest", "forget", "browse"] as const)(
    "of %s without an argument is told what is missing",
    async (name) => {
      const { engine } = await open();
      const ended: unknown = await without(engine, name).catch((error: unknown) => error);
      expect(ended).toMatchObject({
        code: "invalid_argument",
        name: "InvalidArgumentError",
        message: "input: must be an object",
        data: { field: "input" },
      });
    },
  );

  test("without an argument of an engine that was closed is told that", async () => {
    const { engine } = await open();
    await engine.close();
    const ended: unknown = await without(engine, "store").catch((error: unknown) => error);
    expect(ended).toMatchObject({ code: "engine_closed" });
  });
});
