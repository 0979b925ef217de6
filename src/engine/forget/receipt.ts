import { checksummed } from "../../domain/checksummed.ts";
import { RECEIPT_ISSUED } from "../../domain/erasure.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import { sha256OfJson } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import { commitTo, newSigningKey, signed } from "../../lib/signing.ts";
import type { Erasures } from "../../ports/store/events.ts";
import type { AuditLog, AuditRecord } from "../../ports/store/records.ts";
import type { Store } from "../../ports/store/store.ts";
import type { EngineDeps } from "../deps.ts";
import type { Forgetting } from "./api.ts";
import { newestReceipt, receiptRecordId, toErased } from "./forgettings.ts";
import { lookFor } from "./look.ts";
import type { ForgetPlan } from "./plan.ts";

export const RECEIPT_FORMAT = "svc-forget-receipt";
const RECEIPT_VERSION = 1;

export type ReceiptStore = AuditLog & Erasures & Pick<Store, "backend" | "admit">;
export type ReceiptDeps = Pick<EngineDeps<ReceiptStore>, "store" | "clock" | "features">;

/** What no store can reach. */
const ELSEWHERE = [
  "exports and backups made before",
  "transcripts of assistants, and what a model was told already",
  "memory and swap of running processes",
];
export const NOT_REACHED: Readonly<Record<Store["backend"], readonly string[]>> = {
  sqlite: [
    ...ELSEWHERE,
    "blocks that the disk has put aside; earlier versions in a file system with snapshots",
  ],
  postgres: [
    ...ELSEWHERE,
    "dead rows that a snapshot still sees, until VACUUM removes them; bytes in pages and free blocks, until they are written again (VACUUM FULL by an administrator)",
    "the write-ahead log of the server, its archive, and base backups",
    "replicas until they have followed, and the log of the server where it keeps statements",
  ],
};

/**
 * Makes the receipt and keeps its hash. Without a plan the texts are gone: it commits to none, and none was looked for.
 * @returns undefined if there is another one
 */
export async function issue(
  deps: ReceiptDeps,
  given: {
    readonly record: AuditRecord;
    readonly stage: Forgetting["stage"];
    readonly plan?: ForgetPlan;
  },
): Promise<JsonObject | undefined> {
  const { store, clock, features } = deps;
  const { record, stage, plan } = given;
  const userId = record.namespaceId ?? "";
  const { events, memories: nodes, counts } = toErased(record);
  const isLookedFor = stage === "physical" && plan !== undefined;
  const scan = isLookedFor ? await lookFor(store, plan.texts, userId) : null;
  const previous = await newestReceipt(store, userId);
  const completedAt = clock.now();
  const receipt = await signed(
    {
      format: RECEIPT_FORMAT,
      version: RECEIPT_VERSION,
      forget_id: record.id,
      stage,
      user_id: userId,
      actor: record.actorId,
      requested_at: record.createdAt,
      completed_at: completedAt,
      method: methodOf(store.backend, stage),
      erased: {
        events,
        nodes,
        edges: counts.edges,
        vectors: counts.vectors,
        text_entries: counts.textEntries,
        operations: counts.operations,
        receipts: counts.receipts,
        blobs: counts.blobs,
      },
      commitment: plan === undefined ? null : commitTo(textsOf(plan)),
      scan,
      software: { ...features },
      not_reached: [...NOT_REACHED[store.backend]],
      previous: previous ?? null,
    },
    await store.signingKey(await newSigningKey()),
  );
  const sha256 = sha256OfJson(receipt);
  const issued: AuditRecord = {
    id: receiptRecordId(record.id),
    opType: RECEIPT_ISSUED,
    targetId: record.id,
    payload: checksummed({ stage, sha256, previous: previous ?? null }),
    actorId: record.actorId,
    namespaceId: userId,
    createdAt: completedAt,
  };
  try {
    await store.admit({ events: [], auditRecords: [issued], leaseJobs: false });
  } catch (error) {
    // Another process was quicker.
    if ((await store.auditRecord(issued.id, ALL_OWNERS)) !== undefined) return undefined;
    throw error;
  }
  return receipt;
}

/** The texts that go, by id. */
function textsOf({ eventsGone, nodesGone }: ForgetPlan): ReadonlyMap<string, string> {
  return new Map([
    ...eventsGone.map(({ id, content }) => [id, content] as const),
    ...nodesGone.map(({ node }) => [node.id, node.content] as const),
  ]);
}

function methodOf(backend: Store["backend"], stage: Forgetting["stage"]): string {
  const isWhole = stage === "physical";
  if (backend === "postgres") return isWhole ? "deleted, and the tables vacuumed" : "deleted";
  return isWhole
    ? "overwritten in place, text index merged, all pages written again, log emptied"
    : "overwritten in place";
}
