import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { processIdentity } from "../../../src/adapters/native/process-identity.ts";
import { claimWork } from "../../../src/adapters/sql/work.ts";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { run } from "../../../src/adapters/sqlite/connection/run.ts";
import { leaseOf } from "../../../src/domain/jobs.ts";
import { anAdmission, anEvent, at, freshId } from "../../contract/samples.ts";
import { filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();

function inPack<T>(pack: SqlitePack, work: (database: Database) => T): T {
  const database = new Database(mainPath(pack.layout));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

test("work of one lane is claimed one after the other, past what has failed for good, and lanes do not wait for each other", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  await store.admit(anAdmission([1, 2, 3, 4, 5, 6].map(() => anEvent())));

  inPack(pack, (database) => {
    const add = database.query(
      `INSERT INTO work (subject, kind, owner, lane, status, attempts, updated_at) VALUES (?, 'extract', 1, ?, ?, ?, ?)`,
    );
    for (const [subject, lane, status, attempts] of [
      [1, "personal", "failed", 4],
      [2, "personal", "pending", 2],
      [3, "personal", "pending", 0],
      [4, "project", "pending", 1],
      [5, null, "pending", 0],
      [6, null, "pending", 0],
    ] as const) {
      add.run(subject, lane, status, attempts, at(0));
    }
    const claim = () =>
      run(
        database,
        claimWork(
          { kind: "extract", owner: 1, limit: 9, isDueOnly: true },
          leaseOf(processIdentity(), at(1), 60),
        ),
      ).map(({ subject }) => subject);

    expect(claim()).toEqual([5, 6, 4, 2]);
    expect(claim()).toEqual([]);
    database.run(
      "UPDATE work SET status = 'complete', lease_owner = NULL WHERE kind = 'extract' AND subject = 2",
    );
    expect(claim()).toEqual([3]);
  });
});

test("what two owners had to be done is done for one when they are joined", async () => {
  const store = await open(filePack(folder()));
  await store.admit(anAdmission([anEvent({ userId: "bob" }), anEvent()]));
  const [of, into] = ["bob", "ada"].map((owner) => ({ kind: "sweep", owner }));
  if (of === undefined || into === undefined) throw new Error();
  const claim = await store.takeWork(of, true);
  await store.takeWork(into, true);

  const names = { from: "bob", into: "ada", isJoin: true, actorId: "test" };
  await store.owners.move({ ...names, id: freshId(), settingId: freshId() });

  if (typeof claim !== "object") throw new Error("it was not free");
  expect(await store.finishWork(claim, "stopped")).toBeFalse();
  expect(await store.takeWork(into, true)).toBeString();
  expect(await store.takeWork(of, true)).toMatchObject({ generation: 1 });
});
