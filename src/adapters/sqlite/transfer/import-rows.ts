import { type Database, SQLiteError } from "bun:sqlite";
import { z } from "zod";
import { SvcError } from "../../../domain/errors.ts";
import { BLOB_LIMIT_BYTES } from "../../../domain/node.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import { asInstant } from "../../../lib/instant.ts";
import { nameForm } from "../../../lib/text.ts";
import { asUuid } from "../../../lib/uuid.ts";
import { toIdBytes } from "../../sql/receipts.ts";
import { putVectors } from "../vectors/write-vectors.ts";
import { BLOB, FORMER_RECEIPT, RECEIPT, SECTIONS, type Section, VECTOR } from "./export-records.ts";
import { checkLine, type ImportLine, notAnExport } from "./import-lines.ts";

/** The model of a file's vectors. */
type Identity = { readonly model: string; readonly version: string; readonly dimension: number };

/** Imports the records of one kind. */
type Taker = {
  readonly record: string;
  take(value: Readonly<Record<string, unknown>>, line: ImportLine): void;
};

/** The model of a file's vectors, and whether the new pack can use them. */
export type FileVectors = { readonly identity: Identity; readonly isUsable: boolean };

/** How a file is read. */
export type FileContent = {
  readonly vectors: FileVectors | undefined;
  /** Of one picture. */
  readonly blobMaxBytes: number;
  /** Whether a development build wrote it. */
  readonly isFormer: boolean;
};

/** The importers of a file's records, in the required order of kinds. */
export function createTakers(
  database: Database,
  name: string,
  { vectors, blobMaxBytes, isFormer }: FileContent,
): readonly Taker[] {
  const keys = new GivenKeys();
  const rows = [
    ...SECTIONS.map((section) => {
      const taker = createRowTaker(database, section, name, keys);
      return isFormer && section.record === "owner" ? canonical(taker) : taker;
    }),
    isFormer ? createFormerReceiptTaker(name) : createReceiptTaker(database, name, keys),
    createBlobTaker(database, name, keys, blobMaxBytes),
  ];
  return vectors === undefined ? rows : [...rows, createVectorTaker(database, name, keys, vectors)];
}

/** Development builds kept the names of owners as they were given. */
function canonical({ record, take }: Taker): Taker {
  const nameOf = (name: unknown) => (typeof name === "string" ? nameForm(name) : name);
  return {
    record,
    take: (owner, line) => take({ ...owner, user_id: nameOf(owner["user_id"]) }, line),
  };
}

function createRowTaker(
  database: Database,
  section: Section,
  name: string,
  keys: GivenKeys,
): Taker {
  const columns = Object.keys(section.columns);
  const schema = z.strictObject({ record: z.literal(section.record), ...section.columns });
  const insert = database.query<unknown, (string | number | null)[]>(
    `INSERT INTO ${section.table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  );
  const requireAscending = ascending(section.order, name);
  return {
    record: section.record,
    take: (value, line) => {
      checkLine(schema, value, line, name);
      requireAscending(value, line);
      requireContentHash(value, line, name);
      try {
        // The parsed value, not the schema's result, so that no member of a JSON column is lost.
        insert.run(
          ...columns.map((column) =>
            toColumn(section, column, keys.valueOf(section.record, column, value[column])),
          ),
        );
      } catch (error) {
        throw contradiction(error, line, name);
      }
    },
  };
}

function toColumn(section: Section, column: string, value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (section.json.includes(column)) return JSON.stringify(value);
  if (section.flags.includes(column)) return value === true ? 1 : 0;
  return typeof value === "number" ? value : String(value);
}

function requireContentHash(
  { content, content_hash: hash }: Readonly<Record<string, unknown>>,
  line: ImportLine,
  name: string,
): void {
  if (typeof content !== "string" || hash === undefined || sha256Hex(content) === hash) return;
  throw notAnExport(name, line.number, "content_hash: is not the SHA-256 of content");
}

/** Rejects records that are not in strictly ascending key order, which also finds duplicates. */
function ascending(
  order: readonly string[],
  name: string,
): (value: Readonly<Record<string, unknown>>, line: ImportLine) => void {
  let last: readonly unknown[] | undefined;
  return (value, line) => {
    const current = order.map((column) => value[column]);
    if (last !== undefined && !isBefore(last, current)) {
      throw notAnExport(name, line.number, `${order.join(", ")}: does not come after the last one`);
    }
    last = current;
  };
}

function isBefore(left: readonly unknown[], right: readonly unknown[]): boolean {
  for (const [index, value] of left.entries()) {
    const other = right[index];
    if (value === other) continue;
    return typeof value === "number" ? value < Number(other) : String(value) < String(other);
  }
  return false;
}

/** Errors of the tables: a duplicate id, or an owner or node without an earlier line. */
function contradiction(error: unknown, line: ImportLine, name: string): unknown {
  const isConstraint = error instanceof SQLiteError && error.code?.startsWith("SQLITE_CONSTRAINT");
  if (isConstraint !== true) return error;
  return notAnExport(
    name,
    line.number,
    `it contradicts the lines before it (${error.code?.replace("SQLITE_", "").toLowerCase()})`,
  );
}

function createReceiptTaker(database: Database, name: string, keys: GivenKeys): Taker {
  const insert = database.query(
    "INSERT INTO receipts (key, request_id, user_id, created_at, body) VALUES (?, ?, ?, ?, ?)",
  );
  const insertNode = database.query(
    `INSERT INTO receipt_nodes (receipt, node, rank, representation)
     SELECT ?1, key, ?3, ?4 FROM nodes WHERE key = ?2`,
  );
  const requireAscending = ascending(["key"], name);
  return {
    record: "receipt",
    take: (value, line) => {
      const receipt = checkLine(RECEIPT, value, line, name);
      requireAscending(value, line);
      const key = keys.give("receipt", receipt.key);
      const id = toIdBytes(asUuid(receipt.request_id));
      const body = Uint8Array.fromBase64(receipt.body);
      try {
        insert.run(key, id, receipt.user_id, receipt.created_at, body);
        for (const { node, rank, representation } of receipt.context) {
          const of = keys.of("node", node);
          if (insertNode.run(key, of, rank, representation).changes === 1) continue;
          throw notAnExport(name, line.number, "context: no earlier line has this node");
        }
      } catch (error) {
        throw contradiction(error, line, name);
      }
    },
  };
}

/** Receipts of development builds are no longer readable. */
function createFormerReceiptTaker(name: string): Taker {
  return {
    record: "receipt",
    take: (value, line) => void checkLine(FORMER_RECEIPT, value, line, name),
  };
}

/** The file's author chose its size: this program's limit applies. */
function requireSmall(data: string, blobMaxBytes: number, line: ImportLine, name: string): void {
  const bytes = Buffer.byteLength(data, "base64");
  if (bytes <= blobMaxBytes) return;
  const remedy =
    bytes > BLOB_LIMIT_BYTES ? "" : `; if you trust the file, set SVC_BLOB_MAX_BYTES=${bytes}`;
  throw new SvcError(
    "too_large",
    `${name}, line ${line.number}: data: a picture has ${bytes} bytes, at most ${blobMaxBytes} (setting blob_max_bytes). Nothing was imported${remedy}`,
    { path: name, line: line.number, max_bytes: blobMaxBytes },
  );
}

function createBlobTaker(
  database: Database,
  name: string,
  keys: GivenKeys,
  blobMaxBytes: number,
): Taker {
  const insert = database.query(
    "INSERT INTO blobs (owner, key, media_type, size, data, created_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const use = database.query(
    "INSERT INTO blob_uses (event, blob) SELECT key, ?1 FROM events WHERE key = ?2 AND owner = ?3",
  );
  const requireAscending = ascending(["owner", "key"], name);
  return {
    record: "blob",
    take: (value, line) => {
      const blob = checkLine(BLOB, value, line, name);
      requireAscending(value, line);
      requireSmall(blob.data, blobMaxBytes, line, name);
      const { key } = blob;
      const owner = keys.of("owner", blob.owner);
      const data = Uint8Array.fromBase64(blob.data);
      try {
        insert.run(owner, key, blob.media_type, data.length, data, blob.created_at);
        for (const event of blob.events) {
          if (use.run(key, keys.of("event", event), owner).changes === 1) continue;
          throw notAnExport(
            name,
            line.number,
            "events: no earlier line has this event of the owner",
          );
        }
      } catch (error) {
        throw contradiction(error, line, name);
      }
    },
  };
}

function createVectorTaker(
  database: Database,
  name: string,
  keys: GivenKeys,
  vectors: FileVectors,
): Taker {
  const { identity, isUsable } = vectors;
  const known = database.query<{ key: number }, [number]>("SELECT key FROM nodes WHERE key = ?");
  const requireAscending = ascending(["node_key"], name);
  return {
    record: "vector",
    take: (value, line) => {
      const entry = checkLine(VECTOR, value, line, name);
      requireAscending(value, line);
      const key = keys.of("node", entry.node_key);
      if (known.get(key) === null) {
        throw notAnExport(name, line.number, "node_key: no earlier line has this node");
      }
      const bytes = Buffer.from(entry.embedding, "base64");
      if (bytes.length !== identity.dimension * Float32Array.BYTES_PER_ELEMENT) {
        throw notAnExport(name, line.number, `embedding: is not ${identity.dimension} numbers`);
      }
      // A copy, because a view of floats must begin at a multiple of four.
      const vector = new Float32Array(new Uint8Array(bytes).buffer);
      if (!vector.every(Number.isFinite)) {
        throw notAnExport(name, line.number, "embedding: contains something that is not a number");
      }
      if (!isUsable) return;
      const { content_hash: contentHash, created_at: at } = entry;
      putVectors(database, [{ key, contentHash, vector, at: asInstant(at) }], identity);
    },
  };
}

/** Columns with the row's own key, and columns that refer to another row, by kind of record. */
const OWN: Readonly<Record<string, string>> = { owner: "owner" };
export const REFERENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  owner: {},
  edge: { owner: "owner", source: "node", target: "node" },
  job: { owner: "owner", event_key: "event" },
};
export const OWNED = { owner: "owner" } as const;

/** A key that no row has. */
const NOBODY = -1;

/** Maps the arbitrary keys of a file to those of a new pack: rows of a kind, which come in ascending order, are numbered from 1. */
class GivenKeys {
  readonly #files = new Map<string, number[]>();

  /** The value of a record's column in the pack. Called once for each own key. */
  valueOf(record: string, column: string, value: unknown): unknown {
    if (typeof value !== "number") return value;
    // SAFETY: a column that refers to nothing has no kind.
    const kind = (REFERENCES[record] ?? OWNED)[column as "owner"];
    if (kind !== undefined) return this.of(kind, value);
    return column === (OWN[record] ?? "key") ? this.give(record, value) : value;
  }

  /** The key of the next row of a kind. */
  give(kind: string, key: number): number {
    const keys = this.#files.get(kind) ?? [];
    this.#files.set(kind, keys);
    return keys.push(key);
  }

  /** The new key of a row in the file; an unused one if there is no such row. */
  of(kind: string, key: number): number {
    const keys = this.#files.get(kind) ?? [];
    let [from, to] = [0, keys.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((keys[middle] ?? 0) < key) from = middle + 1;
      else to = middle;
    }
    return keys[from] === key ? from + 1 : NOBODY;
  }
}
