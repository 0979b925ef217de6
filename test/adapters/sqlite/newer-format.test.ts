/** A pack that a newer program changes while a store has it open. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { filePack } from "../../contract/sqlite-pack.ts";
import { failure, useFolders } from "./folder.ts";

const { folder, open } = useFolders();

const counted = (path: string): number => {
  const other = new Database(path);
  const { count } = other
    .query<{ count: number }, []>("SELECT count(*) AS count FROM events")
    .get() ?? {
    count: -1,
  };
  other.close();
  return count;
};

test("a store that has the pack open changes nothing once its format is another one", async () => {
  const pack = filePack(folder());
  const path = mainPath(pack.layout);
  const store = await open(pack);
  await store.admit(anAdmission([anEvent({ content: "before" })]));
  const newer = new Database(path);
  newer.run("UPDATE pack_manifest SET format_version = format_version + 1");
  newer.close();
  const refused = await failure(
    Promise.all([
      store.admit(anAdmission([anEvent({ content: "one" })])),
      store.admit(anAdmission([anEvent({ content: "other" })])),
    ]),
  );
  expect(refused.code).toBe("pack_too_new");
  expect(refused.data).toEqual({ path, found: 2, supported: 1 });
  expect(counted(path)).toBe(1);
});
