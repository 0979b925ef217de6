import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { loadConfig } from "../../src/config/load.ts";
import { diagnose } from "../../src/doctor/diagnose.ts";
import { EngineClosedError, SvcError } from "../../src/domain/errors.ts";
import { reportOnPack } from "../../src/packs/inspect-pack.ts";
import { compactPack } from "../../src/packs/maintenance.ts";

let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "svc-engine-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const at = (...parts: string[]): string => join(place, ...parts);

function configOf(path: string) {
  return loadConfig({ environment: {}, folder: place, explicit: { pack_path: path } }).config;
}

async function makePack(path: string): Promise<void> {
  const engine = await MemoryEngine.create({ pack_path: path });
  await engine.ingestFast({ content: "Anna prefers tea", userId: "anna" });
  await engine.close();
}

/** The program from its source. */

test("makes a pack in folders that do not exist yet, and finds it again", async () => {
  const path = at("a", "b", "memory.pack");
  await makePack(path);
  const engine = await MemoryEngine.create({ pack_path: path });
  expect((await engine.stats("anna")).eventCount).toBe(1);
  expect((await engine.stats("tom")).eventCount).toBe(0);
  await engine.close();
  expect(readdirSync(at("a", "b"))).toEqual(["memory.pack"]);
});

test("a new pack has adaptive fusion unless the settings name another, copies of it included", async () => {
  const path = at("memory.pack");
  await makePack(path);
  const formula = async (scoring = {}) => {
    const engine = await MemoryEngine.create({ pack_path: path, scoring });
    // The work that begins at the opening may hold the event already.
    while ((await engine.processPending({ userId: "anna" })).pending > 0);
    const { results } = await engine.retrieve({ userId: "anna", query: "What does Anna prefer?" });
    await engine.close();
    return results[0]?.provenance.formulaVersion;
  };
  expect(await formula()).toBe(4);
  expect(await formula({ fusion: "rrf" })).toBe(2);
  await compactPack(configOf(path));
  expect(await formula()).toBe(4);
});

test("makes a directory pack of three parts", async () => {
  const engine = await MemoryEngine.create({
    pack_path: "",
    db_path: at("m", "memory.db"),
    vector_path: at("m", "vectors.index"),
    lexical_path: at("m", "lexical_index"),
  });
  await engine.close();
  expect(readdirSync(at("m")).sort()).toEqual(["lexical_index", "memory.db", "vectors.index"]);
});

test("refuses a wrong setting before anything is made", async () => {
  const opening = MemoryEngine.create({ pack_path: at("x.pack"), write_queue_size: -1 });
  const error = await opening.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SvcError);
  expect(existsSync(at("x.pack"))).toBeFalse();
});

test("reports on a pack without changing its folder, even when nobody may write it", async () => {
  await makePack(at("memory.pack"));
  copyFileSync(at("memory.pack"), at("locked.pack"));
  chmodSync(at("locked.pack"), 0o444);
  const before = await Bun.file(at("locked.pack")).bytes();
  for (const name of ["memory.pack", "locked.pack"]) {
    const report = await reportOnPack(configOf(at(name)), true);
    expect(report.eventCount).toBe(1);
    expect(report.pendingJobs + report.nodeCount).toBe(1);
    expect(report.damage).toEqual([]);
  }
  expect(readdirSync(place).sort()).toEqual(["locked.pack", "memory.pack"]);
  expect(await Bun.file(at("locked.pack")).bytes()).toEqual(before);
});

test("reports on a pack that is open", async () => {
  const engine = await MemoryEngine.create({ pack_path: at("memory.pack") });
  await engine.ingestFast({ content: "one", userId: "anna" });
  expect((await reportOnPack(configOf(at("memory.pack")), false)).eventCount).toBe(1);
  await engine.ingestFast({ content: "two", userId: "anna" });
  expect((await engine.stats("anna")).eventCount).toBe(2);
  await engine.close();
});

test("finds a sound pack sound, and says what is wrong with others", async () => {
  await makePack(at("memory.pack"));
  const sound = await diagnose(configOf(at("memory.pack")), true, {});
  expect(sound.filter(({ status }) => status === "fail")).toEqual([]);
  expect(sound.find(({ name }) => name === "integrity")?.status).toBe("ok");

  writeFileSync(at("notes.pack"), "hello");
  const bytes = await Bun.file(at("memory.pack")).bytes();
  writeFileSync(at("damaged.pack"), bytes.fill(0xaa, 8192 * 3, 8192 * 9));
  for (const [name, says] of [
    ["notes.pack", "is not a pack"],
    ["damaged.pack", "copy"],
    ["missing.pack", "svc init"],
  ] as const) {
    const failures = (await diagnose(configOf(at(name)), true, {})).filter(
      ({ status }) => status === "fail",
    );
    expect(failures).toHaveLength(1);
    expect(failures[0]?.message).toContain(says);
  }
  expect(existsSync(at("missing.pack"))).toBeFalse();
  const optional = await diagnose(configOf(at("missing.pack")), false, {});
  expect(optional.map(({ status }) => status)).toEqual(["warn", "ok", "ok", "ok"]);
});

test("fails every call at once after it was closed, whatever it is given", async () => {
  const engine = await MemoryEngine.create({ pack_path: at("memory.pack") });
  await engine.close();
  const methods = Object.entries(engine).filter(([name]) => name !== "close");
  expect(methods.length).toBeGreaterThan(35);
  for (const [name, method] of methods) {
    const call: (...args: readonly unknown[]) => unknown = method;
    const attempt = async (): Promise<unknown> => {
      const result = call();
      const isWalk =
        typeof result === "object" && result !== null && Symbol.asyncIterator in result;
      return isWalk ? await Array.fromAsync(result as AsyncIterable<unknown>) : await result;
    };
    const error = await attempt().catch((thrown: unknown) => thrown);
    expect({ name, isClosed: error instanceof EngineClosedError }).toEqual({
      name,
      isClosed: true,
    });
  }
  expect(await engine.close()).toBeUndefined();
});

test("is closed at the end of the block that opened it, after what is under way", async () => {
  let kept: MemoryEngine;
  let storing: Promise<string>;
  {
    await using engine = await MemoryEngine.create({ pack_path: at("memory.pack") });
    kept = engine;
    storing = engine.ingestFast({ content: "one", userId: "anna" });
  }
  expect(await storing).toHaveLength(36);
  expect(await kept.stats().catch((thrown: unknown) => thrown)).toBeInstanceOf(EngineClosedError);
  expect(readdirSync(place)).toEqual(["memory.pack"]);
});
