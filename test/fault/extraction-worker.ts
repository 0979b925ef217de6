/**
 * A process that extracts what waits in a pack, each claim replacing that of the turn before, until it is killed or nothing is
 * left. Arguments: the pack as JSON; a file to which it writes `asked` and `saved` with an event's id, each as it happens.
 */
import { appendFileSync } from "node:fs";
import { planIdOf } from "../../src/domain/extraction/plan/context.ts";
import { fromPlanPayload } from "../../src/domain/extraction/plan/derivation.ts";
import { isTakenOver } from "../../src/domain/jobs.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { uuidV5 } from "../../src/lib/hashing.ts";
import { parseUuid } from "../../src/lib/uuid.ts";
import type { ExtractionClaim } from "../../src/ports/store/work.ts";
import { aPlanOf, aRecordOf } from "../contract/extraction-samples.ts";
import { unit } from "../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";

const [pack = "", log = ""] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const store = await openSqlitePack(JSON.parse(pack) as SqlitePack);
const VECTORS = [unit(1), unit(0, 1), unit(0, 0, 1)];

/** The claim of the turn before, whose event the text names, is replaced. */
async function planFor({ event, revision, plan }: ExtractionClaim) {
  if (plan !== undefined) return fromPlanPayload(plan.payload);
  const stated = aPlanOf({ event, revision });
  const before = parseUuid(event.content);
  if (before === undefined) return stated;
  const oldId = uuidV5(planIdOf({ event: { id: before }, revision: 1 }), "claim");
  const old = await store.node(oldId, ALL_OWNERS);
  const newId = stated.nodes[2]?.id;
  if (old === undefined || newId === undefined) throw new Error(`${before} was not extracted`);
  return { ...stated, replacements: [{ oldId, newId }], snapshots: [old] };
}

async function extract(claim: ExtractionClaim): Promise<void> {
  const { event } = claim;
  if (claim.record === undefined) {
    appendFileSync(log, `asked ${event.id}\n`);
    await store.saveExtractions(claim, [aRecordOf(event)]);
    appendFileSync(log, `saved ${event.id}\n`);
  }
  const plan = await planFor(claim);
  await store.savePlan(claim, plan, event.timestamp);
  const publication = { plan, vectors: VECTORS, at: event.timestamp };
  const stale = await store.publishPlan(claim, publication);
  if (stale !== undefined) throw new Error(`${stale.staleId} has changed`);
}

console.log("ready");
while ((await store.countExtractions(ALL_OWNERS)).pending > 0) {
  const claim = await store.claimExtraction({ owner: ALL_OWNERS, isDueOnly: false }, 300);
  if (claim === undefined) {
    await Bun.sleep(1);
    continue;
  }
  try {
    await extract(claim);
  } catch (error) {
    if (!isTakenOver(error)) throw error;
  }
}
await store.close();
