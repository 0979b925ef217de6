import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  copyEmptyPack,
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  removeEmptyPacks,
  type SqlitePack,
} from "./sqlite-pack.ts";
import { seedInto } from "./sqlite-seed.ts";
import { ACROSS_PARTS, runStoreContract, type StorePlace } from "./store-contract.ts";

afterAll(removeEmptyPacks);

function openPlace(packIn: (folder: string) => SqlitePack): StorePlace {
  const folder = mkdtempSync(join(tmpdir(), "svc-contract-"));
  const pack = packIn(folder);
  let isNew = true;
  return {
    open: async (options = {}) => {
      const { clock, embedding } = options;
      // By another clock or model its manifest says something else.
      if (isNew && clock === undefined && embedding === undefined) {
        await copyEmptyPack(folder, packIn);
      }
      isNew = false;
      return await openSqlitePack(pack, { ...options, shareEncrypted: true });
    },
    worker: (...args) => [
      process.execPath,
      join(import.meta.dir, "worker.ts"),
      JSON.stringify(pack),
      ...args,
    ],
    seed: seedInto(pack),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

// One file and three, with and without encryption: two layouts keep all promises, the other two those that depend on both.
runStoreContract("a pack of one file", () => openPlace(filePack));
runStoreContract("an encrypted directory pack", () =>
  openPlace((folder) => encrypted(directoryPack(folder))),
);
runStoreContract("a directory pack", () => openPlace(directoryPack), ACROSS_PARTS);
runStoreContract(
  "an encrypted pack of one file",
  () => openPlace((folder) => encrypted(filePack(folder))),
  ACROSS_PARTS,
);
