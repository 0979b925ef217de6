import { type RetrievalReceipt, receiptForm } from "../../../domain/records/receipt.ts";
import { type RetrievalRecord, recordForm } from "../../../domain/records/retrieval-record.ts";
import { type BitReader, createBitReader, createBitWriter } from "../../../lib/columnar/bits.ts";
import {
  ascendingIds,
  hexTexts,
  readInstant,
  toUuid,
  writeInstant,
} from "../../../lib/columnar/columns.ts";
import { readDifference, writeDifference } from "../../../lib/columnar/json-difference.ts";
import { at, flags, writeColumn } from "../../../lib/columnar/numbers.ts";
import type { Form } from "../../../lib/form.ts";
import type { Json, JsonObject } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { BuiltReceipt } from "../build.ts";
import { rankingOrder } from "../order.ts";
import { readCandidates, type StoredCandidate, writeCandidates } from "./candidates.ts";
import { readLists, writeLists } from "./lists.ts";
import { RECEIPT_PATTERN, RECORD_PATTERN } from "./patterns.ts";

const SIZE_ORDER = 8;
const requestIds = hexTexts(32);
const digests = hexTexts(64);

/**
 * A receipt and its record in few bytes. Candidates are written in id order, without their scores and ranks: both follow from the
 * rest, which is why only receipts without problems can be written.
 */
export function writeBody({ receipt, record }: BuiltReceipt): Uint8Array {
  const out = createBitWriter();
  const ids = namedIds(receipt, record);
  const stored = storedCandidates(receipt, record, ids);
  const head = toJson(receiptForm, { ...receipt, candidates: [], scoreProvenance: new Map() });
  requestIds.write(out, [receipt.requestId.replaceAll("-", "")]);
  writeInstant(out, receipt.referenceTime);
  digests.write(out, [receipt.contextSha256]);
  writeDifference(out, within(head, RECEIPT_PATTERN), RECEIPT_PATTERN);
  const recordHead = toJson(recordForm, { ...record, ...NO_MEMORIES });
  writeDifference(out, within(recordHead, RECORD_PATTERN), RECORD_PATTERN);
  out.count(ids.length, SIZE_ORDER);
  ascendingIds.write(out, ids);
  writeColumn(out, flags, ids, (id) => receipt.scoreProvenance.has(id));
  const { scoring = null } = head;
  writeCandidates(out, stored, { known: ids, scoring, kind: receipt.scoring.fusion.kind });
  const ranked = receipt.candidates.map(({ nodeId }) => nodeId);
  writeLists(out, record, { ranked: placed(ranked), known: placed(ids) });
  return out.finish();
}

/** Reads the output of `writeBody`. @throws RangeError, FormError for anything else */
export function readBody(bytes: Uint8Array): BuiltReceipt {
  const from = createBitReader(bytes);
  const { receipt: head, scoring } = readHead(from);
  const recordHead = readHeadOf(recordForm, readDifference(from, RECORD_PATTERN), {
    paths: [],
    context: [],
    not_packed: [],
    filtered_out: [],
    selected_out: [],
  });
  const ids = ascendingIds.read(from, from.count(SIZE_ORDER));
  const isCandidate = flags.read(from, ids.length);
  const stored = readCandidates(
    from,
    ids.filter((_, index) => isCandidate[index]),
    { known: ids, scoring, kind: head.scoring.fusion.kind },
  );
  const order = rankingOrder(head.rankingPolicy);
  const ranked = stored.sort((a, b) => order(a.candidate, b.candidate));
  const lists = readLists(
    from,
    ranked.map(({ candidate }) => candidate.nodeId),
    ids,
  );
  return {
    receipt: {
      ...head,
      candidates: ranked.map(({ candidate }) => candidate),
      scoreProvenance: new Map(
        ranked.map(({ candidate, provenance }) => [candidate.nodeId, provenance]),
      ),
    },
    record: { ...recordHead, ...lists, paths: ranked.map(({ paths }) => paths) },
  };
}

const NO_MEMORIES = { paths: [], context: [], notPacked: [], filteredOut: [], selectedOut: [] };

/** The candidates by ascending id. @param ids ascending, all candidates among them */
function storedCandidates(
  { candidates, scoreProvenance }: RetrievalReceipt,
  { paths }: RetrievalRecord,
  ids: readonly Uuid[],
): StoredCandidate[] {
  const places = new Map(candidates.map(({ nodeId }, place) => [nodeId, place]));
  const stored: StoredCandidate[] = [];
  for (const id of ids) {
    const place = places.get(id);
    const provenance = scoreProvenance.get(id);
    if (place === undefined || provenance === undefined) continue;
    stored.push({ candidate: at(candidates, place), provenance, paths: at(paths, place) });
  }
  return stored;
}

/** Every memory named in the receipt or the record, once, by ascending id. */
function namedIds({ scoreProvenance }: RetrievalReceipt, record: RetrievalRecord): readonly Uuid[] {
  const ids = new Set<Uuid>(scoreProvenance.keys());
  for (const { baseNodeId, adjustments } of scoreProvenance.values()) {
    ids.add(baseNodeId);
    for (const { sourceNodeId } of adjustments) if (sourceNodeId) ids.add(sourceNodeId);
  }
  for (const { foldedInto } of record.notPacked) if (foldedInto) ids.add(foldedInto);
  for (const { nodeId } of [...record.filteredOut, ...record.selectedOut]) ids.add(nodeId);
  return [...ids].sort();
}

function placed(ids: readonly Uuid[]) {
  return { ids, places: new Map(ids.map((id, place) => [id, place])) };
}

/** The members that the pattern has; the others are written separately. */
function within(json: JsonObject, pattern: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([key]) => Object.hasOwn(pattern, key)));
}

function readHead(from: BitReader): { receipt: RetrievalReceipt; scoring: Json } {
  const own = {
    request_id: toUuid(at(requestIds.read(from, 1), 0)),
    reference_time: readInstant(from),
    context_sha256: at(digests.read(from, 1), 0),
  };
  const rest = readDifference(from, RECEIPT_PATTERN);
  const receipt = readHeadOf(receiptForm, rest, {
    ...own,
    candidates: [],
    score_provenance: {},
  });
  return { receipt, scoring: asObject(rest)["scoring"] ?? null };
}

function toJson<T>(form: Form<T>, value: T): JsonObject {
  return asObject(form.json(value));
}

function readHeadOf<T>(form: Form<T>, json: Json | undefined, more: JsonObject): T {
  return form.read({ ...asObject(json), ...more }, "stored");
}

function asObject(json: Json | undefined): JsonObject {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new RangeError("the head is no object");
  }
  // SAFETY: what is neither null, nor a list, nor plain is an object; Array.isArray does not narrow readonly lists.
  return json as JsonObject;
}
