/** The folder of a workspace, and packs that know their namespace. */

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { MemoryWorkspace, type WorkspaceOptions } from "../../src/app/workspace/workspace.ts";

// The model is loaded by the first text of each workspace.
setDefaultTimeout(120_000);

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

describe("a folder", () => {
  test("is held by one workspace", async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({ code: "workspace_in_use" });
    await first.close();
    await open();
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
    for (const call of [() => workspace.namespace("a"), () => workspace.listNamespaces()]) {
      await expect(call()).rejects.toMatchObject({ code: "workspace_damaged" });
    }
    expect(existsSync(join(folder, "packs"))).toBeFalse();
  });

  test("has settings for all its packs, which name none of them", async () => {
    for (const config of [{ pack_path: "x.pack" }, { database_url: "postgres://x/y" }]) {
      await expect(open({ config })).rejects.toThrow(/pack_path|database_url/);
    }
  });

  test("has packs that are folders with their files unless single files are chosen", async () => {
    const workspace = await open({ singleFilePacks: false });
    await using work = await workspace.namespace("work");
    await work.ingestFast({ content: "tea", userId: "anna" });
    expect(existsSync(join(folder, "packs", work.namespace.id, "memory.db"))).toBeTrue();
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
