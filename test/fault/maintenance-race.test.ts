import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { SvcError } from "../../src/domain/errors.ts";
import { compact, makePack } from "../adapters/sqlite/whole-packs.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "../contract/sqlite-pack.ts";
import { DISK } from "./disk-folder.ts";

/** Milliseconds for which a pack is compacted over and over; longer until it was, and until something was stored. */
const PERIOD_MS = Number(process.env["SVC_FAULT_PERIOD_MS"] ?? 1_000);
const WORKER = resolve(import.meta.dir, "maintenance-worker.ts");
const VISITORS = ["anna", "bob"] as const;

/** Milliseconds after which it is no longer waited for. */
const LIMIT_MS = 60_000;

setDefaultTimeout(60_000 + LIMIT_MS + PERIOD_MS * 4);

const folder = mkdtempSync(join(DISK, "svc-race-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process that opens the pack, stores, closes it and begins again. */
function visitor(pack: SqlitePack, owner: string) {
  const child = Bun.spawn([process.execPath, WORKER, "visit", JSON.stringify(pack), owner], {
    stdout: "pipe",
  });
  let output = "";
  const ended = (async () => {
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) output += piece;
  })();
  return {
    hasStored: () => output.includes("\n"),
    end: async (): Promise<readonly string[]> => {
      child.kill("SIGKILL");
      await child.exited;
      // The last line may have been cut off; then nobody was told.
      await ended;
      return output.split("\n").slice(0, -1);
    },
  };
}

test.each([
  { name: "a file", at: filePack },
  { name: "an encrypted file", at: (place: string) => encrypted(filePack(place)) },
  { name: "a directory", at: directoryPack },
])("those who open $name while it is compacted lose nothing", async ({ name, at }) => {
  const place = join(folder, name);
  const pack = at(place);
  await makePack(pack, 20);
  const visitors = VISITORS.map((owner) => visitor(pack, owner));
  const begun = performance.now();
  const outcomes = { done: 0, refused: 0 };
  const isOver = (): boolean => {
    const ms = performance.now() - begun;
    if (ms < PERIOD_MS) return false;
    return ms > LIMIT_MS || (outcomes.done > 0 && visitors.some(({ hasStored }) => hasStored()));
  };
  while (!isOver()) {
    try {
      await compact(pack);
      outcomes.done += 1;
    } catch (error) {
      expect(error).toBeInstanceOf(SvcError);
      expect(error).toMatchObject({ code: "pack_in_use" });
      outcomes.refused += 1;
    }
    await Bun.sleep(20 * Math.random());
  }
  const acknowledged = await Promise.all(visitors.map(({ end }) => end()));
  const store = await openSqlitePack(pack);
  for (const [i, userId] of VISITORS.entries()) {
    const events = await store.events({ userId, limit: 100_000, offset: 0 });
    const known = new Set<string>(events.map(({ id }) => id));
    expect((acknowledged[i] ?? []).filter((id) => !known.has(id))).toEqual([]);
  }
  await store.close();
  const texts = acknowledged.flat().length;
  console.log(`${name}: ${outcomes.done} compacted, ${outcomes.refused} refused, ${texts} stored`);
  expect(outcomes.done).toBeGreaterThan(0);
  expect(texts).toBeGreaterThan(0);
  expect(readdirSync(place).filter((entry) => entry.startsWith("."))).toEqual([]);
});
