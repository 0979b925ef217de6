import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { Edge } from "../../domain/edge.ts";
import { SvcError } from "../../domain/errors.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { LEASE_SECONDS, type ProcessingStatus } from "../../domain/jobs.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import { isSameEmbedding } from "../../domain/same-embedding.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EmbeddingIdentity } from "../../ports/embedder.ts";
import type { AuditRecordPage, AuditRecordsOnTarget } from "../../ports/store/audit-log.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ChangeReads, Decide } from "../../ports/store/changes.ts";
import type { Admission, EventPage } from "../../ports/store/event-log.ts";
import type {
  ChainRead,
  ExpiredRead,
  NeighborhoodRead,
  NodeFilter,
  NodeScan,
} from "../../ports/store/graph.ts";
import type { Manifest } from "../../ports/store/manifest.ts";
import type { Owners } from "../../ports/store/owners.ts";
import type { PackLock } from "../../ports/store/pack-lock.ts";
import type { Page } from "../../ports/store/page.ts";
import type { IndexRebuild } from "../../ports/store/rebuild.ts";
import type { StoredReceipt } from "../../ports/store/receipt-log.ts";
import type {
  GraphReach,
  Hit,
  IndexedNode,
  KeyedNode,
  SessionWindow,
} from "../../ports/store/search-index.ts";
import type { Store } from "../../ports/store/store.ts";
import type { ExtractionJob, Materialization } from "../../ports/store/work-queue.ts";
import type { PackLayout } from "./connection/layout.ts";
import { processIdentity } from "./connection/process-identity.ts";
import { createOwners } from "./owners/owners.ts";
import type { PackAccess } from "./pack-access.ts";
import { readAuditRecord, readAuditRecords, readAuditRecordsOn } from "./read/audit-records.ts";
import { readChain } from "./read/chain.ts";
import { readEventsById, readNodesCiting } from "./read/citing.ts";
import { readContradictionsAmong, readContradictionsOf } from "./read/contradiction-edges.ts";
import { readContradictions } from "./read/contradictions.ts";
import { readExpired } from "./read/expired.ts";
import { readExtractionJob } from "./read/extraction-job.ts";
import { nearNodes, readyForNear } from "./read/near-nodes.ts";
import { readNeighborhood } from "./read/neighborhood.ts";
import { readPinned } from "./read/pinned.ts";
import {
  countEvents,
  countNodes,
  readEvent,
  readEvents,
  readNode,
  readNodes,
  readNodesById,
  readNodesByKey,
  readSessionWindows,
} from "./read/read.ts";
import { readScan } from "./read/scan-nodes.ts";
import { searchGraph } from "./read/search-graph.ts";
import { searchText } from "./read/search-text.ts";
import { cosines, ownVectors, searchVectors } from "./read/search-vectors.ts";
import { createIndexRebuild, requireModel } from "./rebuild/rebuild.ts";
import { packBody } from "./receipts/receipt-row.ts";
import { pruneReceipts, readReceipt, writeReceipt } from "./receipts/receipts.ts";
import { readManifest } from "./schema/manifest.ts";
import { addNodes } from "./write/add-nodes.ts";
import { writeAdmission } from "./write/admit.ts";
import { change } from "./write/change.ts";
import { claimJobs, countJobs, failJobs, jobStatus, leaseJobs } from "./write/jobs.ts";
import { materializeAll, withoutVector } from "./write/materialize.ts";
import { finishWork, type Lease, leaseOf, renewWork, takeWork } from "./write/work.ts";

export type SqliteStoreParts = {
  readonly access: PackAccess;
  readonly layout: PackLayout;
  /** The model that the caller uses. */
  readonly embedding: EmbeddingIdentity;
  readonly clock: Clock;
};

let stores = 0;

/** An open pack: its store, and its lock. */
export type OpenPack = Store & PackLock;

/** The store over one SQLite pack. */
export function createSqliteStore(parts: SqliteStoreParts): OpenPack {
  // SAFETY: the key of a node is the number of its row; nobody else makes one or does anything with it but hand it back.
  return new SqliteStore(parts) as unknown as OpenPack;
}

class SqliteStore implements Store<number>, PackLock {
  readonly backend = "sqlite";
  readonly rebuild: IndexRebuild<number>;
  readonly owners: Owners;
  readonly #parts: SqliteStoreParts;
  /** Differs for each store, so that two of one process do not take each other for themselves. */
  readonly #holder: string;

  constructor(parts: SqliteStoreParts) {
    this.#parts = parts;
    stores += 1;
    this.#holder = `${processIdentity()}|${stores}`;
    this.rebuild = createIndexRebuild({ ...parts, ...parts.access, holder: this.#holder });
    this.owners = createOwners(parts.access, parts.clock);
  }

  async manifest(): Promise<Manifest> {
    const manifest = await this.#read(readManifest);
    if (manifest === undefined) throw new SvcError("internal", "the pack has no manifest");
    return manifest;
  }

  async hasModel(identity: EmbeddingIdentity): Promise<boolean> {
    return isSameEmbedding((await this.manifest()).embedding, identity);
  }

  admit(admission: Admission): Promise<void> {
    return this.#write((database) => this.#admit(database, admission));
  }

  admitOnce(admission: Admission, guard: Uuid): Promise<AuditRecord | undefined> {
    return this.#write((database) => {
      const existing = readAuditRecord(database, guard);
      if (existing === undefined) this.#admit(database, admission);
      return existing;
    });
  }

  change<T>(reads: ChangeReads, decide: Decide<T>): Promise<T> {
    return this.#write((database) => change(database, reads, decide, this.#parts.clock.now()));
  }

  claimJobs: Store["claimJobs"] = (userId, limit, isDueOnly = false) =>
    this.#write((database) => claimJobs(database, userId, { limit, isDueOnly }, this.#lease()));

  renewJobs(eventIds: readonly Uuid[]): Promise<void> {
    return this.#write((database) =>
      leaseJobs(database, eventIds, this.#holder, this.#lease().until),
    );
  }

  releaseJobs(eventIds: readonly Uuid[]): Promise<void> {
    return this.#write((database) => leaseJobs(database, eventIds, this.#holder, undefined));
  }

  materialize(items: readonly Materialization[]): Promise<readonly ProcessingStatus[]> {
    return this.#write((database) => {
      const { embedding } = this.#parts;
      // Another process may have changed the model since these vectors were made.
      const isOfModel = isSameEmbedding(readManifest(database)?.embedding, embedding);
      materializeAll(database, isOfModel ? items : items.map(withoutVector), embedding);
      return items.flatMap(({ eventId }) => jobStatus(database, eventId, undefined) ?? []);
    });
  }

  addNodes(items: readonly IndexedNode[]): Promise<void> {
    return this.#write((database) => {
      const { embedding } = this.#parts;
      requireModel(database, embedding);
      addNodes(database, items, embedding);
    });
  }

  failJobs: Store["failJobs"] = (eventIds, reason, at, generation) =>
    this.#write((database) => failJobs(database, eventIds, reason, at, generation));

  jobStatus(eventId: Uuid, userId: string | undefined): Promise<ProcessingStatus | undefined> {
    return this.#read((database) => jobStatus(database, eventId, userId));
  }

  countJobs(userId: string | undefined): Promise<{ pending: number; failed: number }> {
    return this.#read((database) => countJobs(database, userId));
  }

  event(id: Uuid, owner: Owner): Promise<MemoryEvent | undefined> {
    return this.#read((database) => readEvent(database, id, owner));
  }

  events(page: EventPage): Promise<readonly MemoryEvent[]> {
    return this.#read((database) => readEvents(database, page));
  }

  node(id: Uuid, owner: Owner): Promise<MemoryNode | undefined> {
    return this.#read((database) => readNode(database, id, owner));
  }

  queryNodes(filter: NodeFilter): Promise<readonly MemoryNode[]> {
    return this.#read((database) => readNodes(database, filter));
  }

  async scanNodes(page: NodeScan): Promise<Page<MemoryNode>> {
    const found = await this.#read((database) => readScan(database, page));
    // A caller that reads page after page lets the rest of the process run in between.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return found;
  }

  neighborhood(read: NeighborhoodRead): Promise<readonly MemoryNode[]> {
    return this.#read((database) => readNeighborhood(database, read));
  }

  chain(read: ChainRead): Promise<readonly MemoryNode[]> {
    return this.#read((database) => readChain(database, read));
  }

  expired(read: ExpiredRead): Promise<readonly MemoryNode[]> {
    return this.#read((database) => readExpired(database, read));
  }

  nodesCiting(eventId: Uuid, owner: Owner): Promise<readonly MemoryNode[]> {
    return this.#read((database) => readNodesCiting(database, eventId, owner));
  }

  eventsById(ids: readonly Uuid[], owner: Owner): Promise<Page<MemoryEvent>> {
    return this.#read((database) => readEventsById(database, ids, owner));
  }

  contradictionsAmong(userId: string, nodeIds: readonly Uuid[]): Promise<readonly Edge[]> {
    return this.#read((database) => readContradictionsAmong(database, userId, nodeIds));
  }

  contradictionsOf(nodeId: Uuid, owner: Owner): Promise<readonly Edge[]> {
    return this.#read((database) => readContradictionsOf(database, nodeId, owner));
  }

  takeWork: Store["takeWork"] = (work, isDueOnly) =>
    this.#write((database) => takeWork(database, work, isDueOnly, this.#lease()));

  renewWork: Store["renewWork"] = (claim) =>
    this.#write((database) => renewWork(database, claim, this.#lease()));

  finishWork: Store["finishWork"] = (claim, outcome) =>
    this.#write((database) => finishWork(database, claim, outcome, this.#parts.clock.now()));

  extractionJob(eventId: Uuid, userId: string | undefined): Promise<ExtractionJob | undefined> {
    return this.#read((database) => readExtractionJob(database, eventId, userId));
  }

  countNodes(owner: Owner): Promise<number> {
    return this.#read((database) => countNodes(database, owner));
  }

  countEvents(owner: Owner): Promise<number> {
    return this.#read((database) => countEvents(database, owner));
  }

  searchVectors(
    vector: Float32Array,
    filter: CandidateFilter,
    k: number,
  ): Promise<readonly Hit<number>[]> {
    return this.#readVectors((database, resident) =>
      searchVectors(database, vector, filter, k, resident),
    );
  }

  nearNodes: Store<number>["nearNodes"] = (vector, question, choose) =>
    this.#readVectors((database, resident) =>
      nearNodes(database, vector, question, choose, resident),
    );

  readyForNear: Store<number>["readyForNear"] = (userId) =>
    this.#readVectors((database, resident) => readyForNear(database, userId, resident));

  cosines(
    vector: Float32Array,
    userId: string,
    keys: readonly number[],
  ): Promise<readonly Hit<number>[]> {
    return this.#readVectors((database) => cosines(database, vector, userId, keys));
  }

  ownVectors: Store<number>["ownVectors"] = (userId, keys) =>
    this.#readVectors((database) => ownVectors(database, userId, keys));

  /** In one snapshot: otherwise another process could change the model between the check and the read. */
  readonly #readVectors: PackAccess["read"] = (work) =>
    this.#read((database, resident) =>
      database.transaction(() => {
        requireModel(database, this.#parts.embedding);
        return work(database, resident);
      })(),
    );

  searchText(
    query: string,
    filter: CandidateFilter,
    k: number,
    others: readonly number[] = [],
  ): Promise<readonly Hit<number>[]> {
    return this.#read((database) => searchText(database, query, filter, { k, others }));
  }

  searchGraph(
    names: readonly string[],
    filter: CandidateFilter,
    reach: GraphReach,
  ): Promise<readonly Hit<number>[]> {
    return this.#read((database) => searchGraph(database, names, filter, reach));
  }

  pinned(filter: CandidateFilter): Promise<readonly number[]> {
    return this.#read((database) => readPinned(database, filter));
  }

  contradictions(userId: string, keys: readonly number[]): Promise<ReadonlyMap<number, Uuid>> {
    return this.#read((database) => readContradictions(database, userId, keys));
  }

  nodesById(userId: string, ids: readonly Uuid[]): Promise<readonly KeyedNode<number>[]> {
    return this.#read((database) => readNodesById(database, userId, ids));
  }

  nodesByKey(userId: string, keys: readonly number[]): Promise<readonly KeyedNode<number>[]> {
    return this.#read((database) => readNodesByKey(database, userId, keys));
  }

  sessionWindows(
    userId: string,
    keys: readonly number[],
    span: number,
  ): Promise<ReadonlyMap<number, SessionWindow<number>>> {
    return this.#read((database) => readSessionWindows(database, userId, keys, span));
  }

  saveReceipt(receipt: StoredReceipt): Promise<void> {
    // Before the transaction, for which others wait.
    const body = packBody(receipt.body);
    return this.#write((database) => writeReceipt(database, receipt, body));
  }

  receipt(requestId: Uuid, owner: Owner): Promise<StoredReceipt | undefined> {
    return this.#read((database) => readReceipt(database, requestId, owner));
  }

  pruneReceipts(before: Instant, limit: number): Promise<number> {
    return this.#write((database) => pruneReceipts(database, before, limit));
  }

  auditRecordsOf(page: AuditRecordPage): Promise<Page<AuditRecord>> {
    return this.#read((database) => readAuditRecords(database, page));
  }

  auditRecord(id: Uuid): Promise<AuditRecord | undefined> {
    return this.#read((database) => readAuditRecord(database, id));
  }

  auditRecordsOn(page: AuditRecordsOnTarget): Promise<Page<AuditRecord>> {
    return this.#read((database) => readAuditRecordsOn(database, page));
  }

  lock(): Promise<void> {
    return this.#parts.access.lock();
  }

  unlock(key: string): Promise<void> {
    return this.#parts.access.unlock(key);
  }

  close(): Promise<void> {
    return this.#parts.access.close();
  }

  #write<T>(work: (database: Database) => T): Promise<T> {
    return this.#parts.access.write(work);
  }

  #read: PackAccess["read"] = (work) => this.#parts.access.read(work);

  #admit(database: Database, admission: Admission): void {
    const lease = this.#lease();
    writeAdmission(database, admission, admission.leaseJobs ? lease : undefined, lease.from);
  }

  #lease(): Lease {
    return leaseOf(this.#holder, this.#parts.clock.now(), LEASE_SECONDS);
  }
}
