import type { Database } from "bun:sqlite";
import { bytesPerVector, type Kernel, Slab } from "../../native/kernel.ts";
import { countRows } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";
import { CHUNK_ROWS, vectorOfRow } from "./exact.ts";

/** Maximum bytes of all slabs of a store. */
const BUDGET = 256 * 2 ** 20;
/** Changes read one by one; beyond that, all of the owner's vectors are reloaded. */
const CHANGES_MAX = 5000;
/** Owners whose last question is recorded. */
const ASKED_MAX = 10_000;

/**
 * In-memory vectors of active owners. They are loaded with an owner's second question, so that a process with one question does not load
 * them all, and kept current with other connections' and processes' commits. The least recently active owners are evicted.
 */
export class ResidentVectors {
  readonly #slabs = new Map<number, Slab>();
  readonly #asked = new Set<number>();
  readonly #budget: number;

  /** @param budget bytes */
  constructor(budget = BUDGET) {
    this.#budget = budget;
  }

  /**
   * An owner's vectors as of the connection's snapshot, possibly with some removed since. Undefined if not held: too soon, too large, or
   * without the library. Runs inside a read transaction.
   */
  slabOf(database: Database, owner: number, dimension: number): Slab | undefined {
    const kernel = kernelOn(database);
    if (kernel === undefined || !this.#hasAsked(owner)) return undefined;
    const revision = newestRevision(database, owner);
    const held = this.#slabs.get(owner);
    const slab =
      held?.dimension === dimension && held.revision >= revision
        ? held
        : refreshed(database, owner, held, {
            kernel,
            dimension,
            revision,
            rowsMax: Math.floor(this.#budget / bytesPerVector(dimension)),
          });
    if (held !== slab) held?.wipe();
    this.#slabs.delete(owner);
    if (slab === undefined) return undefined;
    // A map iterates in insertion order.
    this.#slabs.set(owner, slab);
    this.#makeRoom();
    return slab;
  }

  /** Updates an owner's vectors if they are held, in preparation for a question. */
  refresh(database: Database, owner: number): void {
    const held = this.#slabs.get(owner);
    if (held !== undefined) this.slabOf(database, owner, held.dimension);
  }

  /** Bytes that are held. */
  get byteLength(): number {
    let bytes = 0;
    for (const slab of this.#slabs.values()) bytes += slab.byteLength;
    return bytes;
  }

  /** Overwrites and drops everything. */
  clear(): void {
    for (const slab of this.#slabs.values()) slab.wipe();
    this.#slabs.clear();
    this.#asked.clear();
  }

  #hasAsked(owner: number): boolean {
    if (this.#asked.has(owner)) return true;
    if (this.#asked.size >= ASKED_MAX) this.#asked.clear();
    this.#asked.add(owner);
    return false;
  }

  #makeRoom(): void {
    let bytes = this.byteLength;
    for (const [owner, slab] of this.#slabs) {
      if (bytes <= this.#budget || this.#slabs.size === 1) return;
      bytes -= slab.byteLength;
      slab.wipe();
      this.#slabs.delete(owner);
    }
  }
}

type Refresh = {
  readonly kernel: Kernel;
  readonly dimension: number;
  readonly revision: number;
  readonly rowsMax: number;
};

/** The newest change among an owner's vectors; -1 if there is none. */
function newestRevision(database: Database, owner: number): number {
  const row = database
    .query<{ newest: number | null }, [number]>(
      "SELECT max(revision) AS newest FROM vector_metadata WHERE owner = ?",
    )
    .get(owner);
  return row?.newest ?? -1;
}

/** The slab with all changes applied, or a new one; undefined if the owner's vectors cannot be held. */
function refreshed(
  database: Database,
  owner: number,
  held: Slab | undefined,
  target: Refresh,
): Slab | undefined {
  const { kernel, dimension, revision, rowsMax } = target;
  const known = held?.dimension === dimension ? held : undefined;
  const changes = countChanges(database, owner, known?.revision ?? -1, CHANGES_MAX + 1);
  const isFew = changes <= CHANGES_MAX;
  const count = isFew
    ? (known?.count ?? 0) + changes
    : countChanges(database, owner, -1, rowsMax + 1);
  if (count > rowsMax) return undefined;
  const slab = isFew && known !== undefined ? known : new Slab(kernel, dimension, count);
  const isRead = isFew ? readChanges(database, owner, slab) : readAll(database, owner, slab);
  if (!isRead) return undefined;
  slab.revision = revision;
  return slab;
}

/** The number of an owner's vectors that changed after a revision, up to the relevant limit. */
function countChanges(database: Database, owner: number, after: number, most: number): number {
  const changed = "(SELECT 1 FROM vector_metadata WHERE owner = ? AND revision > ? LIMIT ?)";
  return countRows(database, changed, owner, after, most);
}

type ChangeRow = { readonly key: number; readonly vector: Uint8Array | null };

/** Applies changes after the slab's revision. @returns false if the slab is unusable */
function readChanges(database: Database, owner: number, slab: Slab): boolean {
  const { dimension } = slab;
  const changes = database
    .query<ChangeRow, [number, number]>(
      `SELECT m.node_key AS key, ${vectorOfRow(database, dimension)} AS vector
       FROM vector_metadata m CROSS JOIN vectors_rowids r ON r.rowid = m.node_key
       WHERE m.owner = ? AND m.revision > ?`,
    )
    .all(owner, slab.revision);
  const vectors = new Float32Array(changes.length * dimension);
  for (const [index, { vector }] of changes.entries()) {
    if (vector === null) return false;
    vectors.set(floatsOf(vector), index * dimension);
  }
  const keys = changes.map(({ key }) => key);
  if (slab.count > 0) slab.remove(keys);
  return slab.append(keys, vectors);
}

type ChunkRow = {
  readonly rowids: Uint8Array;
  readonly validity: Uint8Array;
  readonly vectors: Uint8Array;
};

/**
 * Reads all of an owner's vectors directly from the index's storage, in chunks of 64: the number of a row's node as 64 bits, whether the
 * row is in use as one bit, and the vectors. Reading them through the index takes five times as long.
 * @returns false if the slab is unusable
 */
function readAll(database: Database, owner: number, slab: Slab): boolean {
  const chunks = database.prepare<ChunkRow, [number]>(
    `SELECT c.rowids, c.validity, v.vectors FROM vectors_chunks c
       CROSS JOIN vectors_vector_chunks00 v ON v.rowid = c.chunk_id WHERE c.partition00 = ?`,
  );
  try {
    for (const chunk of chunks.iterate(owner)) {
      if (!takeChunk(slab, chunk)) return false;
    }
  } finally {
    chunks.finalize();
  }
  return true;
}

function takeChunk(slab: Slab, { rowids, validity, vectors }: ChunkRow): boolean {
  const { dimension } = slab;
  const floats = floatsOf(vectors);
  const isOfSize = floats.length === CHUNK_ROWS * dimension && rowids.length === CHUNK_ROWS * 8;
  if (!isOfSize) return false;
  const view = new DataView(rowids.buffer, rowids.byteOffset, rowids.byteLength);
  const keys: number[] = [];
  const kept = new Float32Array(floats.length);
  for (let row = 0; row < CHUNK_ROWS; row += 1) {
    const isInUse = ((validity[row >> 3] ?? 0) >> (row & 7)) & 1;
    if (isInUse === 0) continue;
    kept.set(floats.subarray(row * dimension, (row + 1) * dimension), keys.length * dimension);
    keys.push(Number(view.getBigInt64(row * 8, true)));
  }
  return slab.append(keys, kept.subarray(0, keys.length * dimension));
}

function floatsOf(bytes: Uint8Array): Float32Array {
  // A view of floats must begin at a multiple of four.
  const aligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
}
