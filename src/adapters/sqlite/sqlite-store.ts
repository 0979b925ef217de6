import type { Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { ALL_OWNERS, type Owner } from "../../domain/owner.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { StoreState } from "../../ports/store/graph.ts";
import type { PackLock, Store } from "../../ports/store/store.ts";
import type { Clock } from "../../ports/system.ts";
import { bindAdmission } from "../sql/admission.ts";
import { bindAudit, bindChanges } from "../sql/audit.ts";
import { bindBlobs } from "../sql/blobs.ts";
import { bindBrowse } from "../sql/browse.ts";
import { addNodes, change } from "../sql/change.ts";
import { bindEdges } from "../sql/edges.ts";
import { bindErasures } from "../sql/erasure.ts";
import { bindEventReads, readStates } from "../sql/events.ts";
import { bindExtraction } from "../sql/extraction.ts";
import { bindJobs } from "../sql/jobs.ts";
import { knownMemories } from "../sql/known.ts";
import { bindKeyed, bindNodes } from "../sql/nodes.ts";
import { bindOrganizing } from "../sql/organizing.ts";
import { bindOwners } from "../sql/owners.ts";
import { bindReceipts } from "../sql/receipts.ts";
import { bindTableSearches } from "../sql/searches.ts";
import { isOfModel, requireManifest, requireModel } from "../sql/settings.ts";
import { bindUpkeep } from "../sql/upkeep.ts";
import { bindWork, newHolder } from "../sql/work.ts";
import { ask } from "./connection/ask.ts";
import type { PackLayout } from "./connection/layout.ts";
import { accessOf, run } from "./connection/run.ts";
import { erasureHooks } from "./erasure/erasures.ts";
import { knownHooks } from "./extraction/known.ts";
import { handOver } from "./owners/move-owner.ts";
import type { PackAccess } from "./pack-access.ts";
import { nearNodes, readyForNear } from "./read/near-nodes.ts";
import { searchText } from "./read/search-text.ts";
import { cosines, keptEntries, ownVectors, searchVectors } from "./read/search-vectors.ts";
import { createIndexRebuild } from "./rebuild/rebuild.ts";
import { putParts, readTextsWithoutParts } from "./vectors/parts.ts";
import { findStaleEntries, indexWrites, removeStaleEntries } from "./write/change.ts";

export type SqliteStoreParts = {
  readonly access: PackAccess;
  readonly layout: PackLayout;
  /** The model that the caller uses. */
  readonly embedding: EmbeddingIdentity;
  readonly isEncrypted: boolean;
  readonly clock: Clock;
};

export type OpenPack = Store & PackLock;

export function createSqliteStore(parts: SqliteStoreParts): OpenPack {
  // SAFETY: the key of a node is its row number; it is created here alone, and callers only hand it back.
  return storeOf(parts) as unknown as OpenPack;
}

function storeOf(parts: SqliteStoreParts): Store<number> & PackLock {
  const { access, clock, embedding } = parts;
  const roles = accessOf(access);
  const holder = newHolder();
  const worker = { holder, clock };
  const indexes = indexWrites(embedding);
  const hooks = { now: () => clock.now(), indexes };
  const manifest = () => roles.read(ALL_OWNERS, requireManifest);
  return {
    backend: "sqlite",
    rebuild: createIndexRebuild({ ...parts, ...access, worker }),
    owners: bindOwners(roles, clock, handOver),
    manifest,
    hasModel: (identity) => roles.read(ALL_OWNERS, () => isOfModel(identity)),
    ...bindAdmission(roles, { worker, hooks }),
    change: (reads, decide) =>
      roles.writeAny(() => change(reads, decide, { ...hooks, mayAdd: true })),
    ...bindNodes(roles),
    ...bindKeyed({ ...roles, held: access.held }),
    ...bindEdges(roles),
    ...bindBrowse(roles),
    ...bindEventReads(roles),
    ...bindState(parts),
    ...bindSearches(parts),
    ...bindTableSearches(roles),
    ...bindWork(roles, worker),
    ...bindJobs(roles, worker, indexes),
    ...bindUpkeep(roles),
    ...bindSweeps(access),
    ...bindExtraction(roles, worker, indexes),
    knownMemories: (lookup) =>
      access.read((database) =>
        database.transaction(() => run(database, knownMemories(lookup, knownHooks)))(),
      ),
    ...bindOrganizing(roles),
    ...bindBlobs(roles),
    ...bindErasures(roles, { ...erasureHooks(access, parts.layout), indexes }),
    addNodes: (items) => roles.writeAny(() => addNodes(items, indexes)),
    ...bindReceipts(roles),
    ...bindAudit(roles),
    ...bindChanges(roles),
    lock: access.lock,
    unlock: access.unlock,
    close: access.close,
  };
}

type OnDatabase<A extends readonly unknown[], T> = (database: Database, ...args: A) => T;
type Bound<A extends readonly unknown[], T> = (...args: A) => Promise<T>;

function reading<A extends readonly unknown[], T>(
  { read }: PackAccess,
  use: OnDatabase<A, T>,
): Bound<A, T> {
  return (...args) => read((database) => use(database, ...args));
}

function bindState({ access, isEncrypted }: SqliteStoreParts) {
  const opening = randomBytes(4).toString("hex");
  return {
    storeState: (owner) =>
      access.read((database) => readStoreState(database, owner, { isEncrypted, opening })),
  } satisfies Partial<Store>;
}

function bindSearches({ access, embedding }: SqliteStoreParts) {
  /** In one snapshot: otherwise another process could change the model between the check and the read. */
  const readVectors: PackAccess["read"] = (work) =>
    access.read((database, resident) =>
      database.transaction(() => {
        run(database, requireModel(embedding));
        return work(database, resident);
      })(),
    );
  return {
    searchVectors: (vector, filter, k) =>
      readVectors((database, resident) => searchVectors(database, vector, filter, k, resident)),
    nearNodes: (vector, question, choose) =>
      readVectors((database, resident) => nearNodes(database, vector, question, choose, resident)),
    readyForNear: (userId) =>
      readVectors((database, resident) => readyForNear(database, userId, resident)),
    cosines: (vector, userId, keys) =>
      readVectors((database) => cosines(database, vector, userId, keys)),
    ownVectors: (userId, keys) => readVectors((database) => ownVectors(database, userId, keys)),
    keptEntries: reading(access, keptEntries),
    putParts: (texts) =>
      access.write((database) => {
        run(database, requireModel(embedding));
        putParts(database, texts);
      }),
    textsWithoutParts: reading(access, readTextsWithoutParts),
    searchText: (query, filter, k, others = []) =>
      access.read((database) => searchText(database, query, filter, { k, others })),
  } satisfies Partial<Store<number>>;
}

function bindSweeps({ read, write }: PackAccess) {
  return {
    sweepIndexes: async (owner, limit) => {
      const stale = await read((database) => findStaleEntries(database, owner));
      if (limit === 0 || stale.length === 0) return { found: stale.length, removed: 0 };
      const some = stale.slice(0, limit);
      const removed = await write((database) => removeStaleEntries(database, some));
      return { found: stale.length, removed };
    },
  } satisfies Partial<Store>;
}

/** Numbers of queried connections, so that two of them never give the same sequence. */
const connections = new WeakMap<Database, number>();
let connected = 0;

/**
 * A text that changes with every commit, in any process: the version counts those of other connections, the changes those of this one.
 * @param opening differs for each process
 */
function changeSequence(database: Database, opening: string): string {
  let number = connections.get(database);
  if (number === undefined) {
    connected += 1;
    number = connected;
    connections.set(database, number);
  }
  const others = ask<number>(database, "PRAGMA data_version") ?? 0;
  return `${opening}-${number}-${others}-${ask<number>(database, "SELECT total_changes()") ?? 0}`;
}

/** The files of a pack, and the owner's data in it. */
function readStoreState(
  database: Database,
  of: Owner,
  given: { readonly isEncrypted: boolean; readonly opening: string },
): StoreState {
  return {
    changeSequence: changeSequence(database, given.opening),
    bytes: bytesOf(database),
    isEncrypted: given.isEncrypted,
    ...run(database, readStates(of)),
  };
}

/** Of all files of the pack. */
function bytesOf(database: Database): number {
  const files = database.query<{ name: string }, []>("PRAGMA database_list").all();
  return files
    .map(({ name }) => {
      const pages = ask<number>(database, `PRAGMA ${name}.page_count`) ?? 0;
      return pages * (ask<number>(database, `PRAGMA ${name}.page_size`) ?? 0);
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}
