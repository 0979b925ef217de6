import { parseId, parseOptionalText, parseOwner } from "../../domain/arguments.ts";
import { checksummed, openChecksummed } from "../../domain/checksummed.ts";
import { FORGOTTEN, RECEIPT_ISSUED } from "../../domain/erasure.ts";
import { invalid } from "../../domain/errors.ts";
import { ALL_OWNERS, isEverybody } from "../../domain/owner.ts";
import { sha256OfJson, uuidV5 } from "../../lib/hashing.ts";
import { asInstant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import {
  commitTo,
  committedTo,
  newSigningKey,
  publicKeyOf,
  signed,
  signerOf,
} from "../../lib/signing.ts";
import { asUuid, parseUuid, type Uuid } from "../../lib/uuid.ts";
import type { ErasureCounts, Erasures } from "../../ports/store/events.ts";
import type { AuditLog, AuditRecord } from "../../ports/store/records.ts";
import type { Store } from "../../ports/store/store.ts";
import type { EngineDeps } from "../deps.ts";
import type { NamedRecords } from "../owners.ts";
import { recordPages } from "../pages.ts";
import type { ForgetCheck, Forgetting, ForgetVerification } from "./api.ts";
import { type ForgetPlan, isErased, lookFor, type PlanStore } from "./plan.ts";

const RECEIPT_FORMAT = "svc-forget-receipt";
const RECEIPT_VERSION = 1;

type ReceiptStore = AuditLog & Erasures & Pick<Store, "backend" | "admit">;
export type ReceiptDeps = Pick<EngineDeps<ReceiptStore>, "store" | "clock" | "features">;

/** Copies that no store can reach. */
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

/** Makes the receipt and records its hash. Without a plan it commits to no text. Undefined: there already is one. */
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
    // Another process was first.
    if ((await store.auditRecord(issued.id, ALL_OWNERS)) !== undefined) return undefined;
    throw error;
  }
  return receipt;
}

/** The erased texts by id. */
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

const PAGE = 1000;
const NO_BLOBS: Pick<ErasureCounts, "blobs"> = { blobs: 0 };

type ForgettingStore = NamedRecords & AuditLog & Pick<Erasures, "erasureStage">;

/** Id of the record with the hash. */
function receiptRecordId(forgetId: Uuid): Uuid {
  return uuidV5(forgetId, "svc:forget-receipt:v1");
}

async function newestReceipt(store: AuditLog, userId: string): Promise<string | undefined> {
  const issued = await recordsOf(store, RECEIPT_ISSUED, userId);
  const last = issued.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)).at(-1);
  return last && hashIn(last);
}

function hashIn({ payload }: AuditRecord): string | undefined {
  const hash = openChecksummed(payload)["sha256"];
  return typeof hash === "string" ? hash : undefined;
}

async function recordsOf(store: AuditLog, opType: string, userId: string): Promise<AuditRecord[]> {
  return (await Array.fromAsync(recordPages(store, { opType, userId, limit: PAGE }))).flat();
}

export function toErased({
  payload,
}: AuditRecord): Pick<Forgetting, "events" | "memories" | "counts"> {
  const record = openChecksummed(payload);
  const idsIn = (name: string): readonly Uuid[] =>
    [record[name] ?? []].flat().map((id) => asUuid(String(id)));
  return {
    events: idsIn("events"),
    memories: idsIn("nodes"),
    // SAFETY: `erase` wrote them, and the checksum matches; earlier programs knew no blobs.
    counts: { ...NO_BLOBS, ...(record["counts"] as Omit<ErasureCounts, "blobs">) },
  };
}

/** Under any name the owner has had. */
export async function recordOf(
  store: NamedRecords,
  id: Uuid,
  userId: string | undefined | null,
): Promise<AuditRecord | undefined> {
  const record = await store.auditRecord(id, ALL_OWNERS);
  if (record?.opType !== FORGOTTEN) return undefined;
  const owner = parseOwner(userId);
  if (isEverybody(owner)) return record;
  const names = await store.owners.names(owner);
  return names.some((name) => name.userId === record.namespaceId) ? record : undefined;
}

export async function getForgetting(
  { store }: { readonly store: ForgettingStore },
  forgetId: string,
  userId: string | null | undefined,
): Promise<Forgetting | undefined> {
  const record = await recordOf(store, parseId(forgetId, "forget_id"), userId);
  return record && toForgetting(store, record);
}

/** Newest first. */
export async function listForgettings(
  { store }: { readonly store: ForgettingStore },
  userId: string,
): Promise<readonly Forgetting[]> {
  const records = await recordsOf(store, FORGOTTEN, userId);
  const all = await Promise.all(records.map((record) => toForgetting(store, record)));
  return all.sort((a, b) => (a.forgottenAt < b.forgottenAt ? 1 : -1));
}

export async function toForgetting(
  store: ForgettingStore,
  record: AuditRecord,
): Promise<Forgetting> {
  const issued = await store.auditRecord(receiptRecordId(record.id), ALL_OWNERS);
  return {
    forgetId: record.id,
    stage: await store.erasureStage(record.id),
    actorId: record.actorId,
    forgottenAt: asInstant(record.createdAt),
    ...toErased(record),
    receiptSha256: issued && hashIn(issued),
  };
}

type VerifyStore = PlanStore & ReceiptStore;

export async function verifyForgetting(
  {
    store,
    isReadOnly = false,
  }: { readonly store: VerifyStore; readonly isReadOnly?: boolean | undefined },
  given: unknown,
  typed: string | null | undefined,
): Promise<ForgetVerification> {
  const receipt = receiptIn(given);
  const text = parseOptionalText(typed, "text");
  const forgetId = parseUuid(String(receipt["forget_id"]));
  if (forgetId === undefined) throw invalid("receipt", "names no forgetting");
  const checks: ForgetCheck[] = [];
  const check = (name: string, ok: boolean, detail: string): void => {
    checks.push({ name, ok, detail });
  };
  const signer = await signerOf(receipt);
  check(
    "signature",
    signer !== undefined,
    signer === undefined ? "the receipt was changed" : "the receipt is as it was signed",
  );
  if (!isReadOnly) {
    const own = publicKeyOf(await store.signingKey(await newSigningKey()));
    const isOwn = signer === own;
    check(
      "signer",
      isOwn,
      isOwn ? "signed with the key that is kept here" : "signed with another key",
    );
  }
  const issued = await store.auditRecord(receiptRecordId(forgetId), ALL_OWNERS);
  const noted = issued && openChecksummed(issued.payload);
  const isNoted = noted?.["sha256"] === sha256OfJson(receipt);
  check(
    "log",
    isNoted,
    isNoted ? "the log has this receipt" : "the log has no receipt, or another one",
  );
  const left = await leftOf(store, receipt);
  check(
    "erased",
    left.length === 0,
    left.length === 0 ? "nothing that it names is there" : `still there: ${left.join(", ")}`,
  );
  const stage = await store.erasureStage(forgetId);
  check("stage", stage === "physical", `the erasure is ${stage}`);
  if (text !== undefined) await checkText(store, receipt, text, check);
  return { ok: checks.every(({ ok }) => ok), checks };
}

function receiptIn(given: unknown): JsonObject {
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  if (!isObject || Reflect.get(given, "format") !== RECEIPT_FORMAT) {
    throw invalid("receipt", `is not a ${RECEIPT_FORMAT}`);
  }
  // SAFETY: it was parsed from JSON, or is checked against a signature of its JSON.
  return given as JsonObject;
}

function idsIn(receipt: JsonObject, name: string): readonly Uuid[] {
  const erased = receipt["erased"];
  const list: unknown =
    typeof erased === "object" && erased !== null ? Reflect.get(erased, name) : [];
  return Array.isArray(list) ? list.flatMap((id) => parseUuid(String(id)) ?? []) : [];
}

/** What a receipt claims is gone but is not. */
async function leftOf(store: VerifyStore, receipt: JsonObject): Promise<readonly string[]> {
  const left: string[] = [];
  for (const id of idsIn(receipt, "events")) {
    const event = await store.event(id, ALL_OWNERS);
    if (event !== undefined && !isErased(event)) left.push(`event ${id}`);
  }
  for (const id of idsIn(receipt, "nodes")) {
    if ((await store.node(id, ALL_OWNERS)) !== undefined) left.push(`memory ${id}`);
  }
  return left;
}

async function checkText(
  store: VerifyStore,
  receipt: JsonObject,
  text: string,
  check: (name: string, ok: boolean, detail: string) => void,
): Promise<void> {
  const ids = committedTo(receipt["commitment"], text);
  check(
    "text",
    ids.length > 0,
    ids.length > 0 ? `it is the text of ${ids.join(", ")}` : otherTexts(receipt),
  );
  const found = await lookFor(store, [text], ALL_OWNERS);
  if (typeof found?.["hits"] !== "number") {
    check("scan", true, "this store cannot look at its pages");
    return;
  }
  const { pages, hits, kept_elsewhere: elsewhere } = found;
  const kept = Array.isArray(elsewhere) && elsewhere.length > 0;
  const beside = kept ? `; parts of it are in what was kept: ${elsewhere.join(", ")}` : "";
  check("scan", hits === 0, `${String(hits)} pieces of it in ${String(pages)} pages${beside}`);
}

function otherTexts({ commitment }: JsonObject): string {
  return commitment === null
    ? "the receipt was made when the texts were gone, and cannot tell"
    : "the receipt is about other texts";
}
