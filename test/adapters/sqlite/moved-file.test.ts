/** A pack whose file is taken away while a store has it open. */
import { describe, expect, test } from "bun:test";
import { copyFileSync, cpSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { anAdmission, anEvent, put, unit } from "../../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "../../contract/sqlite-pack.ts";
import { failure, useFolders } from "./folder.ts";

const { folder, open } = useFolders();

const PACKS = [
  { name: "one file", packIn: filePack },
  { name: "one encrypted file", packIn: (place: string) => encrypted(filePack(place)) },
  { name: "a directory", packIn: directoryPack },
  { name: "an encrypted directory", packIn: (place: string) => encrypted(directoryPack(place)) },
];

/** What somebody does to the pack, with a folder for whatever they put aside. */
const MISHAPS: readonly {
  readonly name: string;
  readonly befall: (pack: SqlitePack, aside: string) => void;
}[] = [
  { name: "deleted", befall: (pack) => rmSync(mainPath(pack.layout)) },
  {
    name: "moved to another name",
    befall: (pack, aside) => renameSync(mainPath(pack.layout), join(aside, "elsewhere")),
  },
  {
    name: "moved with its folder",
    befall: (pack, aside) => renameSync(dirname(mainPath(pack.layout)), join(aside, "elsewhere")),
  },
  {
    name: "replaced by a copy of itself",
    befall: (pack, aside) => {
      copyFileSync(mainPath(pack.layout), join(aside, "copy"));
      renameSync(join(aside, "copy"), mainPath(pack.layout));
    },
  },
];

/** A pack in a folder of its own, with one memory, open. */
async function opened(packIn: (folder: string) => SqlitePack) {
  const aside = folder();
  const place = join(aside, "place");
  mkdirSync(place);
  const pack = packIn(place);
  const store = await open(pack);
  await put(store, { content: "before", vector: unit(1) });
  return { aside, pack, store };
}

const write = (store: Store) => store.admit(anAdmission([anEvent({ content: "too late" })]));

describe.each(PACKS)("a pack of $name", ({ packIn }) => {
  test.each([...MISHAPS])("that was $name stores nothing more", async ({ befall }) => {
    const { aside, pack, store } = await opened(packIn);
    befall(pack, aside);
    const path = mainPath(pack.layout);
    expect(await failure(write(store))).toEqual({
      code: "storage_failed",
      message: `${path}: was deleted, moved or replaced while this process had it open; nothing of this operation was stored. Put the file back under its name, or restart this process to use what is there now.`,
      data: { path, reason: "pack_moved" },
    });
    expect(await store.countEvents(ALL_OWNERS)).toBe(1);
  });

  test("that lies under its name again goes on, without what was refused", async () => {
    const { aside, pack, store } = await opened(packIn);
    const path = mainPath(pack.layout);
    renameSync(path, join(aside, "elsewhere"));
    const both = await Promise.all([failure(write(store)), failure(write(store))]);
    expect(both.map(({ code }) => code)).toEqual(["storage_failed", "storage_failed"]);
    renameSync(join(aside, "elsewhere"), path);

    await put(store, { content: "after", vector: unit(0, 1) });
    await store.close();

    const again = await openSqlitePack(pack);
    const events = await again.events({ userId: "ada", limit: 10, offset: 0 });
    expect(events.map(({ content }) => content).sort()).toEqual(["after", "before"]);
    await again.close();
  });
});

test("closing a store leaves a pack alone that was put in the place of its own", async () => {
  const { aside, pack, store } = await opened(filePack);
  const place = dirname(mainPath(pack.layout));
  const other = join(aside, "other");
  mkdirSync(other);
  const successor = await openSqlitePack(filePack(other));
  await put(successor, { content: "of the other", vector: unit(1) });
  await successor.close();
  rmSync(place, { recursive: true });
  cpSync(other, place, { recursive: true });
  const inPlace = await open(pack);
  await put(inPlace, { content: "new", vector: unit(1) });

  await store.close();

  await put(inPlace, { content: "newer", vector: unit(1) });
  await inPlace.close();
  const again = await open(pack);
  expect(await again.countEvents(ALL_OWNERS)).toBe(3);
});
