import type { Database } from "bun:sqlite";
import { type Needles, needlesOf } from "../../../domain/erasure.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { nextTurn, sharedPasses } from "../../../lib/pause.ts";
import type { ErasureScan } from "../../../ports/store/events.ts";
import { type ErasureHooks, noteSettled, readUnsettled } from "../../sql/erasure.ts";
import { type PackReceiptRow, toStoredReceipt } from "../../sql/receipts.ts";
import { run as runStep, statement, together } from "../../sql/statement.ts";
import { ask, userIdOf } from "../connection/ask.ts";
import { type PackLayout, schemasOf } from "../connection/layout.ts";
import { run } from "../connection/run.ts";
import type { PackAccess } from "../pack-access.ts";
import { erasing } from "../rewrite/rewrite-pages.ts";
import { documentNumber } from "../write/lexical-index.ts";

const NODES = "SELECT count(*) AS n FROM json_each($2) i CROSS JOIN nodes n ON n.id = i.value";
const VECTORS = statement(`${NODES} CROSS JOIN vectors v ON v.node_key = n.key`);
const DOCUMENTS = statement(
  `${NODES} CROSS JOIN lexical_documents_docsize d ON d.id = ${documentNumber("n.owner", "n.key")}`,
);
const UNSTAGE = statement("DELETE FROM vector_staging WHERE node_key = ANY ($1::integer[])");
const UNKEEP = statement("DELETE FROM vectors WHERE node_key = ANY ($1::integer[])");
const NEWEST = statement(
  "UPDATE erased_keys SET newest = max(newest, coalesce((SELECT max(value) FROM json_each($1)), 0))",
);

/** What erasures in a pack require of its files and indexes. */
export function erasureHooks(access: PackAccess, layout: PackLayout): ErasureHooks {
  return {
    erasing: (_userId, work) =>
      access.write((database) => erasing(database, () => run(database, work()))),
    vectors: VECTORS,
    documents: DOCUMENTS,
    release: (_owner, keys) =>
      together(runStep(UNSTAGE, keys), runStep(UNKEEP, keys), runStep(NEWEST, keys)),
    settle: sharedPasses((waitMs) => settle(access, waitMs)),
    scan: (texts, owner, questionOf = () => "") =>
      scan(access, layout, { texts, owner, questionOf }),
  };
}

/** Removes erased words from the segments of the text index, remains of moved or deleted rows from pages, and the log. */
async function settle(access: PackAccess, waitMs: number): Promise<boolean> {
  const unsettled = await access.read((database) => run(database, readUnsettled()));
  if (unsettled.length === 0) return true;
  const mark = (settled: readonly string[]) => (database: Parameters<typeof run>[0]) =>
    run(database, noteSettled(settled));
  const isPurged = await access.purge(mark([]), waitMs);
  if (isPurged) await access.write(mark(unsettled));
  return isPurged;
}

/** Bytes of a file above which its pages are not looked at, by a server and by an operator: they have to fit into memory. */
const BYTES_MAX = 2 ** 28;
const OPERATORS_BYTES_MAX = 2 ** 31;
/** Bytes, and rows, that are looked at before other work runs. */
const SLICE = 2 ** 16;
const ROWS = 100;
const HOLDERS_MAX = 100;

const OWNER = "(SELECT o.user_id FROM owners o WHERE o.owner = t.owner)";
/** Of the memory, or the event, that an operation is about; a citation is about an answer. */
const TARGETS_OWNER = `CASE t.op_type WHEN 'ANSWER_CITATIONS_RECORDED' THEN t.namespace_id ELSE
  (SELECT o.user_id FROM owners o WHERE o.owner = coalesce(
    (SELECT n.owner FROM nodes n WHERE n.id = t.target_id), (SELECT e.owner FROM events e WHERE e.id = t.target_id))) END`;

/** What an owner has, each table by its keys. `?1` is the user id, or null for all. */
const HELD = [
  ["events", "t.content || char(10) || coalesce(t.metadata, '')", OWNER],
  ["nodes", "t.content || char(10) || coalesce(t.metadata, '')", OWNER],
  ["edges", "t.metadata", OWNER],
  ["operations", "t.payload || char(10) || t.target_id", TARGETS_OWNER],
  ["(SELECT owner AS key, user_id AS id FROM owners)", "t.id", "t.id"],
].map(
  ([table, text, owner]) => `SELECT t.key, t.id, ${text} AS text FROM ${table} t
    WHERE t.key > ?2 AND (?1 IS NULL OR ${owner} = ?1) ORDER BY t.key LIMIT ${ROWS}`,
);

/** Their questions stand in them compressed. */
const RECEIPTS = `SELECT * FROM receipts WHERE key > ?2 AND (?1 IS NULL OR user_id = ?1) ORDER BY key LIMIT ${ROWS}`;

type Sought = {
  readonly texts: readonly string[];
  readonly owner: Owner;
  readonly questionOf: (body: Uint8Array) => string;
};

/** Looks for texts in what an owner has, and in every page, free ones too, as SQLite reads it: decrypted. */
async function scan(
  access: Pick<PackAccess, "read">,
  layout: PackLayout,
  { texts, owner, questionOf }: Sought,
): Promise<ErasureScan> {
  const needles = await needlesOf(texts);
  const held = await readHeld(access, needles, { owner, questionOf });
  const found = new Set<number>();
  let count = 0;
  let bytes = 0;
  for (const schema of schemasOf(layout)) {
    const image = await access.read((database) => imageOf(database, schema, owner));
    if (image === undefined) return { ...held, pages: undefined };
    await lookThrough(needles, image.bytes, found);
    count += image.pages;
    bytes += image.bytes.length;
  }
  return { ...held, pages: { count, bytes, found: [...found].sort((a, b) => a - b) } };
}

/** Whose things are meant, as a user id; null: everybody's, also where nobody else has anything. */
function whoseIn(database: Database, owner: Owner): string | null {
  const userId = userIdOf(owner);
  const others = "SELECT EXISTS (SELECT 1 FROM owners WHERE user_id <> ?)";
  return userId !== null && ask<number>(database, others, userId) === 1 ? userId : null;
}

/** Undefined: it has things of others, or is too large. */
function imageOf(database: Database, schema: string, owner: Owner) {
  if (whoseIn(database, owner) !== null) return undefined;
  const pages = ask<number>(database, `PRAGMA ${schema}.page_count`) ?? 0;
  const size = pages * (ask<number>(database, `PRAGMA ${schema}.page_size`) ?? 0);
  if (size > (isEverybody(owner) ? OPERATORS_BYTES_MAX : BYTES_MAX)) return undefined;
  return { pages, bytes: database.serialize(schema) };
}

async function lookThrough(needles: Needles, bytes: Uint8Array, found: Set<number>): Promise<void> {
  for (let at = 0; at < bytes.length; at += SLICE) {
    needles.look(bytes.subarray(at, at + SLICE + needles.longest), found);
    await nextTurn();
  }
}

async function readHeld(
  access: Pick<PackAccess, "read">,
  needles: Needles,
  { owner, questionOf }: Pick<Sought, "owner" | "questionOf">,
): Promise<Pick<ErasureScan, "held" | "heldBy">> {
  const held = new Set<number>();
  const heldBy = new Set<string>();
  const look = async (id: string, text: string): Promise<void> => {
    const places = new Set<number>();
    await lookThrough(needles, new TextEncoder().encode(text), places);
    for (const place of places) held.add(place);
    if (places.size > 0 && heldBy.size < HOLDERS_MAX) heldBy.add(id);
  };
  for (const sql of HELD) {
    for await (const { id, text } of rowsOf<HeldRow>(access, sql, owner))
      await look(id, text ?? "");
  }
  for await (const row of rowsOf<PackReceiptRow>(access, RECEIPTS, owner)) {
    const { requestId, body } = toStoredReceipt(row);
    await look(requestId, questionOf(body));
  }
  return { held, heldBy: [...heldBy] };
}

type HeldRow = { readonly key: number; readonly id: string; readonly text: string | null };

/** What one of the statements gives, some rows at a time. */
async function* rowsOf<Row extends { readonly key: number }>(
  access: Pick<PackAccess, "read">,
  sql: string,
  owner: Owner,
): AsyncGenerator<Row> {
  for (let after: number | undefined = -1; after !== undefined; ) {
    const since: number = after;
    const rows = await access.read((database) =>
      database.query<Row, [string | null, number]>(sql).all(whoseIn(database, owner), since),
    );
    yield* rows;
    after = rows.at(-1)?.key;
  }
}
