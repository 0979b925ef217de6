/** What lies in the folder of a workspace and is not its own: nothing of it is obeyed. */

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryWorkspace } from "../../src/app/workspace/workspace.ts";
import { leftOut, NOT_ROOT } from "../left-out.ts";
import { forgedJournal, forgedLog } from "../scenario/forged.ts";

setDefaultTimeout(120_000);

const OTHER = 65_533;
let folder: string;
const opened: MemoryWorkspace[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-workspace-"));
});
afterEach(async () => {
  for (const workspace of opened.splice(0)) await workspace.close().catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
});

async function open(place = folder): Promise<MemoryWorkspace> {
  const workspace = await MemoryWorkspace.open(place, { singleFilePacks: true });
  opened.push(workspace);
  return workspace;
}

/** A closed workspace with the namespaces a and b. */
async function made(): Promise<{ registry: string; a: string; b: string }> {
  const workspace = await open();
  const ids: string[] = [];
  for (const name of ["a", "b"]) {
    await using lease = await workspace.namespace(name);
    ids.push(lease.namespace.id);
  }
  await workspace.close();
  const [a = "", b = ""] = ids;
  return { registry: join(folder, "workspace.sqlite3"), a, b };
}

async function names(): Promise<string[]> {
  return (await (await open()).listNamespaces()).map(({ name }) => name);
}

const damaged = (path: string) => ({ code: "workspace_damaged", data: { path } });

describe("beside the registry of a workspace", () => {
  test.each([0, 1, 3, 200_000])("a journal of %d pages is not obeyed", async (pages) => {
    const { registry } = await made();
    const before = readFileSync(registry);
    const journal = Buffer.from(forgedJournal(pages, 4096));
    writeFileSync(`${registry}-journal`, journal);
    await expect(open()).rejects.toMatchObject({ code: "workspace_damaged" });
    expect(readFileSync(registry)).toEqual(before);
    expect(readFileSync(`${registry}-journal`)).toEqual(journal);
    rmSync(`${registry}-journal`);
    expect(await names()).toEqual(["a", "b"]);
  });

  test.each(["-wal", "-shm"])("a file named %s, which it never has, is refused", async (suffix) => {
    const { registry } = await made();
    const before = readFileSync(registry);
    writeFileSync(`${registry}${suffix}`, forgedLog(Buffer.alloc(8192)));
    await expect(open()).rejects.toMatchObject(damaged(`${registry}${suffix}`));
    expect(readFileSync(registry)).toEqual(before);
  });

  test("a journal that a crash left is obeyed", async () => {
    const { registry } = await made();
    const writer = new Database(registry);
    writer.run("PRAGMA cache_size = 5");
    writer.run("BEGIN");
    for (let i = 0; i < 500; i += 1) {
      const row = [`${i}${"n".repeat(400)}`, crypto.randomUUID()] as const;
      writer.query("INSERT INTO namespaces VALUES (?, ?, 0)").run(...row);
    }
    const copy = mkdtempSync(join(tmpdir(), "svc-workspace-"));
    for (const suffix of ["", "-journal"]) {
      copyFileSync(`${registry}${suffix}`, join(copy, `workspace.sqlite3${suffix}`));
    }
    writer.close();
    try {
      const workspace = await open(copy);
      expect((await workspace.listNamespaces()).map(({ name }) => name)).toEqual(["a", "b"]);
      await workspace.close();
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  test.skipIf(NOT_ROOT !== undefined)(
    `a journal of another user is refused by name${leftOut(NOT_ROOT)}`,
    async () => {
      const { registry } = await made();
      writeFileSync(`${registry}-journal`, "");
      chownSync(`${registry}-journal`, OTHER, OTHER);
      const refused = {
        ...damaged(`${registry}-journal`),
        message: expect.stringMatching(/65533/),
      };
      await expect(open()).rejects.toMatchObject(refused);
    },
  );
});

describe("a registry", () => {
  test("that is gone while there are packs is not made again", async () => {
    const { registry } = await made();
    for (const remove of [() => rmSync(registry), () => writeFileSync(registry, "")]) {
      remove();
      await expect(open()).rejects.toMatchObject(damaged(registry));
    }
    expect(readFileSync(registry).length).toBe(0);
  });

  test("that has lost a name is refused: no second pack is made for it", async () => {
    const { registry, a } = await made();
    const database = new Database(registry);
    database.run("DELETE FROM namespaces WHERE name = 'a'");
    database.close();
    await expect(open()).rejects.toMatchObject(damaged(join(folder, "packs", a)));
  });

  test("whose names were exchanged gives nobody the pack of another", async () => {
    const { registry, a, b } = await made();
    const database = new Database(registry);
    const give = database.query("UPDATE namespaces SET id = ? WHERE name = ?");
    for (const [id, name] of [
      ["c", "a"],
      [a, "b"],
      [b, "a"],
    ] as const) {
      give.run(id, name);
    }
    database.close();
    const workspace = await open();
    for (const name of ["a", "b"]) {
      await expect(workspace.namespace(name)).rejects.toMatchObject({ code: "namespace_mismatch" });
    }
  });

  test("that is moved away while it is open takes no names, and says why", async () => {
    const { registry } = await made();
    const workspace = await open();
    renameSync(registry, `${registry}.away`);
    await expect(workspace.namespace("new")).rejects.toMatchObject({
      code: "storage_failed",
      data: { path: registry, reason: "pack_moved" },
    });
    renameSync(`${registry}.away`, registry);
    await (await workspace.namespace("a")).release();
  });

  test("with a second name is refused", async () => {
    const { registry } = await made();
    linkSync(registry, join(folder, "other"));
    await expect(open()).rejects.toMatchObject(damaged(registry));
  });

  test("can be read by its owner only", async () => {
    const { registry } = await made();
    expect(statSync(registry).mode & 0o777).toBe(0o600);
  });

  test.skipIf(NOT_ROOT !== undefined)(
    `of another user is refused${leftOut(NOT_ROOT)}`,
    async () => {
      const { registry } = await made();
      chownSync(registry, OTHER, OTHER);
      await expect(open()).rejects.toMatchObject(damaged(registry));
    },
  );
});

describe("a pack of a workspace", () => {
  test("with a second name is refused", async () => {
    const { a } = await made();
    const pack = join(folder, "packs", a, "memory.pack");
    linkSync(pack, join(folder, "other.pack"));
    const workspace = await open();
    await expect(workspace.namespace("a")).rejects.toMatchObject(damaged(pack));
    await (await workspace.namespace("b")).release();
  });

  test.skipIf(NOT_ROOT !== undefined)(
    `is refused where it, its folder or the folder of all packs is of another user${leftOut(NOT_ROOT)}`,
    async () => {
      const { a } = await made();
      const paths = ["packs", join("packs", a), join("packs", a, "memory.pack")];
      for (const path of paths.map((path) => join(folder, path))) {
        chownSync(path, OTHER, OTHER);
        const attempt = async () => await (await open()).namespace("a");
        await expect(attempt()).rejects.toMatchObject(damaged(path));
        for (const workspace of opened.splice(0)) await workspace.close();
        chownSync(path, 0, 0);
      }
      await (await (await open()).namespace("a")).release();
    },
  );

  test.skipIf(NOT_ROOT !== undefined)(
    `is used by the superuser in a workspace that is all of another user${leftOut(NOT_ROOT)}`,
    async () => {
      const { registry, a } = await made();
      const own = [folder, registry, join(folder, "packs"), join(folder, "packs", a)];
      for (const path of [...own, join(folder, "packs", a, "memory.pack")]) {
        chownSync(path, OTHER, OTHER);
      }
      await (await (await open()).namespace("a")).release();
      expect(existsSync(registry)).toBeTrue();
    },
  );
});
