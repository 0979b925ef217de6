/** Many packs under names: who holds them, and what cannot be exchanged unnoticed. */

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { MemoryWorkspace, type WorkspaceOptions } from "../../src/app/workspace/workspace.ts";

// The model is loaded by the first text of each workspace.
setDefaultTimeout(60_000);

let folder: string;
const opened: MemoryWorkspace[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-workspace-"));
});
afterEach(async () => {
  for (const workspace of opened.splice(0)) await workspace.close().catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
});

async function open(options: WorkspaceOptions = {}): Promise<MemoryWorkspace> {
  const workspace = await MemoryWorkspace.open(folder, { singleFilePacks: true, ...options });
  opened.push(workspace);
  return workspace;
}

const packOf = (id: string) => join(folder, "packs", id, "memory.pack");

describe("namespaces", () => {
  test("keep apart what is stored under one owner, and are listed by name", async () => {
    const workspace = await open();
    await using work = await workspace.namespace("work");
    await using home = await workspace.namespace("home/garden");
    await work.store({ content: "The release is on Friday", userId: "anna" });
    await home.store({ content: "The roses need water", userId: "anna" });

    const found = await home.retrieve({ query: "release Friday", userId: "anna" });

    expect(found.results.map(({ node }) => node.content)).toEqual(["The roses need water"]);
    expect(await workspace.listNamespaces()).toEqual([home.namespace, work.namespace]);
    expect(existsSync(packOf(work.namespace.id))).toBeTrue();
  });

  test("are found again by another workspace of the folder, once the first is closed", async () => {
    const first = await open();
    const { namespace, store, release } = await first.namespace("work");
    await store({ content: "The release is on Friday", userId: "anna" });
    await release();
    await first.close();

    await using again = await (await open()).namespace("work", { create: false });

    expect(again.namespace).toEqual(namespace);
    expect((await again.stats()).nodeCount).toBe(1);
  });

  test("are not made unless they may be", async () => {
    const workspace = await open();
    await expect(workspace.namespace("work", { create: false })).rejects.toMatchObject({
      code: "not_found",
      data: { kind: "namespace", id: "work" },
    });
    expect(await workspace.listNamespaces()).toEqual([]);
  });

  test.each(["", " work", "work\n", "a\u0000b", "\ud800", "n".repeat(513)])(
    "have no name like %j",
    async (name) => {
      const workspace = await open();
      await expect(workspace.namespace(name)).rejects.toMatchObject({
        code: "invalid_argument",
        field: "name",
      });
    },
  );

  test("have folders with their files unless single files are chosen", async () => {
    const workspace = await open({ singleFilePacks: false });
    await using work = await workspace.namespace("work");
    await work.ingestFast({ content: "tea", userId: "anna" });
    expect(existsSync(join(folder, "packs", work.namespace.id, "memory.db"))).toBeTrue();
  });
});

describe("a lease", () => {
  test("of a namespace that is held shares its pack, and ends alone", async () => {
    const workspace = await open();
    const first = await workspace.namespace("work");
    await using second = await workspace.namespace("work");
    await first.ingestFast({ content: "tea", userId: "anna" });
    const { stats } = first;
    await first.release();
    await expect(stats()).rejects.toMatchObject({ code: "workspace_closed" });
    expect((await second.stats()).eventCount).toBe(1);
  });

  test("offers nothing that would end the engine for others", async () => {
    await using lease = await (await open()).namespace("work");
    for (const name of ["close", "lock", "unlock"]) expect(name in lease).toBeFalse();
  });

  test("is released once its calls and walks have ended", async () => {
    const lease = await (await open()).namespace("work");
    for (const content of ["tea", "milk"]) await lease.store({ content, userId: "anna" });
    const walk = lease.iterNodes({ userId: "anna" })[Symbol.asyncIterator]();
    await walk.next();
    let isReleased = false;
    const released = lease.release().then(() => {
      isReleased = true;
    });
    await Bun.sleep(20);
    expect(isReleased).toBeFalse();
    await walk.return?.();
    await released;
  });
});

describe("open packs", () => {
  test("are as many as may be: the one released longest ago makes room", async () => {
    const workspace = await open({ maxOpen: 2 });
    const [a, b] = [await workspace.namespace("a"), await workspace.namespace("b")];
    await b.release();
    await a.release();
    const c = await workspace.namespace("c");
    // A pack that is open has a log beside it.
    const isOpen = ({ namespace }: typeof a) => existsSync(`${packOf(namespace.id)}-wal`);
    expect([a, b, c].map(isOpen)).toEqual([true, false, true]);
    await c.release();
  });

  test("that are all in use make others wait until one is released", async () => {
    const workspace = await open({ maxOpen: 1 });
    const a = await workspace.namespace("a");
    let isGiven = false;
    const waiting = workspace.namespace("b").then((lease) => {
      isGiven = true;
      return lease;
    });
    await Bun.sleep(20);
    expect(isGiven).toBeFalse();
    await a.release();
    await (await waiting).release();
  });

  test("are closed with the workspace, once all are released; nothing works afterwards", async () => {
    const workspace = await open();
    const lease = await workspace.namespace("work");
    const closed = workspace.close();
    await expect(workspace.namespace("work")).rejects.toMatchObject({ code: "workspace_closed" });
    await lease.ingestFast({ content: "tea", userId: "anna" });
    await lease.release();
    await closed;
    await expect(workspace.listNamespaces()).rejects.toMatchObject({ code: "workspace_closed" });
    expect(existsSync(`${packOf(lease.namespace.id)}-wal`)).toBeFalse();
  });

  test("are no longer given to who waits for one when the workspace closes", async () => {
    const workspace = await open({ maxOpen: 1 });
    const a = await workspace.namespace("a");
    const waiting = workspace.namespace("b").catch((error: unknown) => error);
    await Bun.sleep(20);
    const closed = workspace.close();
    await a.release();
    expect(await waiting).toMatchObject({ code: "workspace_closed" });
    await closed;
    expect(existsSync(packOf(a.namespace.id))).toBeTrue();
  });

  test.each([0, -1, 1.5, Number.NaN])("cannot be %p", async (maxOpen) => {
    await expect(open({ maxOpen })).rejects.toMatchObject({
      code: "invalid_argument",
      field: "maxOpen",
    });
  });
});

describe("a folder", () => {
  test("is held by one workspace", async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({ code: "workspace_in_use" });
    await first.close();
    await open();
  });

  test("whose packs were exchanged is noticed", async () => {
    const first = await open();
    const [a, b] = [await first.namespace("a"), await first.namespace("b")];
    await a.release();
    await b.release();
    await first.close();
    const [one, other] = [packOf(a.namespace.id), packOf(b.namespace.id)];
    renameSync(one, `${one}.kept`);
    renameSync(other, one);
    renameSync(`${one}.kept`, other);

    await expect((await open()).namespace("a")).rejects.toMatchObject({
      code: "namespace_mismatch",
      data: { path: one, expected: a.namespace.id, found: b.namespace.id },
    });
  });

  test("whose pack is gone is noticed, and no new one takes its place", async () => {
    const first = await open();
    const { namespace, release } = await first.namespace("a");
    await release();
    await first.close();
    unlinkSync(packOf(namespace.id));

    await expect((await open()).namespace("a")).rejects.toMatchObject({
      code: "workspace_damaged",
    });
    expect(existsSync(packOf(namespace.id))).toBeFalse();
  });

  test("is refused with the other layout than before", async () => {
    const first = await open();
    await (await first.namespace("a")).release();
    await first.close();
    const other = await open({ singleFilePacks: false });
    await expect(other.namespace("a")).rejects.toMatchObject({ code: "workspace_damaged" });
  });

  test.each(["workspace.sqlite3", "packs"])(
    "with a link in place of %s is refused",
    async (name) => {
      const elsewhere = mkdtempSync(join(tmpdir(), "svc-elsewhere-"));
      symlinkSync(elsewhere, join(folder, name));
      try {
        const attempt = async () => await (await open()).namespace("a");
        await expect(attempt()).rejects.toMatchObject({ code: "workspace_damaged" });
      } finally {
        rmSync(elsewhere, { recursive: true });
      }
    },
  );

  test("with another file in place of the registry is refused", async () => {
    await Bun.write(join(folder, "workspace.sqlite3"), "no database ".repeat(100));
    await expect(open()).rejects.toMatchObject({ code: "workspace_damaged" });
  });

  test("whose registry names something else than an id is refused, and nothing is made there", async () => {
    await (await open()).close();
    const registry = new Database(join(folder, "workspace.sqlite3"));
    registry.run("INSERT INTO namespaces VALUES ('a', '../../elsewhere', 0)");
    registry.close();
    const workspace = await open();
    for (const call of [workspace.namespace("a"), workspace.listNamespaces()]) {
      await expect(call).rejects.toMatchObject({ code: "workspace_damaged" });
    }
    expect(existsSync(join(folder, "packs"))).toBeFalse();
  });

  test("has settings for all its packs, which name none of them", async () => {
    for (const config of [{ pack_path: "x.pack" }, { database_url: "postgres://x/y" }]) {
      await expect(open({ config })).rejects.toThrow(/pack_path|database_url/);
    }
  });
});

describe("a question to several namespaces", () => {
  test("is answered by all, their scores and budgets weighted", async () => {
    const workspace = await open();
    for (const name of ["work", "home"]) {
      await using lease = await workspace.namespace(name);
      await lease.store({ content: `Anna prefers tea at ${name}`, userId: "anna" });
    }

    const answer = await workspace.retrieve({
      query: "Which drink does Anna prefer?",
      userId: "anna",
      namespaces: { home: 1, work: 3 },
      tokenBudget: 4000,
    });

    expect(answer.results.map(({ namespace }) => namespace)).toEqual(["work", "home"]);
    const [work, home] = answer.results;
    expect(work?.score).toBe(3 * (work?.candidate.compositeScore ?? Number.NaN));
    expect(home?.score).toBe(home?.candidate.compositeScore ?? Number.NaN);
    expect([...answer.responses.keys()]).toEqual(["home", "work"]);
    expect(answer.responses.get("work")?.bundle.tokenBudget).toBe(3000);
    expect(answer.responses.get("home")?.bundle.renderedContext).toContain("tea at home");
  });

  test("needs namespaces that exist, and weights above 0", async () => {
    const workspace = await open();
    await (await workspace.namespace("work")).release();
    const question = { query: "tea", userId: "anna" };
    const invalid = { code: "invalid_argument", field: "namespaces" };
    await expect(workspace.retrieve({ ...question, namespaces: {} })).rejects.toMatchObject(
      invalid,
    );
    for (const weight of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const namespaces = { work: weight };
      await expect(workspace.retrieve({ ...question, namespaces })).rejects.toMatchObject(invalid);
    }
    const namespaces = { elsewhere: 1 };
    await expect(workspace.retrieve({ ...question, namespaces })).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

describe("a pack with a namespace_id", () => {
  const pack = () => join(folder, "own.pack");
  const [mine, other] = [crypto.randomUUID(), crypto.randomUUID()];

  test("is opened with that one, or without any", async () => {
    const made = await MemoryEngine.create({ pack_path: pack(), namespace_id: mine });
    await made.close();
    for (const namespace_id of [mine.toUpperCase(), undefined]) {
      await using engine = await MemoryEngine.create({ pack_path: pack(), namespace_id });
      expect((await engine.stats()).nodeCount).toBe(0);
    }
    await expect(
      MemoryEngine.create({ pack_path: pack(), namespace_id: other }),
    ).rejects.toMatchObject({ code: "namespace_mismatch", name: "NamespaceIdentityError" });
  });

  test("that was made without one is refused with one", async () => {
    await (await MemoryEngine.create({ pack_path: pack() })).close();
    await expect(
      MemoryEngine.create({ pack_path: pack(), namespace_id: mine }),
    ).rejects.toMatchObject({ code: "namespace_mismatch", data: { found: null } });
  });

  test("has a UUID", async () => {
    await expect(
      MemoryEngine.create({ pack_path: pack(), namespace_id: "work" }),
    ).rejects.toMatchObject({ code: "invalid_config" });
  });
});
