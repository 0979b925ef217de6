import { expect, test } from "bun:test";
import { join } from "node:path";
import { inspectPack } from "../../../src/adapters/sqlite/read/inspect.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { checkExtraction } from "../../../src/doctor/checks.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { aPlanOf, aRecordOf, claimed, extractable } from "../../contract/extraction-samples.ts";
import { aMaterialization, aNode, anEvent, at, freshId, unit } from "../../contract/samples.ts";
import { directoryPack, filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { ANYTHING, contentsOf } from "../../contract/store-vectors.ts";
import { exported, imported } from "./exported.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();

const ANY = { owner: "ada", isDueOnly: false };
const VECTORS = [unit(1), unit(0, 1), unit(0, 0, 1)];

function look(pack: SqlitePack) {
  return inspectPack({
    ...{ layout: pack.layout, checkIntegrity: false },
  });
}

/** A pack with work of extraction in every state. @returns the events: done, given up, planned anew, extracted, waiting */
async function fill(store: Store) {
  const events = Array.from({ length: 5 }, (_, i) => anEvent({ timestamp: at(i) }));
  await store.admit(extractable(events));
  await store.materialize(
    events.map((event) => aMaterialization(event, aNode(event, { id: event.id }))),
  );
  const first = await claimed(store, ANY);
  const plan = aPlanOf(first);
  await store.savePlan(first, plan, at(9));
  await store.publishPlan(first, { plan, vectors: VECTORS, at: at(9) });
  for (let tries = 0; tries < 4; tries++) {
    await store.endExtraction(await claimed(store, ANY), { failure: "TimeoutError" }, at(9));
  }
  const third = await claimed(store, ANY);
  await store.savePlan(third, aPlanOf(third), at(9));
  await store.saveExtractions(third, [
    aRecordOf(third.event, { drops: { quote_not_in_text: 2, uncertain: 1 } }),
    ...events.slice(3, 4).map((event) => aRecordOf(event, { drops: { uncertain: 3 } })),
  ]);
  await store.endExtraction(third, "cancelled", at(9));
  const [, , replanned] = events;
  await store.retryExtraction(replanned?.id ?? freshId(), "ada", { isReplan: true, at: at(9) });
  return events;
}

async function jobsOf(store: Store, events: Awaited<ReturnType<typeof fill>>) {
  return await Promise.all(events.map(({ id }) => store.extractionJob(id, "ada")));
}

test.each([
  { name: "one file", packIn: filePack },
  { name: "a directory", packIn: directoryPack },
])("extraction goes on in an imported pack of $name where it was", async ({ packIn }) => {
  const pack = packIn(folder());
  const store = await open(pack);
  const events = await fill(store);
  const before = await jobsOf(store, events);
  expect(before.map((job) => String(job?.status))).toEqual([
    ...["complete", "failed", "pending", "pending", "pending"],
  ]);
  const text = exported(pack);
  const copy = packIn(join(folder(), "copy"));

  await imported(copy, text);

  const other = await open(copy);
  const after = await jobsOf(other, events);
  // An export has no schedule: what waits is due at once.
  expect(after).toEqual(
    before.map((job) => job && { ...job, nextAttemptAt: undefined }) as typeof after,
  );
  const claim = await claimed(other, ANY);
  expect(claim).toMatchObject({ event: events[2], revision: 2, generation: 3, attempts: 2 });
  expect(claim.record).toBeDefined();
  const plan = aPlanOf(claim);
  await other.savePlan(claim, plan, at(20));
  await other.publishPlan(claim, { plan, vectors: VECTORS, at: at(20) });
  expect(await claimed(other, ANY)).toMatchObject({ event: events[3] });
  expect(await other.countExtractions("ada")).toEqual({ pending: 2, failed: 1 });
});

test("an export with work that was given up says what the import restores", async () => {
  const pack = filePack(folder());
  await fill(await open(pack));
  const copy = filePack(join(folder(), "copy"));

  await imported(copy, exported(pack));

  const records = (text: string) => text.split("\n").slice(1, -2);
  expect(records(exported(copy))).toEqual(records(exported(pack)));
});

test("the inspection counts work that waits and that was given up, and what was left out of answers", async () => {
  const pack = filePack(folder());
  const events = await fill(await open(pack));

  expect(look(pack)).toMatchObject({
    pendingJobs: 0,
    failedJobs: 0,
    withoutLexical: 0,
    extraction: {
      pending: 3,
      failed: [{ reason: "TimeoutError", times: 1 }],
      firstFailed: { eventId: events[1]?.id ?? "", userId: "ada" },
      dropped: [
        { reason: "uncertain", times: 4 },
        { reason: "quote_not_in_text", times: 2 },
      ],
    },
  });
  expect(
    checkExtraction(loadConfig({ environment: {} }).config, { ...look(pack), path: "m.pack" }),
  ).toEqual({
    name: "extraction",
    status: "warn",
    message: `1 text was given up after repeated failures: TimeoutError 1; try it again with: svc retry-extraction m.pack ${events[1]?.id} --user-id ada; 3 texts wait for it; left out of what models answered, because the text does not say it so: uncertain 4, quote_not_in_text 2`,
  });
});

test("an extracted entity is found by no words, however the index comes about", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  await fill(store);
  const texts = async (each: Store) =>
    await contentsOf(each, await each.searchText("graz", ANYTHING, 9));
  const lexicalCount = 6;
  expect(await texts(store)).toEqual(["Ada lives in Graz."]);
  expect(look(pack)).toMatchObject({ lexicalCount });

  const plan = await store.rebuild.begin(true);
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = await store.rebuild.stale(plan, after, 100);
    await store.rebuild.put(
      plan,
      page.nodes.map(({ key, node }) => ({
        ...{ key, vector: unit(1), contentHash: sha256Hex(node.content) },
      })),
    );
    ({ scannedTo: after, hasMore } = page);
  }
  await store.rebuild.swap(plan);
  while ((await store.rebuild.rewriteTexts(2)).hasMore);
  await store.rebuild.end("finished");
  expect(await texts(store)).toEqual(["Ada lives in Graz."]);
  expect(look(pack)).toMatchObject({ lexicalCount });

  await store.admit(extractable([anEvent({ userId: "bob" })]));
  await store.owners.move({
    ...{ from: "ada", into: "bob", isJoin: true, actorId: "ada" },
    ...{ id: freshId(), settingId: freshId() },
  });
  const filter = { ...ANYTHING, userId: "bob" };
  expect(await contentsOf(store, await store.searchText("graz", filter, 9), "bob")).toEqual([
    "Ada lives in Graz.",
  ]);
  expect(look(pack)).toMatchObject({ lexicalCount, withoutLexical: 0 });
});
