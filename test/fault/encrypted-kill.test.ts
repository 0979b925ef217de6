/**
 * Kills processes that write to an encrypted pack, over and over.
 * The suite runs 3 rounds in each journal mode. A longer run:
 *   SVC_FAULT_ROUNDS=100 bun test test/fault/encrypted-kill.test.ts
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  codeOfFailure,
  contents,
  createPack,
  filesBelow,
  fill,
  integrity,
  KEY,
  leaks,
  openPack,
  useFolders,
} from "../adapters/crypt/packs.ts";

const ROUNDS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 3);
const WRITER = join(import.meta.dir, "encrypted-writer.ts");
const LONGEST_MS = 400;
const START_LIMIT_MS = 30_000;

const folder = useFolders();

function makePack(place: string): string {
  const path = join(place, "memory.pack");
  const database = createPack(path);
  database.run("CREATE TABLE commits (n INTEGER PRIMARY KEY)");
  database.close();
  return path;
}

/** Starts writers, kills them some time after the first commit, and gives the numbers that each acknowledged. */
async function life(path: string, mode: string, writers: number): Promise<number[][]> {
  const children = Array.from({ length: writers }, () =>
    Bun.spawn([process.execPath, WRITER, path, mode], { stdout: "pipe", stderr: "pipe" }),
  );
  const outputs = children.map((child) => collect(child.stdout));
  const started = performance.now();
  while (
    outputs.every((output) => output.text === "") &&
    performance.now() - started < START_LIMIT_MS
  ) {
    await Bun.sleep(2);
  }
  await Bun.sleep(Math.random() * LONGEST_MS);
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map((child) => child.exited));
  for (const child of children) expect(await new Response(child.stderr).text()).toBe("");
  await Promise.all(outputs.map((output) => output.ended));
  // A number without its line end was cut by the kill; its commit may be there all the same.
  return outputs.map(({ text }) => text.split("\n").slice(0, -1).map(Number));
}

function collect(stream: ReadableStream<Uint8Array>): { text: string; ended: Promise<void> } {
  const output = { text: "", ended: Promise.resolve() };
  output.ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) output.text += decoder.decode(chunk, { stream: true });
  })();
  return output;
}

/** Writes once: readers leave a journal that was cut off before its first header, which holds nothing, to the next write. */
function writeOnce(path: string): void {
  const database = openPack(path);
  database.run("UPDATE commits SET n = n");
  database.close();
}

/** Compares a pack with what was acknowledged. */
function verify(path: string, acknowledged: ReadonlySet<number>): void {
  const database = openPack(path);
  try {
    expect(integrity(database)).toEqual(["ok"]);
    const kept = database.query<{ n: number }, []>("SELECT n FROM commits").all();
    const numbers = new Set(kept.map(({ n }) => n));
    expect([...acknowledged].filter((n) => !numbers.has(n))).toEqual([]);
    const counts = database
      .query(
        `SELECT (SELECT count(*) FROM notes) AS notes, (SELECT count(*) FROM words) AS words,
           (SELECT count(*) FROM points) AS points`,
      )
      .get();
    // SAFETY: the statement has one row of three numbers.
    const { notes, words, points } = counts as { notes: number; words: number; points: number };
    expect([words, points]).toEqual([notes, notes]);
  } finally {
    database.close();
  }
}

test.each(["WAL", "DELETE"])(
  `nothing acknowledged is lost and nothing shows over ${ROUNDS} kills in journal mode %s`,
  async (mode) => {
    const place = folder();
    const path = makePack(place);
    const acknowledged = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const [numbers = []] = await life(path, mode, 1);
      for (const n of numbers) acknowledged.add(n);
      expect(leaks(place)).toEqual([]);
      verify(path, acknowledged);
    }
    expect(acknowledged.size).toBeGreaterThan(ROUNDS);
    writeOnce(path);
    verify(path, acknowledged);
    expect(filesBelow(place)).toEqual(["memory.pack"]);
  },
  60_000 + ROUNDS * 30_000,
);

test("two processes write to one pack, and nothing acknowledged is lost when both are killed", async () => {
  const place = folder();
  const path = makePack(place);
  const acknowledged = new Set<number>();
  for (let round = 0; round < 2; round += 1) {
    for (const numbers of await life(path, "WAL", 2)) {
      for (const n of numbers) {
        expect(acknowledged.has(n)).toBe(false);
        acknowledged.add(n);
      }
    }
    verify(path, acknowledged);
  }
  expect(leaks(place)).toEqual([]);
});

test("a connection waits for another one's write lock, across processes too", () => {
  const path = makePack(folder());
  const one = openPack(path);
  const two = openPack(path, { busyTimeoutMs: 0 });
  one.run("BEGIN IMMEDIATE");
  expect(codeOfFailure(() => two.run("BEGIN IMMEDIATE"))).toBe("SQLITE_BUSY");
  one.run("COMMIT");
  two.run("BEGIN IMMEDIATE");
  two.run("COMMIT");
  one.close();
  two.close();
});

test("three Workers write to one pack at once", async () => {
  const path = makePack(folder());
  const workers = Array.from(
    { length: 3 },
    () => new Worker(join(import.meta.dir, "encrypted-worker.ts")),
  );
  const main = openPack(path);
  fill(main, 50);
  await Promise.all(
    workers.map(
      (worker) =>
        new Promise<void>((resolve, reject) => {
          worker.onmessage = () => resolve();
          worker.onerror = (event) => reject(new Error(event.message));
          worker.postMessage({ path, key: KEY });
        }),
    ),
  );
  for (const worker of workers) worker.terminate();
  expect(contents(main).rows).toBe(80);
  expect(integrity(main)).toEqual(["ok"]);
  main.close();
});
