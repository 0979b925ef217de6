import { openChecksummed } from "../../domain/checksummed.ts";
import type { Scope } from "../../domain/enums.ts";
import { erasedBy } from "../../domain/erasure.ts";
import type { MemoryEvent } from "../../domain/node.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import type { Instant } from "../../lib/instant.ts";
import { isJsonObject } from "../../lib/json.ts";
import { keyedHash, newSigningKey } from "../../lib/signing.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type { SourceEdge, SourcePart, SourceRecord } from "../../ports/sources.ts";
import type { Erasures } from "../../ports/store/events.ts";
import type { Browse } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { EngineDeps } from "../deps.ts";
import type { PlanStore } from "../forget/plan.ts";
import type { NamedRecords } from "../owners.ts";
import { allOf, recordPages } from "../pages.ts";
import type { StoreDeps } from "../write/store.ts";

export type ImportDeps = EngineDeps<
  StoreDeps["store"] & NamedRecords & PlanStore & Erasures & Browse
> & {
  readonly steps: StoreDeps["steps"];
  /** Aborted when the engine begins to close. */
  readonly closing: AbortSignal;
};

/** A call, with its arguments checked. */
export type Wish = {
  readonly userId: string;
  readonly since: Instant | undefined;
  readonly scope: Scope | undefined;
  readonly again: boolean;
  readonly dryRun: boolean;
  readonly sample: number;
  readonly importId: Uuid;
  readonly signal: AbortSignal;
};

/** A record without its secrets. */
export type Taken = {
  readonly record: SourceRecord;
  /** How many of each kind were replaced. */
  readonly secrets: Readonly<Record<string, number>>;
};

/** What an import did with a record. */
export type Found = Taken & {
  readonly state: "new" | "unchanged" | "changed" | "forgotten";
  readonly eventId: Uuid;
  /** The event whose text it replaces. */
  readonly replaces: Uuid | undefined;
};

/** The kind of the operations that list what an import admitted: one for each transaction. */
export const IMPORTED = "IMPORT";

/** All that is known of one source in a memory. */
export type Book = {
  readonly part: SourcePart;
  /** Named by the operations of all its imports. */
  readonly sourceId: Uuid;
  /** The owner's names, the current one first: ids may derive from a former one. */
  readonly names: readonly string[];
  /** Transactions so far; the next one gets its id from this, so that of two imports at once one waits for the other. */
  transactions: number;
  /** Events of records without ids, by key. Undefined until a record needs it. */
  keys: Map<string, Known> | undefined;
  /** The last bits of the ids of erased events without ids of their own. */
  readonly erased: Set<string>;
  secret: string | undefined;
  /** Equal texts of a run, to tell them apart. */
  readonly seen: Map<string, number>;
  readonly labels: Map<string, Uuid>;
  readonly edges: SourceEdge[];
  /** By session, once it was read: what hooks of assistants have stored of it, by role and text. */
  readonly captured: Map<string, ReadonlyMap<string, Uuid>>;
};

type Known = { readonly eventId: Uuid; readonly content: string };

const PAGE = 200;

export async function openBook(deps: ImportDeps, wish: Wish, part: SourcePart): Promise<Book> {
  const { store } = deps;
  const names = (await store.owners.names(wish.userId)).map(({ userId }) => userId);
  const current = names.length === 0 ? [wish.userId] : names;
  const oldest = current.at(-1) ?? wish.userId;
  const book: Book = {
    part,
    sourceId: uuidV5("url", JSON.stringify(["svc:import:v1", oldest, ...namesOf(part)])),
    names: current,
    transactions: 0,
    keys: undefined,
    erased: new Set(),
    secret: undefined,
    seen: new Map(),
    labels: new Map(),
    edges: [],
    captured: new Map(),
  };
  for await (const _ of recordsOf(deps, wish.userId, book.sourceId)) book.transactions += 1;
  return book;
}

/** The operations of imports that name a source, or a run. */
export async function* recordsOf(
  { store }: Pick<ImportDeps, "store">,
  userId: string,
  mentions: Uuid,
): AsyncGenerator<AuditRecord> {
  const pages = recordPages(store, { opType: IMPORTED, userId, mentions, limit: PAGE });
  for await (const items of pages) yield* items;
}

export function eventsIn({ payload }: AuditRecord): readonly Uuid[] {
  const ids = openChecksummed(payload)["event_ids"];
  return Array.isArray(ids) ? ids.map((id) => asUuid(String(id))) : [];
}

function namesOf({ source, instance }: SourcePart): readonly string[] {
  return [source.name, instance];
}

/** The id of an event whose source has ids. @param revision counts the texts that the record had */
export function idOf(book: Book, name: string, record: SourceRecord, revision: number): Uuid {
  const own = "id" in record.identity ? record.identity.id : [];
  const parts = ["svc:import:v1", name, ...namesOf(book.part), ...own];
  return uuidV5("url", JSON.stringify(revision === 0 ? parts : [...parts, `rev:${revision}`]));
}

/** What identifies a record without an id; kept in its event, and erased with it. */
export type Place = {
  readonly at: readonly (string | number)[];
  /** Whether the text is part of it. */
  readonly isOfText: boolean;
  /** Counts equal ones. */
  readonly turn: number;
};

export function keyOf({ at, isOfText, turn }: Place, content: string): string {
  return JSON.stringify([at, isOfText ? content : null, turn]);
}

const TAIL = 4;

/** Hexadecimal digits by which an erased record is recognised. */
export function tailOf({ secret, part }: Book, key: string): string {
  return keyedHash(secret ?? "-", JSON.stringify([...namesOf(part), key])).slice(0, TAIL);
}

/** A fresh id that ends in the tail of a key. */
export function idWithTail(id: Uuid, tail: string): Uuid {
  return asUuid(`${id.slice(0, -TAIL)}${tail}`);
}

/** Reads the keys of all records of a source without ids. */
export async function readKeys(deps: ImportDeps, wish: Wish, book: Book): Promise<void> {
  book.keys = new Map();
  for await (const record of recordsOf(deps, wish.userId, book.sourceId)) {
    await learn(deps, wish, book, eventsIn(record));
  }
  // Where something was erased there is a secret already: a trial writes nothing.
  if (wish.dryRun && book.erased.size === 0) return;
  book.secret = await deps.store.signingKey(await newSigningKey());
}

/** Adds events that were just admitted, by this import or another. */
export async function learn(
  deps: ImportDeps,
  wish: Wish,
  book: Book,
  ids: readonly Uuid[],
): Promise<void> {
  if (book.keys === undefined) return;
  const events = await allOf(ids, (some) => deps.store.eventsById(some, wish.userId));
  for (const id of ids) {
    const event = events.get(id);
    if (event === undefined) continue;
    if (erasedBy(event.metadata) !== undefined) book.erased.add(id.slice(-TAIL));
    const place = placeIn(event);
    if (place !== undefined) {
      book.keys.set(keyOf(place, event.content), { eventId: id, content: event.content });
    }
  }
}

function placeIn({ metadata }: MemoryEvent): Place | undefined {
  const about = metadata?.["import"];
  const place = isJsonObject(about) ? about["place"] : undefined;
  // SAFETY: `metadata.import.place` is written by imports alone, from a `Place`.
  return isJsonObject(place) ? (place as unknown as Place) : undefined;
}
