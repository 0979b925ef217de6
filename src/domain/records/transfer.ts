import type { JsonObject } from "../../lib/json.ts";
import { edgeForm } from "../edge.ts";
import { eventForm } from "../event.ts";
import { nodeForm } from "../node.ts";
import { auditRecordForm } from "./audit.ts";
import { storedColumns, type Value } from "./rows.ts";

/*
 * What a store holds, as records that every store reads and writes alike: the rows of its tables, which name others by their ids.
 * How a store numbers its rows, and what it derives from them, is its own.
 */

/** Text, a number, null, or bytes. JSON is text, a flag is 0 or 1. */
export type Cell = Value | Uint8Array;
export type TransferRecord = Readonly<Record<string, Cell>>;

const namesOf = (form: { readonly members: readonly { readonly name: string }[] }) =>
  form.members.map(({ name }) => name);

/** The kinds of records and their cells, in an order in which a record follows those that it names. */
export const RECORDS = {
  owner: ["user_id"],
  event: ["user_id", "id", ...storedColumns(eventForm)],
  blob: ["user_id", "key", "media_type", "size", "data", "created_at"],
  /** Which event names a blob of its owner. */
  blob_use: ["user_id", "event_id", "blob"],
  node: ["user_id", "id", ...storedColumns(nodeForm)],
  operation: namesOf(auditRecordForm),
  /** What an event, or a memory without one, was erased by. */
  erasure: ["event_id", "forget_id", "erased_at", "actor"],
  edge: namesOf(edgeForm),
  /** Without its lease, which is true for one machine at one moment. `user_id` null: all owners; `event_id` null: comes again. */
  work: [
    ...[
      "user_id",
      "kind",
      "event_id",
      "lane",
      "status",
      "due",
      "attempts",
      "generation",
      "payload",
    ],
    ...["last_error", "updated_at"],
  ],
  receipt: ["user_id", "request_id", "created_at", "body"],
  /** A memory in the context of an answer. */
  receipt_node: ["user_id", "request_id", "node_id", "rank", "representation"],
  /** The vector of the text of a memory that is searched: 32-bit floats, the lowest byte first. */
  vector: ["user_id", "node_id", "content_hash", "embedding"],
  setting: ["name", "value"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type RecordKind = keyof typeof RECORDS;
// SAFETY: the keys of the table.
export const RECORD_KINDS = Object.keys(RECORDS) as readonly RecordKind[];

/** What becomes of a table when its store is moved into another one: it is copied, or left out for a reason. */
export type TableUse =
  /** `own`: columns by which this store alone finds its rows, or which are derived. */
  { readonly kind: RecordKind; readonly own: readonly string[] } | { readonly leftOut: string };

/** The use of a table that is made again from other records. */
export const derived = (from: string): TableUse => ({ leftOut: `derived from ${from}` });

/** What a store says about itself and takes from another one, besides its manifest. */
export const COPIED_SETTINGS = ["owner", "forget_signing_key"] as const;

/** Work that says how far a job has come through the memories of an owner; see `Organizing.walkPlace`. */
const WALK = "walk:";
/** Members of a walk's place that are numbers of memories. */
const PLACES = ["seen", "upTo"] as const;

/**
 * Work with the places of a walk named otherwise: a store numbers its memories, so that a record names the newest of them by its id.
 * @param rename gets a number or an id; null: before the first
 */
export function withPlaces(
  { kind, payload, ...rest }: TransferRecord,
  rename: (place: Value) => Value,
): TransferRecord {
  if (typeof kind !== "string" || !kind.startsWith(WALK) || typeof payload !== "string") {
    return { kind: kind ?? null, payload: payload ?? null, ...rest };
  }
  const place: JsonObject = JSON.parse(payload);
  for (const name of PLACES) {
    const value = place[name];
    if (value === null || typeof value === "number" || typeof value === "string") {
      Object.assign(place, { [name]: rename(value) });
    }
  }
  return { kind, payload: JSON.stringify(place), ...rest };
}

/** A cell of bytes; none for any other cell. */
export function bytesOf(cell: Cell | undefined): Uint8Array {
  return cell instanceof Uint8Array ? cell : new Uint8Array();
}

/** The vector in a cell of 32-bit floats. */
export function vectorOf(cell: Cell | undefined): Float32Array {
  // A copy, because a view of floats must begin at a multiple of four.
  return new Float32Array(bytesOf(cell).slice().buffer);
}

/** A vector as a cell. Not every store knows a negative zero, to which rounding may lead. */
export function vectorCell(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.map((value) => value + 0).buffer);
}

/** Records of a page at most, and bytes or UTF-16 units after which it ends. */
export const PAGE_RECORDS = 500;
const PAGE_SIZE = 2_000_000;

/** Collects records into pages of bounded size. */
export class TransferPage {
  records: TransferRecord[] = [];
  #size = 0;

  add(record: TransferRecord): void {
    this.records.push(record);
    for (const cell of Object.values(record)) {
      if (cell !== null && typeof cell !== "number") this.#size += cell.length;
    }
  }

  get isFull(): boolean {
    return this.records.length >= PAGE_RECORDS || this.#size >= PAGE_SIZE;
  }
}
