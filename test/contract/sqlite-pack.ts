import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PackLayout } from "../../src/adapters/sqlite/connection/layout.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/adapters/sqlite/open-store.ts";
import type { OpenPack } from "../../src/adapters/sqlite/sqlite-store.ts";
import { createSystemClock } from "../../src/adapters/system/system.ts";
import { DIMENSION } from "./samples.ts";

/** Which pack a test works on; plain JSON, so that it can be handed to another process. */
export type SqlitePack = { readonly layout: PackLayout; readonly encryptionKey?: string };

/** The key of encrypted packs, as bytes and as text: a raw one, so that no test waits for it to be derived. */
export const MASTER_KEY: Uint8Array = new Uint8Array(32).fill(7);
export const RAW_KEY = `raw_key:${Buffer.from(MASTER_KEY).toString("base64url")}`;

/** The same pack, encrypted. */
export function encrypted(pack: SqlitePack): SqlitePack {
  return { ...pack, encryptionKey: RAW_KEY };
}

/** A pack of one file in a folder. */
export function filePack(folder: string): SqlitePack {
  return { layout: { kind: "file", path: `${folder}/memory.pack` } };
}

/** A pack of three files in a folder. */
export function directoryPack(folder: string): SqlitePack {
  return {
    layout: {
      kind: "directory",
      databasePath: `${folder}/memory.db`,
      vectorPath: `${folder}/vectors.index`,
      lexicalPath: `${folder}/lexical_index`,
    },
  };
}

/** The options with which these tests open a pack, as far as a test does not replace them. */
export function storeOptions(
  pack: SqlitePack,
  given: Partial<SqliteStoreOptions> = {},
): SqliteStoreOptions {
  return {
    layout: pack.layout,
    createIfMissing: true,
    embedding: { model: "hand-made", version: "1", dimension: DIMENSION },
    softwareVersion: "1.2.3",
    scoringVersion: "0123456789ab",
    clock: createSystemClock(),
    // What a process has written outlives the process either way; waiting for the disk only costs time here.
    synchronous: "normal",
    writeQueueSize: 1000,
    busyTimeoutMs: 5000,
    encryptionKey: pack.encryptionKey,
    ...given,
  };
}

/** Opens the pack as these tests do. */
export function openSqlitePack(
  pack: SqlitePack,
  given: Partial<SqliteStoreOptions> = {},
): Promise<OpenPack> {
  return openSqliteStore(storeOptions(pack, given));
}

/** Folders of empty packs, by layout and key. */
const empty = new Map<string, Promise<string>>();

/** Puts an empty pack into a folder: a copy is there in half the time in which its tables are made. */
export async function copyEmptyPack(
  folder: string,
  packIn: (folder: string) => SqlitePack,
): Promise<void> {
  const kind = JSON.stringify(packIn(""));
  const made = empty.get(kind) ?? makeEmptyPack(packIn);
  empty.set(kind, made);
  cpSync(await made, folder, { recursive: true });
}

/** Removes those from which copies were made, once no test needs them. */
export async function removeEmptyPacks(): Promise<void> {
  const folders = [...empty.values()];
  empty.clear();
  for (const folder of folders) rmSync(await folder, { recursive: true, force: true });
}

async function makeEmptyPack(packIn: (folder: string) => SqlitePack): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-empty-"));
  await (await openSqlitePack(packIn(folder))).close();
  return folder;
}
