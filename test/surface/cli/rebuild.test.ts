import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { FORMER, makeFormerPack, progressOf } from "../../fault/former-pack.ts";
import { createDesk, type Desk } from "./run-svc.ts";

// Each test starts processes that load the model.
setDefaultTimeout(240_000);

const MEMORIES = 40;
/** So many that their rebuild outlives some other commands. */
const MANY = 450;
const OWN = "BAAI/bge-small-en-v1.5";

let desk: Desk;
const at = (name: string): string => join(desk.folder, name);
beforeAll(async () => {
  desk = createDesk();
  await makeFormerPack(at("former.pack"), MEMORIES);
});
afterAll(() => desk.remove());

async function untilStaged(pack: string, wanted: number): Promise<void> {
  while (progressOf(at(pack)).staged < wanted) await Bun.sleep(10);
}

describe("a pack of another model", () => {
  test("is searched without vectors, and doctor says what to do", async () => {
    const search = await desk.run(["search", "former.pack", "who repaired something?"]);
    expect(search.stderr).toContain("VECTOR did not answer (embedding_mismatch)");
    const doctor = await desk.run(["doctor", "former.pack"]);
    expect(doctor.stdout).toMatch(/\[WARN\] embedding: .*svc rebuild .*former\.pack/);
  });

  test("is rebuilt while others search and store, and Ctrl-C says how to go on", async () => {
    await makeFormerPack(at("a.pack"), MANY);
    const rebuilding = desk.start(["rebuild", "a.pack", "--batch-size", "4"]);
    await untilStaged("a.pack", 8);
    const stored = await desk.run(["store", "a.pack", "The spare key lies under the pot"]);
    expect(stored.code).toBe(0);
    const found = await desk.run(["search", "a.pack", "spare key pot", "--format", "json"]);
    expect(JSON.parse(found.stdout).results[0].content).toBe("The spare key lies under the pot");
    expect(progressOf(at("a.pack")).models).toEqual({ [FORMER.model]: MANY });
    const second = await desk.run(["rebuild", "a.pack"]);
    rebuilding.kill("SIGINT");
    expect(await rebuilding.exited).toBe(130);
    expect(await new Response(rebuilding.stderr).text()).toBe(
      "Interrupted; what is done is kept. Continue with: svc rebuild a.pack\n",
    );
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toContain("another process is rebuilding these indexes");
    const kept = progressOf(at("a.pack")).staged;
    expect(kept).toBeGreaterThanOrEqual(8);

    const rest = await desk.run(["rebuild", "a.pack", "--format", "json"]);

    expect(rest).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(rest.stdout)).toEqual({
      nodes_indexed: MANY + 1,
      nodes_skipped: 0,
      total_active: MANY + 1,
      nodes_embedded: MANY + 1 - kept,
    });
    expect(progressOf(at("a.pack"))).toMatchObject({ staged: 0, models: { [OWN]: MANY + 1 } });
    const after = await desk.run(["search", "a.pack", "where is the spare key?"]);
    expect(after.stderr).toMatch(/^Why these: svc explain [0-9a-f-]{36} --db-path a\.pack\n$/);
    expect(after.stdout).toContain("The spare key lies under the pot");
    const doctor = JSON.parse((await desk.run(["doctor", "a.pack", "--format", "json"])).stdout);
    expect(doctor).toMatchObject({ ok: true, failures: 0, warnings: 0 });
    expect(readdirSync(desk.folder).filter((name) => name.startsWith("a.pack"))).toEqual([
      "a.pack",
    ]);
  });

  test("answers the same from two copies that were rebuilt apart", async () => {
    for (const name of ["b.pack", "c.pack"]) {
      copyFileSync(at("former.pack"), at(name));
      expect((await desk.run(["rebuild", name])).code).toBe(0);
    }
    const answer = async (pack: string): Promise<unknown> => {
      const engine = await desk.engine(pack);
      const query = "who borrowed or repaired something in Lisbon?";
      const { results, metadata } = await engine.retrieve({ query, userId: "_cli" });
      await engine.close();
      expect(metadata.backendFailures).toEqual({});
      return results;
    };
    expect(await answer("b.pack")).toEqual(await answer("c.pack"));
    const again = await desk.run(["rebuild", "b.pack"]);
    expect(again.stdout).toMatch(/^Nodes embedded +0$/m);
    expect(await answer("b.pack")).toEqual(await answer("c.pack"));
  });
});

test.each([
  { args: ["rebuild"], code: 1, says: "there is no pack yet" },
  { args: ["rebuild", "missing.pack"], code: 1, says: "no such pack" },
  { args: ["rebuild", "former.pack", "--batch-size", "0"], code: 2, says: "whole number from 1" },
])("$args is refused: $says", async ({ args, code, says }) => {
  const before = readdirSync(desk.folder);
  const outcome = await desk.run(args);
  expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code, stdout: "" });
  expect(outcome.stderr).toContain(says);
  expect(readdirSync(desk.folder)).toEqual(before);
});
