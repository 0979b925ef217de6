/** Texts that are indexed again: the process is killed within a step, and between two steps while another one writes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ANALYSER } from "../../src/domain/stemmed-words.ts";
import { connect, makeFormer } from "../adapters/sqlite/former-texts.ts";
import { indexed } from "../adapters/sqlite/indexed.ts";
import { type Memory, put } from "../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "../contract/sqlite-pack.ts";
import { ANYTHING, contentsOf } from "../contract/store-vectors.ts";

const TEXTS = 350;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-renew-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MEMORIES: readonly Memory[] = Array.from({ length: TEXTS }, (_, second) => ({
  content:
    second % 2 === 0 ? `Die Häuser der Straße ${second} sind verkauft` : `House number ${second}`,
  sessionId: second % 3 === 0 ? "s" : undefined,
  second,
}));

const KINDS = [
  { kind: "of one file", packIn: filePack },
  { kind: "of several files", packIn: directoryPack },
  { kind: "that is encrypted", packIn: (place: string) => encrypted(filePack(place)) },
] as const;

async function former(packIn: (place: string) => SqlitePack, title: string): Promise<SqlitePack> {
  const pack = packIn(join(folder, title));
  const store = await openSqlitePack(pack);
  await put(store, ...MEMORIES);
  await store.close();
  makeFormer(pack);
  return pack;
}

function start(pack: SqlitePack, ...given: readonly string[]) {
  const worker = join(import.meta.dir, "renew-texts-worker.ts");
  return Bun.spawn([process.execPath, worker, JSON.stringify(pack), ...given], {
    ...{ stdout: "pipe", stderr: "inherit", stdin: "ignore" },
  });
}

/** Finishes what is left. @returns the steps that it took */
async function finish(pack: SqlitePack): Promise<number> {
  const store = await openSqlitePack(pack);
  let steps = 1;
  while (await store.renewTexts()) steps += 1;
  expect(await store.hasFormerTexts()).toBeFalse();
  await store.close();
  return steps;
}

function look(pack: SqlitePack) {
  const database = connect(pack);
  const { words, sizes } = indexed(database);
  const damage = database.query("PRAGMA integrity_check").values();
  const cursor = database
    .query("SELECT value FROM pack_settings WHERE name = 'analyser'")
    .values()[0]?.[0];
  database.close();
  return { words, sizes, damage, cursor };
}

describe.each(KINDS)("a pack $kind", ({ kind, packIn }) => {
  test("whose process is killed within a step is indexed as without the kill", async () => {
    const whole = await former(packIn, `whole ${kind}`);
    const source = `${folder}/source ${kind}`;
    cpSync(join(folder, `whole ${kind}`), source, { recursive: true });
    const child = start(whole, "kill", "0");
    const statements = Number(await new Response(child.stdout).text());
    await child.exited;
    await finish(whole);
    const expected = look(whole);
    expect(expected.cursor).toBe(`${ANALYSER} ${TEXTS}`);
    expect(statements).toBeGreaterThan(100);

    const killedAt = [1, 2, Math.floor(statements / 2), statements - 2, statements - 1, statements];
    for (const at of killedAt) {
      const title = `${kind} killed at ${at}`;
      cpSync(source, join(folder, title), { recursive: true });
      const pack = packIn(join(folder, title));
      const killed = start(pack, "kill", String(at));
      await killed.exited;
      expect({ at, signal: killed.signalCode }).toEqual({ at, signal: "SIGKILL" });
      expect(await finish(pack)).toBeGreaterThanOrEqual(kind === "of several files" ? 1 : 2);
      expect({ at, ...look(pack) }).toEqual({ at, ...expected });
    }
  }, 300_000);
});

test("a process that is killed while another one writes and searches loses nothing", async () => {
  const pack = await former(filePack, "beside");
  const child = start(pack, "steps");
  const reader = child.stdout.getReader();
  await reader.read();
  const other = await openSqlitePack(pack);
  for (let second = 1000; second < 1020; second += 1) {
    await put(other, { content: `Ein neues Haus ${second}`, second });
    expect(await other.searchText("House", ANYTHING, 5)).not.toEqual([]);
    if (second === 1003) child.kill("SIGKILL");
  }
  await child.exited;
  await other.close();
  await finish(pack);
  const store = await openSqlitePack(pack);
  const found = await contentsOf(store, await store.searchText("Häusern", ANYTHING, 1000), "ada");
  // Their neighbours are found too.
  expect(found.filter((content) => /H(?:aus|äuser) /.test(content))).toHaveLength(TEXTS / 2 + 20);
  await store.close();
}, 120_000);
