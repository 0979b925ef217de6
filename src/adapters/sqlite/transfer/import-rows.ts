import { type Database, SQLiteError } from "bun:sqlite";
import { z } from "zod";
import { SvcError } from "../../../domain/errors.ts";
import { BLOB_LIMIT_BYTES } from "../../../domain/node.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import { nameForm } from "../../../lib/text.ts";
import { asUuid } from "../../../lib/uuid.ts";
import { toIdBytes } from "../../sql/receipts.ts";
import { putVectors } from "../vectors/write-vectors.ts";
import { BLOB, FORMER_RECEIPT, RECEIPT, SECTIONS, type Section, VECTOR } from "./export-records.ts";
import { checkLine, type ImportLine, notAnExport } from "./import-lines.ts";

/** The model of a file's vectors. */
type Identity = { readonly model: string; readonly version: string; readonly dimension: number };

type Values = Readonly<Record<string, unknown>>;

/** Imports the records of one kind. */
type Taker = { readonly record: string; take(value: Values, line: ImportLine): void };

/** The error for the line of a record. */
type Fail = (reason: string) => SvcError;

/** Where a record comes from. */
type From = { readonly value: Values; readonly line: ImportLine };

/** The records of one kind. */
type Kind<T> = {
  readonly record: string;
  readonly schema: z.ZodType<T>;
  /** Members by which they ascend. */
  readonly order: readonly string[];
  readonly write: (record: T, fail: Fail, from: From) => void;
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
  return [
    ...SECTIONS.map((section) => {
      const taker = takerOf(name, rowsOf(database, section, keys));
      return isFormer && section.record === "owner" ? canonical(taker) : taker;
    }),
    isFormer ? takerOf(name, FORMER_RECEIPTS) : takerOf(name, receiptsOf(database, keys)),
    takerOf(name, blobsOf(database, name, keys, blobMaxBytes)),
    ...(vectors === undefined ? [] : [takerOf(name, vectorsOf(database, keys, vectors))]),
  ];
}

/** Development builds kept the names of owners as they were given. */
function canonical({ record, take }: Taker): Taker {
  const nameOf = (name: unknown) => (typeof name === "string" ? nameForm(name) : name);
  return {
    record,
    take: (owner, line) => take({ ...owner, user_id: nameOf(owner["user_id"]) }, line),
  };
}

/** Rejects records that are not in strictly ascending order, which also finds duplicates. */
function takerOf<T>(name: string, { record, schema, order, write }: Kind<T>): Taker {
  let last: readonly unknown[] | undefined;
  return {
    record,
    take: (value, line) => {
      const fail: Fail = (reason) => notAnExport(name, line.number, reason);
      const checked = checkLine(schema, value, line, name);
      const current = order.map((member) => value[member]);
      if (last !== undefined && !isBefore(last, current)) {
        throw fail(`${order.join(", ")}: does not come after the last one`);
      }
      last = current;
      try {
        write(checked, fail, { value, line });
      } catch (error) {
        // A duplicate id, or an owner or node without an earlier line.
        const code = error instanceof SQLiteError ? (error.code ?? "") : "";
        if (!code.startsWith("SQLITE_CONSTRAINT")) throw error;
        const reason = code.replace("SQLITE_", "").toLowerCase();
        throw fail(`it contradicts the lines before it (${reason})`);
      }
    },
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

function rowsOf(database: Database, section: Section, keys: GivenKeys): Kind<unknown> {
  const { record, table, order } = section;
  const columns = Object.keys(section.columns);
  const insert = database.query<unknown, (string | number | null)[]>(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  );
  return {
    record,
    schema: z.strictObject({ record: z.literal(record), ...section.columns }),
    order,
    // The parsed value, not the schema's result, so that no member of a JSON column is lost.
    write: (_, fail, { value }) => {
      if (!hasOwnHash(value)) throw fail("content_hash: is not the SHA-256 of content");
      insert.run(
        ...columns.map((column) =>
          toColumn(section, column, keys.valueOf(record, column, value[column])),
        ),
      );
    },
  };
}

function toColumn(section: Section, column: string, value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (section.json.includes(column)) return JSON.stringify(value);
  if (section.flags.includes(column)) return value === true ? 1 : 0;
  return typeof value === "number" ? value : String(value);
}

/** Whether the hash of a record with a content is that of it. */
export function hasOwnHash({ content, content_hash: hash }: Values): boolean {
  return typeof content !== "string" || hash === undefined || sha256Hex(content) === hash;
}

function receiptsOf(database: Database, keys: GivenKeys): Kind<z.infer<typeof RECEIPT>> {
  const insert = database.query(
    "INSERT INTO receipts (key, request_id, user_id, created_at, body) VALUES (?, ?, ?, ?, ?)",
  );
  const insertNode = database.query(
    `INSERT INTO receipt_nodes (receipt, node, rank, representation)
     SELECT ?1, key, ?3, ?4 FROM nodes WHERE key = ?2`,
  );
  return {
    record: "receipt",
    schema: RECEIPT,
    order: ["key"],
    write: (receipt, fail) => {
      const key = keys.give("receipt", receipt.key);
      const id = toIdBytes(asUuid(receipt.request_id));
      const body = Uint8Array.fromBase64(receipt.body);
      insert.run(key, id, receipt.user_id, receipt.created_at, body);
      for (const { node, rank, representation } of receipt.context) {
        const of = keys.of("node", node);
        if (insertNode.run(key, of, rank, representation).changes === 1) continue;
        throw fail("context: no earlier line has this node");
      }
    },
  };
}

/** Receipts of development builds are no longer readable. */
const FORMER_RECEIPTS: Kind<unknown> = {
  record: "receipt",
  schema: FORMER_RECEIPT,
  order: ["key"],
  write: () => {},
};

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

function blobsOf(
  database: Database,
  name: string,
  keys: GivenKeys,
  blobMaxBytes: number,
): Kind<z.infer<typeof BLOB>> {
  const insert = database.query(
    "INSERT INTO blobs (owner, key, media_type, size, data, created_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const use = database.query(
    "INSERT INTO blob_uses (event, blob) SELECT key, ?1 FROM events WHERE key = ?2 AND owner = ?3",
  );
  return {
    record: "blob",
    schema: BLOB,
    order: ["owner", "key"],
    write: (blob, fail, { line }) => {
      requireSmall(blob.data, blobMaxBytes, line, name);
      const { key } = blob;
      const owner = keys.of("owner", blob.owner);
      const data = Uint8Array.fromBase64(blob.data);
      insert.run(owner, key, blob.media_type, data.length, data, blob.created_at);
      for (const event of blob.events) {
        if (use.run(key, keys.of("event", event), owner).changes === 1) continue;
        throw fail("events: no earlier line has this event of the owner");
      }
    },
  };
}

function vectorsOf(
  database: Database,
  keys: GivenKeys,
  { identity, isUsable }: FileVectors,
): Kind<z.infer<typeof VECTOR>> {
  const known = database.query<{ key: number }, [number]>("SELECT key FROM nodes WHERE key = ?");
  return {
    record: "vector",
    schema: VECTOR,
    order: ["node_key"],
    write: (entry, fail) => {
      const key = keys.of("node", entry.node_key);
      if (known.get(key) === null) throw fail("node_key: no earlier line has this node");
      const bytes = Buffer.from(entry.embedding, "base64");
      if (bytes.length !== identity.dimension * Float32Array.BYTES_PER_ELEMENT) {
        throw fail(`embedding: is not ${identity.dimension} numbers`);
      }
      // A copy, because a view of floats must begin at a multiple of four.
      const vector = new Float32Array(new Uint8Array(bytes).buffer);
      if (!vector.every(Number.isFinite)) {
        throw fail("embedding: contains something that is not a number");
      }
      if (!isUsable) return;
      putVectors(database, [{ key, contentHash: entry.content_hash, vector }]);
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
