import { expect } from "bun:test";
import { existsSync, mkdtempSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryWorkspace, type WorkspaceOptions } from "../../src/app/workspace/workspace.ts";
import { databaseUrl, dropDatabase, makeDatabase, onServer } from "../postgres/databases.ts";

/** What a workspace lies in; one at a time. Namespaces are named by their ids. */
export type Ground = {
  make(): Promise<void>;
  remove(): Promise<void>;
  open(options: WorkspaceOptions): Promise<MemoryWorkspace>;
  /** Where errors say that a namespace is. */
  placeOf(id: string): string;
  /** Whether a namespace has a memory. */
  has(id: string): Promise<boolean>;
  /** Waits until a namespace is open, or is not. */
  becomes(id: string, isOpen: boolean): Promise<void>;
  exchange(one: string, other: string): Promise<void>;
  /** Takes the memory of a namespace away. */
  lose(id: string): Promise<void>;
};

function folderGround(): Ground {
  let folder = "";
  const packOf = (id: string): string => join(folder, "packs", id, "memory.pack");
  return {
    make: async () => {
      folder = mkdtempSync(join(tmpdir(), "svc-workspace-"));
    },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
    open: (options) => MemoryWorkspace.open(folder, { singleFilePacks: true, ...options }),
    placeOf: packOf,
    has: async (id) => existsSync(packOf(id)),
    // A pack that is open has a log beside it.
    becomes: async (id, isOpen) => expect(existsSync(`${packOf(id)}-wal`)).toBe(isOpen),
    exchange: async (one, other) => {
      renameSync(packOf(one), join(folder, "kept"));
      renameSync(packOf(other), packOf(one));
      renameSync(join(folder, "kept"), packOf(other));
    },
    lose: async (id) => unlinkSync(packOf(id)),
  };
}

/** The name of the schema of a namespace. */
export function schemaOf(id: string): string {
  return `svc_ns_${id.replaceAll("-", "")}`;
}

function databaseGround(): Ground {
  let name = "";
  const count = async (statement: string): Promise<number> =>
    (await onServer(statement, name)).length;
  return {
    make: async () => {
      name = await makeDatabase();
    },
    remove: () => dropDatabase(name),
    open: (options) => MemoryWorkspace.open(databaseUrl(name), options),
    placeOf: (id) => {
      const { protocol, host, pathname } = new URL(databaseUrl(name));
      return `${protocol}//${host}${pathname}#${schemaOf(id)}`;
    },
    has: async (id) =>
      (await count(`SELECT 1 FROM pg_tables WHERE schemaname = '${schemaOf(id)}'`)) > 0,
    becomes: async (id, isOpen) => {
      const sessions = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}' AND application_name = '${schemaOf(id)}'`;
      while ((await count(sessions)) > 0 !== isOpen) await Bun.sleep(20);
    },
    exchange: async (one, other) => {
      for (const [from, to] of [
        [schemaOf(one), "kept"],
        [schemaOf(other), schemaOf(one)],
        ["kept", schemaOf(other)],
      ]) {
        await onServer(`ALTER SCHEMA ${from} RENAME TO ${to}`, name);
      }
    },
    lose: async (id) => void (await onServer(`DROP SCHEMA ${schemaOf(id)} CASCADE`, name)),
  };
}

export const FOLDER_GROUND = folderGround();
export const DATABASE_GROUND = databaseGround();
