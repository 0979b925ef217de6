import { expect, test } from "bun:test";
import { openConnection } from "../../../src/adapters/postgres/connection/open-connection.ts";
import { ownerKey } from "../../../src/adapters/postgres/owner-key.ts";
import { createPostgresStore } from "../../../src/adapters/postgres/postgres-store.ts";
import { createSystemClock } from "../../../src/adapters/system/system.ts";
import { everythingOf } from "../../../src/domain/candidate-filter.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import type { ExtractionClaim } from "../../../src/ports/store/work.ts";
import { aPlanOf, aRecordOf, claimed, extractable } from "../../contract/extraction-samples.ts";
import { openPostgres } from "../../contract/postgres-place.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anAuditRecord,
  anEvent,
  at,
  DIMENSION,
  freshId,
  unit,
} from "../../contract/samples.ts";
import { aBlob } from "../../contract/store-blobs.ts";
import { anEdge } from "../../contract/store-change.ts";
import { anErasure } from "../../contract/store-erasures.ts";
import { aReceipt } from "../../contract/store-receipts.ts";
import { leftOut } from "../../left-out.ts";
import { databaseUrl, dropDatabase, makeDatabase, NO_POSTGRES } from "../../postgres/databases.ts";
import { namesOwner, noting } from "./owner-bound.ts";

const EMBEDDING = { model: "hand-made", version: "1", dimension: DIMENSION };

/** Methods that ask without an owner, and what. All others name one in every statement. */
const WITHOUT_OWNER: Readonly<Record<string, string>> = {
  change: "whose the memories are that a decision is about, which the caller names by their ids",
  failJobs: "whose the events are; the jobs are then changed owner by owner",
  releaseJobs: "the same",
  renewJobs: "the same",
};

/**
 * Statements without an owner in methods that name one otherwise, and why. Whoever writes memories runs the first of them, and where
 * owners are spread over servers it asks all of these.
 */
const UNBOUND: Readonly<Record<string, string>> = {
  "SELECT id, owner, key, lifecycle_state IN ('tentative', 'stable', 'contested') AS is_active FROM nodes WHERE id = ANY ($1::uuid[]) UNION ALL SELECT event_id, NULL, NULL, NULL FROM erasures WHERE event_id = ANY ($1::uuid[])":
    "an id is never given twice, to whomever",
};

const ADA = { userId: "ada" };
const OF_ADA = { owner: "ada" };

/** Writes of one owner: what is admitted, materialized, extracted, changed and given to another. */
async function writesOf(store: Store): Promise<void> {
  const [event, told, failed] = [
    anEvent({ sessionId: "s" }),
    anEvent({ sessionId: "s" }),
    anEvent(),
  ];
  const [node, other] = [aNode(event), aNode(told)];
  await store.admit(anAdmission([event], { nodes: [{ node, lexical: true }], leaseJobs: true }));
  await store.admitOnce(anAdmission([told], { blobs: [aBlob({ event: told.id })] }), freshId());
  await store.renewJobs([event.id]);
  await store.releaseJobs([event.id]);
  await store.claimJobs("ada", 9);
  await store.materialize([
    aMaterialization(event, node, { vector: unit(1) }),
    aMaterialization(told, other, { vector: unit(0, 1) }),
  ]);
  await store.admit(extractable([failed]));
  await store.failJobs([failed.id], "model_failed", at(1));
  await store.addNodes([{ node: aNode(failed), vector: unit(1, 1), at: at(1) }]);
  const filter = { owner: "ada", isDueOnly: false };
  const claim = await claimed(store, filter);
  await store.renewExtraction(claim, 60);
  await store.saveExtractions(claim, [aRecordOf(failed)]);
  await store.savePlan(claim, aPlanOf(claim), at(2));
  await store.endExtraction(claim, "cancelled", at(2));
  await store.retryExtraction(failed.id, "ada", { isReplan: true, at: at(3) });
  await publish(store, await claimed(store, filter));
  await store.change(
    { nodeIds: [node.id, other.id], auditRecordIds: [], eventIds: [event.id], edgesOf: node.id },
    () => {
      const nodes = [{ ...other, lifecycleState: "archived" as const }];
      const change = { nodes, edges: [anEdge(node, other)], auditRecords: [anAuditRecord()] };
      return { change, result: undefined };
    },
  );
  await store.putParts([{ nodeId: node.id, userId: "ada", vectors: [unit(1)] }]);
  const receipt = aReceipt();
  await store.saveReceipt(receipt);
  await store.noteContexts([{ ...receipt, context: [] }]);
  await store.saveWalkPlace("merge", "ada", { seen: 1 });
  const work = await store.takeWork({ kind: "sweep", owner: "ada" }, true);
  if (typeof work !== "object") throw new Error("the work is not free");
  await store.renewWork(work);
  await store.finishWork(work, "stopped");
  await store.sweepIndexes("ada", 9);
}

async function publish(store: Store, claim: ExtractionClaim): Promise<void> {
  const plan = aPlanOf(claim);
  await store.savePlan(claim, plan, at(4));
  await store.publishPlan(claim, { plan, vectors: [unit(1), unit(1), unit(1)], at: at(5) });
}

/** Reads of one owner. */
async function readsOf(store: Store): Promise<void> {
  const [event] = await store.events({ ...ADA, limit: 1, offset: 0 });
  const [node] = await store.queryNodes({
    ...{ owner: "ada", lifecycleStates: ["tentative"], oldestFirst: true, limit: 9 },
  });
  if (event === undefined || node === undefined) throw new Error("nothing was written");
  const erasure = anErasure([node]);
  await store.restingOn("ada", erasure.events);
  await store.reached(erasure);
  await store.erase(anErasure([], { events: [], nodes: [] }));
  const [eventId, nodeId] = [event.id, node.id];
  const filter = everythingOf("ada");
  const hits = await store.searchVectors(unit(1), filter, 9);
  const keys = hits.map(({ key }) => key);
  await store.searchText("green tea", filter, 9);
  await store.searchGraph(["Ada"], filter, { hops: 2, limit: 9 });
  await store.keptEntries("ada", [freshId()]);
  await store.nearNodes(unit(1), { ...ADA, scope: "personal", count: 9 }, (nearest) => nearest);
  await store.readyForNear("ada");
  await store.cosines(unit(1), "ada", keys);
  await store.ownVectors("ada", keys);
  await store.pinned(filter);
  await store.nodesByKey("ada", keys);
  await store.nodesById("ada", [nodeId]);
  await store.contradictions("ada", keys);
  await store.replacedNotes("ada", keys);
  await store.sessionWindows("ada", keys, 2);
  await store.event(eventId, "ada");
  await store.eventsById([eventId], "ada");
  await store.countEvents("ada");
  await store.node(nodeId, "ada");
  await store.scanNodes({ ...ADA, lifecycleStates: ["tentative"], limit: 9 });
  await store.neighborhood({ ...OF_ADA, nodeId, maxHops: 2, maxVisited: 9 });
  await store.chain({ ...OF_ADA, nodeId, direction: "forward", maxSteps: 9 });
  await store.expired({ ...OF_ADA, now: at(9), limit: 9 });
  await store.nodesCiting(eventId, "ada");
  await store.contradictionsAmong("ada", [nodeId]);
  await store.contradictionsOf(nodeId, "ada");
  await store.countNodes("ada");
  await store.browse({ ...ADA, clock: "learned", oldestFirst: true, limit: 9 });
  await store.facetCounts({ ...ADA, clock: "learned" });
  await store.quarterCounts({ ...ADA, clock: "learned" });
  await store.edges({ ...OF_ADA, nodeId, limit: 9 });
  await store.entities({ ...ADA, limit: 9 });
  await store.notedContradictions({ ...ADA, limit: 9 });
  await store.storeCounts("ada");
  await store.blob("frames/0a.jpg", "ada");
  await store.blobTotals("ada");
  await store.nodesOf("ada", [nodeId]);
  await store.eventsByTime({ ...ADA, oldestFirst: true, limit: 9 });
  await store.sessions({ ...ADA, limit: 9 });
  await store.storeState("ada");
  await readsOfWork(store, eventId);
  await readsOfOrganizer(store);
}

async function readsOfWork(store: Store, eventId: Uuid): Promise<void> {
  await store.jobStatus(eventId, "ada");
  await store.countJobs("ada");
  await store.extractionJob(eventId, "ada");
  await store.countExtractions("ada");
  await store.extractionLanes("ada");
  const event = anEvent({ sessionId: "s" });
  await store.admit(extractable([event]));
  const claim = await claimed(store, { owner: "ada", isDueOnly: false });
  await store.waitingTurns(claim, { upTo: undefined, limit: 9 });
  await store.earlierTurns(claim, 9);
  await store.knownMemories({ event, names: ["ada"], values: ["graz"], shownIds: [freshId()] });
  await store.receipt(freshId(), "ada");
  await store.forgettings("ada");
  await store.receipts({ ...ADA, limit: 9 });
  await store.changesOf({ ...ADA, limit: 9 });
  await store.changesAfter({ ...ADA, after: 0, limit: 9 });
  await store.usesOf({ ...ADA, nodeId: freshId(), limit: 9 });
}

async function readsOfOrganizer(store: Store): Promise<void> {
  await store.walkPlace("merge", "ada");
  await store.newestKey("ada");
  await store.repeatedTexts({ ...ADA, newerThan: 0, afterHash: "", limit: 9 });
  await store.entityNames("ada");
  await store.newNodes({ ...ADA, newerThan: 0, limit: 9 });
  await store.newestOfType("ada", "note", 9);
  await store.periodSources("ada", 0);
  await store.publishedSummaries("ada");
  await store.consolidatedIds("ada");
  await store.countRetained("ada");
  await store.lastEventAt("ada");
  await store.walkAging({
    ...{ owner: "ada", limit: 9 },
    at: {
      ...{ kind: "faded", now: at(9), fading: "own", salience: 0.5, confidence: 0.5 },
      unusedBefore: new Map([["note", at(8)]]),
    },
  });
  await store.walkAging({
    ...{ owner: "ada", limit: 9 },
    at: { kind: "tentative", createdBefore: at(9), evidence: 1 },
  });
}

/** What is asked of a database as a whole, whoever asks. */
const OF_ALL: readonly (keyof Store)[] = [
  ...(["backend", "rebuild", "owners", "manifest", "hasModel", "close"] as const),
  ...(["pruneReceipts", "textsWithoutParts"] as const),
  ...(["isDated", "doubtedClock", "doubtClock"] as const),
  // As `edgesAt`: of nodes that a walk for the owner has found.
  ...(["lastSteps", "lastUses"] as const),
  ...(["hasUnsettledErasures", "erasureStage", "settleErasures"] as const),
  ...(["scan", "signingKey"] as const),
];

test.skipIf(NO_POSTGRES !== undefined)(
  `every statement for an owner names the owner, but for those of a few methods${leftOut(NO_POSTGRES)}`,
  async () => {
    const name = await makeDatabase();
    const url = databaseUrl(name);
    await (await openPostgres({ url })).close();
    const database = openConnection({
      url,
      poolSize: 4,
      prepare: false,
      statementTimeoutMs: 60_000,
    });
    let method = "";
    const statements = new Map<string, Set<string>>();
    const noted = noting(database, (statement) => {
      statements.set(method, (statements.get(method) ?? new Set()).add(statement));
    });
    const clock = createSystemClock();
    const store = createPostgresStore({ database: noted, clock, embedding: EMBEDDING });
    const watched = new Proxy(store, {
      get: (target, member) => {
        method = String(member);
        return Reflect.get(target, member);
      },
    });
    try {
      await writesOf(watched);
      await readsOf(watched);
    } finally {
      await database.close();
      await dropDatabase(name);
    }

    const methods = Object.keys(store).filter((each) => !OF_ALL.some((known) => known === each));
    expect(methods.filter((each) => !statements.has(each)).toSorted()).toEqual([
      ...["auditRecord", "auditRecordsOf", "auditRecordsOn", "edgesAt"],
    ]);
    const without = methods.filter((each) =>
      [...(statements.get(each) ?? [])].some(
        (statement) => !namesOwner(statement) && UNBOUND[statement] === undefined,
      ),
    );
    const all = new Set([...statements.values()].flatMap((each) => [...each]));
    expect(Object.keys(UNBOUND).filter((statement) => !all.has(statement))).toEqual([]);
    expect(without.toSorted()).toEqual(Object.keys(WITHOUT_OWNER).toSorted());
  },
);

test.skipIf(NO_POSTGRES !== undefined)(
  `a user id with the number of another one reads nothing of that one${leftOut(NO_POSTGRES)}`,
  async () => {
    const name = await makeDatabase();
    const url = databaseUrl(name);
    const options = { url, poolSize: 4, prepare: false, statementTimeoutMs: 60_000 };
    await (await openPostgres({ url })).close();
    const database = openConnection(options);
    const clock = createSystemClock();
    const store = createPostgresStore({ database, clock, embedding: EMBEDDING });
    try {
      // As if the two had one number.
      await store.admit(anAdmission([anEvent({ userId: "mallory" })]));
      const moved = "UPDATE owners SET user_id = $2 WHERE owner = $1::bigint";
      await database.writeAny((sql) => sql.run(moved, ownerKey("mallory"), "ada"));

      const refused = { code: "internal" };
      await expect(store.countEvents("mallory")).rejects.toMatchObject(refused);
      await expect(store.countNodes("mallory")).rejects.toMatchObject(refused);
      await expect(store.receipt(freshId(), "mallory")).rejects.toMatchObject(refused);
      expect(await store.countEvents("nobody")).toBe(0);
    } finally {
      await database.close();
      await dropDatabase(name);
    }
  },
);
