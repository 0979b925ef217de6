import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { filesOf } from "../../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { freshKey } from "../../../src/adapters/sqlite/copy/copy-pack.ts";
import { migrateDirectory } from "../../../src/adapters/sqlite/copy/migrate-directory.ts";
import { LIFECYCLE_STATES } from "../../../src/domain/enums.ts";
import { ERASED_HASH, erasedPayload } from "../../../src/domain/erasure.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { toPayload } from "../../../src/domain/search/turns.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { at, put, unit } from "../../contract/samples.ts";
import { filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { retire } from "../../contract/store-change.ts";
import { anErasure } from "../../contract/store-erasures.ts";
import { aReceipt } from "../../contract/store-receipts.ts";
import { connectionOf, exported, imported } from "./exported.ts";
import { bytesBelow, useFolders } from "./folder.ts";
import { BOTH_KINDS, cipherOf, compact, KINDS } from "./whole-packs.ts";

setDefaultTimeout(120_000);

const { folder, open } = useFolders();
const WORKER = resolve(import.meta.dir, "../../fault/maintenance-worker.ts");

/** Words that only what is forgotten has. */
const MARKS = ["marmalade", "quicksilver", "zebrafish"];

/** Memories of which some hold a mark, and turns around each. */
async function fill(store: Store): Promise<readonly MemoryNode[]> {
  const secrets: MemoryNode[] = [];
  for (let round = 0; round < 12; round += 1) {
    const mark = MARKS[round % MARKS.length] ?? "";
    const [, secret] = await put(
      store,
      ...[`turn ${round} about tea`, `the ${mark} opens vault ${round}`, `thanks ${round}`].map(
        (content, place) => ({
          ...{ content: `${content}. ${"and so on ".repeat(round * 3)}`, sessionId: "s" },
          ...{ second: round * 10 + place, vector: unit(round + 1, place + 1) },
        }),
      ),
    );
    if (secret !== undefined) secrets.push(secret);
  }
  const body = new TextEncoder().encode("where is the marmalade?");
  await store.saveReceipt(aReceipt({ body }));
  return secrets;
}

async function forgetAll(store: Store, secrets: readonly MemoryNode[]): Promise<string> {
  const erasure = anErasure(secrets);
  await store.erase(erasure);
  return erasure.forgetId;
}

/** The lines of an export between header and footer, its memories with the keys that an import gives: in their order. */
function records(text: string): readonly string[] {
  const lines = text.split("\n").slice(1, -2);
  const keys = lines.flatMap((line) => /^{"record":"node","key":(\d+)/.exec(line)?.[1] ?? []);
  return lines.map((line) =>
    line.replace(
      /^({"record":"node","key"|{.*?"node_key"):(\d+)/,
      (_, name, key) => `${name}:${keys.indexOf(key)}`,
    ),
  );
}

/** The marks in the unencrypted bytes of all files below a folder. */
function marksBelow(place: string): readonly string[] {
  const bytes = Object.keys(bytesBelow(place)).map((name) => readFileSync(join(place, name)));
  return MARKS.filter((mark) => bytes.some((file) => file.includes(mark)));
}

/** The vectors that only these memories have, as they are kept. */
async function vectorsOf(
  store: Store,
  nodes: readonly MemoryNode[],
): Promise<readonly Uint8Array[]> {
  const page = { userId: "ada", lifecycleStates: LIFECYCLE_STATES, limit: 100 };
  const all = (await store.scanNodes(page)).items.map(({ id }) => id);
  const kept = [...(await store.keptEntries("ada", all))].flatMap(([id, { vector }]) =>
    vector === undefined ? [] : [{ id, bytes: toPayload(vector) }],
  );
  const names = new Set(nodes.map(({ id }) => id));
  const others = new Set(kept.flatMap(({ id, bytes }) => (names.has(id) ? [] : [bytes.toHex()])));
  return kept.flatMap(({ id, bytes }) =>
    names.has(id) && !others.has(bytes.toHex()) ? [bytes] : [],
  );
}

async function expectForgotten(pack: SqlitePack, secrets: readonly MemoryNode[], forgetId: string) {
  const store = await open(pack);
  for (const { id, evidenceRefs } of secrets) {
    expect(await store.node(id, "ada")).toBeUndefined();
    const [event] = (await store.eventsById(evidenceRefs, "ada")).items;
    expect(event).toMatchObject({ content: "", contentHash: ERASED_HASH });
    expect(event?.metadata).toEqual({ erased: forgetId, erased_at: at(100) });
  }
  expect(await store.countNodes("ada")).toBe(24);
  expect(await store.countEvents("ada")).toBe(24);
  const scan = await store.scan([...MARKS, "about tea"], ALL_OWNERS);
  expect(scan?.pages?.found).toEqual([MARKS.length]);
  expect([...(scan?.held ?? [])]).toEqual([MARKS.length]);
  // Nothing brings it back under its id.
  await store.addNodes(secrets.map((node) => ({ node, vector: unit(1), at: at(300) })));
  expect(await store.countNodes("ada")).toBe(24);
  await store.close();
}

describe.each([...BOTH_KINDS])("forgetting in $name", ({ at: packIn }) => {
  test.each([
    ["", undefined],
    [" of a large pack, which a thread writes again,", 0],
  ])(
    "leaves no byte of it%s, in pages that are free either, and the next opening still finds none",
    async (_, threadFrom) => {
      const place = folder();
      const pack = packIn(place);
      const store = await open(pack, { threadFrom });
      const secrets = await fill(store);
      expect((await store.scan(MARKS, "ada"))?.pages?.found).toEqual([0, 1, 2]);
      // Retired ones keep a vector of their own.
      await retire(store, "archived", ...secrets.filter((_, index) => index % 2 === 0));
      const vectors = await vectorsOf(store, secrets);
      expect(vectors.length).toBeGreaterThan(3);
      const forgetId = await forgetAll(store, secrets);
      expect(await store.settleErasures(5000)).toBe(true);
      expect((await store.scan(MARKS, "ada"))?.pages?.found).toEqual([]);
      await store.close();

      expect(marksBelow(place)).toEqual([]);
      const files = Object.keys(bytesBelow(place)).map((name) => readFileSync(join(place, name)));
      expect(vectors.filter((bytes) => files.some((file) => file.includes(bytes)))).toEqual([]);
      await expectForgotten(pack, secrets, forgetId);
    },
  );

  test("is kept by export and import, and by compact", async () => {
    const place = folder();
    const pack = packIn(place);
    const store = await open(pack);
    const secrets = await fill(store);
    const forgetId = await forgetAll(store, secrets);
    await store.settleErasures(5000);
    await store.close();

    const text = exported(pack);
    for (const mark of MARKS) expect(text).not.toContain(mark);
    const copy = packIn(join(place, "copy"));
    await imported(copy, text);
    expect(records(exported(copy))).toEqual([...records(text)]);
    await expectForgotten(copy, secrets, forgetId);
    await compact(pack);
    await expectForgotten(pack, secrets, forgetId);
  });

  test("lets nobody fill what is empty, nor empty what nobody forgot", async () => {
    const pack = packIn(folder());
    const store = await open(pack);
    const secrets = await fill(store);
    const forgetId = await forgetAll(store, secrets);
    await store.close();
    const database = openDatabase({
      layout: pack.layout,
      mode: "read-write",
      ...connectionOf(pack),
    });
    const refused = (sql: string, ...values: string[]) =>
      expect(() => database.query(sql).run(...values)).toThrow(/immutable/);
    const erased = JSON.stringify({ erased: forgetId, erased_at: at(100) });
    refused("UPDATE events SET content = 'back' WHERE content = ''");
    refused("UPDATE events SET metadata = NULL WHERE content = ''");
    refused("UPDATE events SET content = '' WHERE content <> ''");
    refused(
      "UPDATE events SET content = '', content_hash = ?, metadata = ? WHERE content <> ''",
      ERASED_HASH,
      erased,
    );
    refused("DELETE FROM events");
    refused("UPDATE operations SET payload = '{}'");
    refused("UPDATE operations SET payload = ?", JSON.stringify({ erased: at(0) }));
    refused("UPDATE erasures SET actor = 'eve'");
    refused("DELETE FROM erasures");
    database.close();
  });
});

test("forgetting is kept by a directory pack that becomes one file", async () => {
  const place = folder();
  const directory = KINDS[2]?.at(join(place, "directory"));
  if (directory?.layout.kind !== "directory") throw new Error("no directory");
  const store = await open(directory);
  const secrets = await fill(store);
  const forgetId = await forgetAll(store, secrets);
  await store.settleErasures(5000);
  await store.close();
  const destination = join(place, "one.pack");
  await migrateDirectory({
    layout: directory.layout,
    cipher: cipherOf(directory),
    destination,
    destinationKey: freshKey(undefined),
    now: at(0),
  });
  await expectForgotten({ layout: { kind: "file", path: destination } }, secrets, forgetId);
});

test("while another process reads, the erasure is done and settled later", async () => {
  const place = folder();
  const pack = filePack(place);
  const store = await open(pack);
  const secrets = await fill(store);
  const reader = openDatabase({ layout: pack.layout, mode: "read-write", ...connectionOf(pack) });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM events").get();
  const forgetId = await forgetAll(store, secrets);
  expect(await store.settleErasures(300)).toBe(false);
  expect(await store.hasUnsettledErasures()).toBe(true);
  // Nothing of it is found meanwhile, and others write.
  expect(await store.countNodes("ada")).toBe(24);
  reader.run("ROLLBACK");
  reader.close();
  expect(await store.settleErasures(5000)).toBe(true);
  await store.close();
  expect(marksBelow(place)).toEqual([]);
  await expectForgotten(pack, secrets, forgetId);
});

test("other work runs between the pages and the rows that are looked at", async () => {
  const store = await open(filePack(folder()));
  await fill(store);
  let turns = 0;
  let isDone = false;
  const work = (): void => {
    turns += 1;
    if (!isDone) setImmediate(work);
  };
  setImmediate(work);
  const scan = await store.scan(MARKS, "ada");
  isDone = true;
  expect(scan?.pages?.found).toEqual([0, 1, 2]);
  // At most 64 KiB at once, and 72 rows of events and memories.
  expect(turns).toBeGreaterThan((scan?.pages?.bytes ?? 0) / 2 ** 16);
  expect(turns).toBeLessThan(1000);
});

test("settles while another process has the pack open", async () => {
  const place = folder();
  const pack = filePack(place);
  const store = await open(pack);
  const secrets = await fill(store);
  const child = Bun.spawn([process.execPath, WORKER, "hold", JSON.stringify(pack)], {
    ...{ stdin: "pipe", stdout: "pipe" },
  });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("ready\n");
  const forgetId = await forgetAll(store, secrets);
  expect(await store.settleErasures(5000)).toBe(true);
  await store.close();
  child.kill("SIGKILL");
  await child.exited;
  expect(marksBelow(place)).toEqual([]);
  await expectForgotten(pack, secrets, forgetId);
  expect(filesOf(pack.layout)).toHaveLength(1);
});

test("the payload of an operation that was erased has a checksum of its own", () => {
  const { erased, record, sha256 } = erasedPayload(anErasure([]).forgetId);
  expect(record).toBe(JSON.stringify({ erased }));
  expect(sha256).toHaveLength(64);
});
