import {
  type Cell,
  type RecordKind,
  type TransferRecord,
  vectorOf,
  withPlaces,
} from "../../../domain/records/rows.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import { EVENT_TABLE, NODE_TABLE } from "../../sql/rows.ts";
import { writeSetting } from "../../sql/settings.ts";
import { type Column, insertMany } from "../connection/insert-many.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { NO_OWNER, type OwnerKey, ownerKey } from "../owner-key.ts";
import { putVectors } from "../search/write-vectors.ts";
import { keysById } from "./record-source.ts";

type Records = readonly TransferRecord[];

const texts = (names: string): readonly Column[] => names.split(" ").map((name) => [name, "text"]);

const NUMBERED: readonly Column[] = [
  ["owner", "bigint"],
  ["key", "integer"],
];

type Place = { readonly table: string; readonly columns: readonly Column[] };

/** The rows that records become. */
const PLACES: Readonly<Record<Exclude<RecordKind, "vector" | "setting">, Place>> = {
  owner: {
    table: "owners",
    columns: [
      ["owner", "bigint"],
      ["user_id", "text"],
      ["version", "bigint"],
    ],
  },
  event: { table: "events", columns: [...NUMBERED, ...EVENT_TABLE] },
  blob: {
    table: "blobs",
    columns: [
      ["owner", "bigint"],
      ["size", "integer"],
      ["data", "bytea"],
      ...texts("key media_type created_at"),
    ],
  },
  blob_use: {
    table: "blob_uses",
    columns: [["owner", "bigint"], ["event_id", "uuid"], ...texts("blob")],
  },
  node: { table: "nodes", columns: [...NUMBERED, ...NODE_TABLE] },
  operation: {
    table: "operations",
    columns: [
      ["owner", "bigint"],
      ["id", "uuid"],
      ...texts("op_type target_id payload actor_id namespace_id created_at"),
    ],
  },
  erasure: {
    table: "erasures",
    columns: [
      ["owner", "bigint"],
      ["event_id", "uuid"],
      ["forget_id", "uuid"],
      ...texts("erased_at actor"),
    ],
  },
  edge: {
    table: "edges",
    columns: [
      ["owner", "bigint"],
      ["id", "uuid"],
      ["source", "uuid"],
      ["target", "uuid"],
      ["confidence", "double precision"],
      ["provenance_event_id", "uuid"],
      ...texts("edge_type valid_from valid_to metadata created_at"),
    ],
  },
  work: {
    table: "work",
    columns: [
      ["owner", "bigint"],
      ["subject", "integer"],
      ["event_id", "uuid"],
      ["attempts", "integer"],
      ["generation", "integer"],
      ...texts("kind lane status due payload last_error updated_at"),
    ],
  },
  receipt: {
    table: "receipts",
    columns: [
      ["owner", "bigint"],
      ["request_id", "uuid"],
      ["body", "bytea"],
      ...texts("user_id created_at"),
    ],
  },
  receipt_node: {
    table: "receipt_nodes",
    columns: [
      ["owner", "bigint"],
      ["request_id", "uuid"],
      ["node_id", "uuid"],
      ["rank", "integer"],
      ...texts("representation"),
    ],
  },
};

/** Writes records of one kind. Runs inside a transaction in which nobody else writes anything. */
export async function writeRecords(
  sql: Sql,
  kind: RecordKind,
  records: Records,
  embedding: EmbeddingIdentity,
): Promise<void> {
  if (kind === "setting") {
    for (const { name, value } of records)
      await run(sql, writeSetting(String(name), String(value)));
  } else if (kind === "vector") await writeOwnVectors(sql, records, embedding);
  else {
    const { table, columns } = PLACES[kind];
    const rows = await toRows(sql, kind, records);
    await insertMany(
      sql,
      table,
      columns,
      rows.map((row) => columns.map(([name]) => toValue(row[name]))),
    );
  }
}

/** Bytes as the server reads them from a list. */
function toValue(cell: Cell | undefined): string | number | null {
  return cell instanceof Uint8Array ? `\\x${cell.toHex()}` : (cell ?? null);
}

const ownerOf = ({ user_id: userId }: TransferRecord): OwnerKey =>
  typeof userId === "string" ? ownerKey(userId) : NO_OWNER;

async function toRows(sql: Sql, kind: RecordKind, records: Records): Promise<Records> {
  switch (kind) {
    case "event":
      return await numbered(sql, records, "next_event");
    case "node":
      return await numbered(sql, records, "next_key");
    case "operation": {
      const targets = records.map(({ target_id: target }) => target);
      const [events, nodes] = [
        await keysById(sql, "events", targets),
        await keysById(sql, "nodes", targets),
      ];
      const ownerOfTarget = (target: Cell = null): OwnerKey =>
        (nodes.get(target) ?? events.get(target))?.owner ?? NO_OWNER;
      return records.map((record) => ({ ...record, owner: ownerOfTarget(record["target_id"]) }));
    }
    case "erasure":
      return await erasureRows(sql, records);
    case "work":
      return await workRows(sql, records);
    case "edge":
      return records.map(({ source_id: source = null, target_id: target = null, ...record }) => {
        return { ...record, source, target, owner: ownerOf(record) };
      });
    default:
      return records.map((record) => ({ ...record, owner: ownerOf(record), version: 1 }));
  }
}

/** With the next numbers of their owners. */
async function numbered(
  sql: Sql,
  records: Records,
  counter: "next_key" | "next_event",
): Promise<Records> {
  const byOwner = Map.groupBy(records, ownerOf);
  const rows = await sql.all<{ owner: OwnerKey; first: number }>(
    `UPDATE owners o SET ${counter} = o.${counter} + u.count FROM unnest($1::bigint[], $2::integer[]) u (owner, count)
     WHERE o.owner = u.owner RETURNING o.owner, o.${counter} - u.count AS first`,
    listText(byOwner.keys()),
    listText(Array.from(byOwner.values(), ({ length }) => length)),
  );
  const next = new Map(rows.map(({ owner, first }) => [owner, first]));
  return records.map((record) => {
    const owner = ownerOf(record);
    const key = next.get(owner) ?? 0;
    next.set(owner, key + 1);
    return { ...record, owner, key };
  });
}

/** Of an event, with its owner: nobody knows any more whose an erased memory was. */
async function erasureRows(sql: Sql, records: Records): Promise<Records> {
  const events = await keysById(
    sql,
    "events",
    records.map(({ event_id: id }) => id),
  );
  return records.map((record) => ({
    ...record,
    owner: events.get(record["event_id"] ?? null)?.owner ?? NO_OWNER,
  }));
}

async function workRows(sql: Sql, records: Records): Promise<Records> {
  const events = await keysById(
    sql,
    "events",
    records.map(({ event_id: id }) => id),
  );
  const newest = new Set<Cell>();
  for (const record of records) {
    withPlaces(record, (place) => {
      newest.add(place);
      return place;
    });
  }
  const nodes = await keysById(sql, "nodes", newest);
  return records.map((record) => ({
    ...withPlaces(record, (place) => nodes.get(place)?.key ?? 0),
    owner: ownerOf(record),
    subject: events.get(record["event_id"] ?? null)?.key ?? 0,
  }));
}

async function writeOwnVectors(
  sql: Sql,
  records: Records,
  embedding: EmbeddingIdentity,
): Promise<void> {
  const nodes = await keysById(
    sql,
    "nodes",
    records.map(({ node_id: id }) => id),
  );
  for (const [owner, some] of Map.groupBy(records, ownerOf)) {
    const entries = some.map((record) => ({
      key: nodes.get(record["node_id"] ?? null)?.key ?? 0,
      contentHash: String(record["content_hash"]),
      vector: vectorOf(record["embedding"]),
    }));
    await putVectors(sql, owner, entries, embedding);
  }
}
