import { eventForm, nodeForm } from "../../domain/node.ts";
import {
  type Cell,
  COPIED_SETTINGS,
  named,
  RECORDS,
  type RecordKind,
  storedColumns,
  type TransferRecord,
  type Value,
  vectorCell,
  vectorOf,
  withPlaces,
} from "../../domain/records/rows.ts";
import { parseUuid } from "../../lib/uuid.ts";
import { COLUMNS, type Column, columns } from "./columns.ts";
import { type Dialect, sqlList } from "./dialect.ts";
import { fromIdBytes, toIdBytes } from "./receipts.ts";
import { writeSetting } from "./settings.ts";
import * as sql from "./statement.ts";

// The mapping between rows of a store and records.

type Records = readonly TransferRecord[];

/** The columns of each record in order, their sources, and a fixed order: within an owner, that of writing. */
function reads(
  d: Dialect,
): Readonly<Record<Exclude<RecordKind, "vector">, readonly [string, string, string]>> {
  const owner = `${d.join} owners o ON o.owner =`;
  const [edge, event, node] = d.isOwnerInKeys
    ? [
        ["e.source", "e.target", ""],
        ["u.event_id", ""],
        ["c.request_id", "c.node_id"],
      ]
    : [
        [
          "s.id",
          "t.id",
          "CROSS JOIN nodes s ON s.key = e.source CROSS JOIN nodes t ON t.key = e.target",
        ],
        ["e.id", "CROSS JOIN events e ON e.key = u.event"],
        ["r.request_id", "n.id"],
      ];
  const written = (table: string): string =>
    d.isOwnerInKeys ? `${table}.owner, ${table}.key` : `${table}.key`;
  const by = (server: string, pack: string): string => (d.isOwnerInKeys ? server : pack);
  return {
    owner: ["user_id", "owners", "owner"],
    event: [
      `o.user_id, e.id, ${named("e", storedColumns(eventForm))}`,
      `events e ${owner} e.owner`,
      written("e"),
    ],
    blob: [
      "o.user_id, b.key, b.media_type, b.size, b.data, b.created_at",
      `blobs b ${owner} b.owner`,
      "b.owner, b.key",
    ],
    blob_use: [
      `o.user_id, ${event[0]} AS event_id, u.blob`,
      `blob_uses u ${event[1]} ${owner} ${by("u.owner", "e.owner")}`,
      by("u.owner, u.event_id, u.blob", "u.event, u.blob"),
    ],
    node: [
      `o.user_id, n.id, ${named("n", storedColumns(nodeForm))}`,
      `nodes n ${owner} n.owner`,
      written("n"),
    ],
    operation: [RECORDS.operation.join(", "), "operations", "key"],
    erasure: [RECORDS.erasure.join(", "), "erasures", by("event_id", "key")],
    edge: [
      `e.id, ${edge[0]} AS source_id, ${edge[1]} AS target_id, e.edge_type, o.user_id, e.confidence, e.valid_from,
       e.valid_to, e.provenance_event_id, e.metadata, e.created_at`,
      `edges e ${owner} e.owner ${edge[2]}`,
      by("e.created_at, e.id", "e.key"),
    ],
    work: [
      `(SELECT o.user_id FROM owners o WHERE o.owner = w.owner) AS user_id, w.kind,
       ${by("w.event_id", "(SELECT e.id FROM events e WHERE e.key = w.subject)")} AS event_id, w.lane, w.status, w.due,
       w.attempts, w.generation, w.payload, w.last_error, w.updated_at, w.owner`,
      "work w",
      by("w.owner, w.subject, w.kind", "w.subject, w.kind, w.owner"),
    ],
    receipt: [RECORDS.receipt.join(", "), "receipts", by("created_at, request_id", "key")],
    receipt_node: [
      `r.user_id, ${node[0]} AS request_id, ${node[1]} AS node_id, c.rank, c.representation`,
      `receipt_nodes c ${by(
        "JOIN receipts r ON r.owner = c.owner AND r.request_id = c.request_id JOIN nodes n ON n.owner = c.owner AND n.id = c.node_id",
        "CROSS JOIN receipts r ON r.key = c.receipt CROSS JOIN nodes n ON n.key = c.node",
      )}`,
      by("c.owner, c.request_id, c.node_id", "c.node, c.receipt"),
    ],
    setting: [
      "name, value",
      `${by("settings", "pack_settings")} WHERE name IN ${sqlList(COPIED_SETTINGS)}`,
      "name",
    ],
  };
}

/** The query for one kind of records, as SQL. @param vectors those of the store's own model, for searched nodes */
export function readOf(
  d: Dialect,
  kind: RecordKind,
  vectors: readonly [columns: string, from: string, order: string],
): { readonly rows: string; readonly count: string } {
  const [columns, from, order] = kind === "vector" ? vectors : reads(d)[kind];
  return {
    rows: `SELECT ${columns} FROM ${from} ORDER BY ${order}`,
    count: `SELECT count(*)::float8 AS count FROM ${from}`,
  };
}

/** The records of rows from `readOf`. @param toVector the vector of a node's own text */
export function* toRecords(
  kind: RecordKind,
  rows: Records,
  toVector: (row: TransferRecord) => Float32Array,
): sql.Steps<Records> {
  if (kind === "vector") {
    return rows.map((row) => {
      const { user_id = null, node_id = null, content_hash = null } = row;
      return { user_id, node_id, content_hash, embedding: vectorCell(toVector(row)) };
    });
  }
  if (kind !== "work") return rows.map(plain);
  const records: TransferRecord[] = [];
  for (const { owner = null, ...row } of rows) {
    const ids = new Map<Value, Value>();
    for (const place of placesOf(row)) ids.set(place, yield* newestBefore(owner, place));
    records.push(withPlaces(row, (place) => ids.get(place) ?? null));
  }
  return records;
}

/** With ids as text and bytes as plain arrays, whatever the driver returns. */
function plain({ request_id: id, ...row }: TransferRecord): TransferRecord {
  const cells = Object.entries(row).map(([name, cell]): [string, Cell] => [
    name,
    cell instanceof Uint8Array ? new Uint8Array(cell) : cell,
  ]);
  const rest = Object.fromEntries(cells);
  if (id === undefined) return rest;
  return { ...rest, request_id: id instanceof Uint8Array ? fromIdBytes(id) : id };
}

function placesOf(row: TransferRecord): ReadonlySet<Value> {
  const places = new Set<Value>();
  withPlaces(row, (place) => {
    places.add(place);
    return place;
  });
  return places;
}

const NEWEST = sql.statement(
  (d) =>
    `SELECT n.id FROM nodes n WHERE ${d.free("n.owner")} = $1::bigint AND n.key <= $2 ORDER BY n.key DESC LIMIT 1`,
);

/** The id of the newest memory of an owner up to a key; null without one. */
function* newestBefore(owner: Cell, key: Value): sql.Steps<Value> {
  return (yield* sql.get<{ id: string }>(NEWEST, owner, key))?.id ?? null;
}

/** How a store receives the vectors of some nodes. */
export type PutVectors = (
  owner: sql.OwnerKey,
  entries: readonly {
    readonly key: number;
    readonly contentHash: string;
    readonly vector: Float32Array;
  }[],
) => sql.Steps<void>;

/** Writes records of one kind. Runs inside a transaction without other writers. */
export function* writeRecords(
  kind: RecordKind,
  records: Records,
  put: PutVectors,
): sql.Steps<void> {
  if (kind === "setting") {
    for (const { name, value } of records) yield* writeSetting(String(name), String(value));
    return;
  }
  if (kind === "vector") return yield* writeVectors(records, put);
  const table = tables(yield* sql.dialect())[kind];
  const rows = yield* toRows(kind, records);
  yield* sql.insert(
    table,
    rows.map((row) => table.columns.map(([name]) => row[name] ?? null)),
  );
}

const OWNER: Column = ["owner", "bigint"];
const ID: Column = ["id", "uuid"];

/** The rows of records. */
function tables({
  isOwnerInKeys,
}: Dialect): Readonly<Record<Exclude<RecordKind, "vector" | "setting">, sql.Table>> {
  const table = (name: string, ...keys: readonly (readonly Column[])[]): sql.Table => {
    return { name, columns: keys.flat() };
  };
  const by = (server: string, pack = ""): readonly Column[] => {
    const text = isOwnerInKeys ? server : pack;
    return text === "" ? [] : columns(text);
  };
  const whose = by("owner:bigint");
  const numbered = [[OWNER, ID], by("key:integer")] as const;
  return {
    owner: table("owners", columns("user_id"), by("owner:bigint version:bigint")),
    event: table("events", ...numbered, COLUMNS.event),
    blob: table("blobs", [OWNER], COLUMNS.blob),
    blob_use: table("blob_uses", by("owner:bigint event_id:uuid blob", "event:integer blob")),
    node: table("nodes", ...numbered, COLUMNS.node),
    operation: table("operations", whose, [ID], COLUMNS.operation),
    erasure: table("erasures", whose, COLUMNS.erasure),
    edge: table("edges", [OWNER, ID], columns("source:uuid target:uuid"), COLUMNS.edge),
    work: table("work", [OWNER], columns("subject:integer"), by("event_id:uuid"), COLUMNS.work),
    receipt: table("receipts", whose, columns("request_id:uuid"), COLUMNS.receipt),
    receipt_node: table(
      "receipt_nodes",
      by("owner:bigint request_id:uuid node_id:uuid", "receipt:integer node:integer"),
      COLUMNS.receipt_node,
    ),
  };
}

function* toRows(kind: RecordKind, given: Records): sql.Steps<Records> {
  const records = yield* withOwners(given);
  if (kind === "work") return yield* workRows(records);
  const { isOwnerInKeys } = yield* sql.dialect();
  return yield* isOwnerInKeys ? serverRows(kind, records) : packRows(kind, records);
}

function* serverRows(kind: RecordKind, records: Records): sql.Steps<Records> {
  if (kind === "event") return yield* numbered(records, "next_event");
  if (kind === "node") return yield* numbered(records, "next_key");
  if (kind === "operation" || kind === "erasure") return yield* ofTargets(records);
  if (kind !== "edge") return records;
  return records.map(({ source_id: source = null, target_id: target = null, ...row }) => {
    return { ...row, source, target };
  });
}

/** The rows of a pack refer to others by key. */
function* packRows(kind: RecordKind, records: Records): sql.Steps<Records> {
  if (kind === "receipt") return records.map((row) => ({ ...row, request_id: idBytes(row) }));
  if (kind === "receipt_node") return yield* contextRows(records);
  if (kind !== "edge" && kind !== "blob_use") return records;
  const named = records.flatMap((row) => [row["source_id"], row["target_id"], row["event_id"]]);
  const rows = yield* keysById(kind === "edge" ? "nodes" : "events", named);
  const keyOf = (id: Cell = null): Cell => rows.get(id)?.key ?? null;
  return records.map((row) => ({
    ...row,
    event: keyOf(row["event_id"]),
    source: keyOf(row["source_id"]),
    target: keyOf(row["target_id"]),
  }));
}

/** With the numbers of their owners; 0 for records without one. */
function* withOwners(records: Records): sql.Steps<Records> {
  const owners = new Map<Cell | undefined, sql.OwnerKey>();
  for (const { user_id: userId } of records) {
    if (typeof userId !== "string" || owners.has(userId)) continue;
    owners.set(userId, (yield* sql.ownerKey(userId)) ?? 0);
  }
  return records.map((row) => ({ ...row, owner: owners.get(row["user_id"]) ?? 0, version: 1 }));
}

/** With the next numbers of their owners, on a server. */
function* numbered(records: Records, counter: "next_key" | "next_event"): sql.Steps<Records> {
  const byOwner = Map.groupBy(records, (row) => String(row["owner"]));
  const rows = yield* sql.all<{ owner: sql.OwnerKey; first: number }>(
    `UPDATE owners o SET ${counter} = o.${counter} + u.count FROM unnest($1::bigint[], $2::integer[]) u (owner, count)
     WHERE o.owner = u.owner RETURNING o.owner, o.${counter} - u.count AS first`,
    [...byOwner.keys()],
    Array.from(byOwner.values(), ({ length }) => length),
  );
  const next = new Map(rows.map(({ owner, first }) => [String(owner), first]));
  return records.map((row) => {
    const owner = String(row["owner"]);
    const key = next.get(owner) ?? 0;
    next.set(owner, key + 1);
    return { ...row, key };
  });
}

/** With the owners of the objects they refer to. The owner of an erased memory is unknown. */
function* ofTargets(records: Records): sql.Steps<Records> {
  const targetOf = (row: TransferRecord): Cell => row["target_id"] ?? row["event_id"] ?? null;
  const targets = records.map(targetOf);
  const events = yield* keysById("events", targets);
  const nodes = yield* keysById("nodes", targets);
  return records.map((row) => {
    const target = targetOf(row);
    return { ...row, owner: (nodes.get(target) ?? events.get(target))?.owner ?? 0 };
  });
}

function* workRows(records: Records): sql.Steps<Records> {
  const events = yield* keysById(
    "events",
    records.map((row) => row["event_id"]),
  );
  const nodes = yield* keysById(
    "nodes",
    records.flatMap((row) => [...placesOf(row)]),
  );
  return records.map((row) => ({
    ...withPlaces(row, (place) => nodes.get(place)?.key ?? 0),
    subject: events.get(row["event_id"] ?? null)?.key ?? 0,
  }));
}

const idBytes = (row: TransferRecord): Uint8Array => toIdBytes(String(row["request_id"]));

const RECEIPT = sql.statement("SELECT key FROM receipts WHERE request_id = $1");

function* contextRows(records: Records): sql.Steps<Records> {
  const nodes = yield* keysById(
    "nodes",
    records.map((row) => row["node_id"]),
  );
  const rows: TransferRecord[] = [];
  for (const row of records) {
    const receipt = yield* sql.get<{ key: number }>(RECEIPT, idBytes(row));
    const node = nodes.get(row["node_id"] ?? null);
    if (receipt !== undefined && node !== undefined)
      rows.push({ ...row, receipt: receipt.key, node: node.key });
  }
  return rows;
}

function* writeVectors(records: Records, put: PutVectors): sql.Steps<void> {
  const nodes = yield* keysById(
    "nodes",
    records.map((row) => row["node_id"]),
  );
  const owned = yield* withOwners(records);
  for (const some of Map.groupBy(owned, (row) => row["owner"]).values()) {
    const owner = some[0]?.["owner"];
    const entries = some.map((row) => ({
      key: nodes.get(row["node_id"] ?? null)?.key ?? 0,
      contentHash: String(row["content_hash"]),
      vector: vectorOf(row["embedding"]),
    }));
    yield* put(typeof owner === "number" ? owner : String(owner), entries);
  }
}

/** A row of another table. */
type Place = { readonly owner: sql.OwnerKey; readonly key: number };
const BY_ID = {
  nodes: sql.statement("SELECT id, owner, key FROM nodes WHERE id = ANY ($1::uuid[])"),
  events: sql.statement("SELECT id, owner, key FROM events WHERE id = ANY ($1::uuid[])"),
};

/** Nodes or events by their ids. */
function* keysById(
  table: keyof typeof BY_ID,
  ids: Iterable<Cell | undefined>,
): sql.Steps<ReadonlyMap<Cell, Place>> {
  const wanted = new Set<string>();
  for (const id of ids) if (typeof id === "string" && parseUuid(id) === id) wanted.add(id);
  if (wanted.size === 0) return new Map();
  const rows = yield* sql.all<{ id: string } & Place>(BY_ID[table], [...wanted]);
  return new Map(rows.map(({ id, ...place }) => [id, place]));
}
