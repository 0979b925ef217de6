import { afterEach } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SqliteStoreOptions } from "../../../src/adapters/sqlite/open-store.ts";
import type { OpenPack } from "../../../src/adapters/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { openSqlitePack, type SqlitePack } from "../../contract/sqlite-pack.ts";

/** Folders and stores of the tests of one file; each is closed and deleted after its test. */
export function useFolders() {
  const folders: string[] = [];
  const stores: Store[] = [];

  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  return {
    /** An empty folder. */
    folder: (): string => {
      const folder = mkdtempSync(join(tmpdir(), "svc-sqlite-"));
      folders.push(folder);
      return folder;
    },
    /** Opens a pack; the test may close it earlier. */
    open: async (pack: SqlitePack, given: Partial<SqliteStoreOptions> = {}): Promise<OpenPack> => {
      const store = await openSqlitePack(pack, given);
      stores.push(store);
      return store;
    },
    /** Closes a store after the test that the test opened itself. */
    closeLater: (store: Store): Store => {
      stores.push(store);
      return store;
    },
  };
}

/** Every file below a folder with a hash of its bytes. */
export function bytesBelow(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
  return Object.fromEntries(
    files.map((name) => [name, Bun.SHA256.hash(readFileSync(join(folder, name)), "hex")]),
  );
}

/** The code and the data of the SvcError with which a call fails; any other outcome fails the test. */
export async function failure(call: Promise<unknown>): Promise<{
  readonly code: string;
  readonly message: string;
  readonly data: unknown;
}> {
  try {
    await call;
  } catch (error) {
    // SAFETY: compared member by member; an error of another kind has no code and fails the comparison.
    const { code, message, data } = error as { code: string; message: string; data: unknown };
    return { code, message, data };
  }
  throw new Error("the call went through");
}
