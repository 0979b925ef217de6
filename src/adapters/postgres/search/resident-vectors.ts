import { type Kernel, loadKernel } from "../../native/kernel.ts";
import { bytesPerVector, Slab } from "../../native/slab.ts";
import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";
import { readHalfRows } from "./vector-bytes.ts";

/** Memories of an owner up to which the server compares every vector. */
const COMPARED_MAX = 20_000;
/** Maximum bytes of all slabs of a store. */
const BUDGET = 256 * 2 ** 20;
/** Vectors that are read at once. */
const READ_AT_ONCE = 2000;
/** Changes that are applied one by one; if there are more, all of the owner's vectors are read again. */
const CHANGES_MAX = 5000;

/**
 * The vectors of owners with many memories, in memory: rows of bytes that a search compares first. They are kept current with what
 * any process has committed: each vector carries the version of its owner of which it is. The owners who have not asked for longest
 * are evicted.
 */
export class ResidentVectors {
  readonly #large = new Set<OwnerKey>();
  readonly #slabs = new Map<OwnerKey, Slab>();
  readonly #busy = new Map<OwnerKey, Promise<unknown>>();
  readonly #comparedMax: number;

  /** @param comparedMax memories of an owner up to which none of the owner's vectors are held */
  constructor(comparedMax = COMPARED_MAX) {
    this.#comparedMax = comparedMax;
  }

  isLarge(owner: OwnerKey): boolean {
    return this.#large.has(owner);
  }

  noteSize(owner: OwnerKey, memories: number): void {
    if (memories > this.#comparedMax) this.#large.add(owner);
    else if (this.#large.delete(owner)) this.#slabs.delete(owner);
  }

  /**
   * The vectors of an owner up to a version, perhaps with some that were removed since. Undefined if they cannot be held: too many,
   * or without the library.
   */
  async slabOf(
    sql: Sql,
    owner: OwnerKey,
    dimension: number,
    newest: number,
  ): Promise<Slab | undefined> {
    const kernel = loadKernel();
    if (kernel === undefined) return undefined;
    // One after the other: changes must not be applied twice.
    const before = this.#busy.get(owner) ?? Promise.resolve();
    const mine = before.then(() => this.#refreshed(sql, owner, { kernel, dimension, newest }));
    const settled = mine.catch(() => {});
    this.#busy.set(owner, settled);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(owner) === settled) this.#busy.delete(owner);
    }
  }

  async #refreshed(sql: Sql, owner: OwnerKey, target: Target): Promise<Slab | undefined> {
    const held = this.#slabs.get(owner);
    const { kernel, dimension, newest } = target;
    const known = held?.dimension === dimension ? held : undefined;
    const isCurrent = known !== undefined && known.revision >= newest;
    const isKept =
      known !== undefined &&
      (isCurrent || (await countChanges(sql, owner, known.revision)) <= CHANGES_MAX);
    const slab = isKept ? known : new Slab(kernel, dimension, 0);
    const isUsable = isCurrent || (await readChanges(sql, owner, slab));
    this.#slabs.delete(owner);
    if (!isUsable || slab.count * bytesPerVector(dimension) > BUDGET) return undefined;
    slab.revision = Math.max(slab.revision, newest);
    // A map iterates in insertion order.
    this.#slabs.set(owner, slab);
    this.#makeRoom();
    return slab;
  }

  /** Bytes that are held. */
  get byteLength(): number {
    let bytes = 0;
    for (const slab of this.#slabs.values()) bytes += slab.byteLength;
    return bytes;
  }

  #makeRoom(): void {
    let bytes = this.byteLength;
    for (const [owner, slab] of this.#slabs) {
      if (bytes <= BUDGET || this.#slabs.size === 1) return;
      bytes -= slab.byteLength;
      this.#slabs.delete(owner);
    }
  }
}

type Target = {
  readonly kernel: Kernel;
  readonly dimension: number;
  /** The newest version of a vector. */
  readonly newest: number;
};

async function countChanges(sql: Sql, owner: OwnerKey, after: number): Promise<number> {
  const row = await sql.get<{ count: number }>(
    `SELECT count(*)::integer AS count FROM (
       SELECT 1 FROM vectors WHERE owner = $1::bigint AND revision > $2 LIMIT ${CHANGES_MAX + 1}) c`,
    owner,
    after,
  );
  return row?.count ?? 0;
}

const CHANGES = `SELECT max(key) AS last, string_agg(int4send(key) || halfvec_send(embedding), ''::bytea) AS rows
  FROM (SELECT key, embedding FROM vectors WHERE owner = $1::bigint AND revision > $2 AND key > $3
    ORDER BY key LIMIT ${READ_AT_ONCE}) v`;

/** Applies the changes after the slab's revision. @returns false if the slab is unusable */
async function readChanges(sql: Sql, owner: OwnerKey, slab: Slab): Promise<boolean> {
  const { revision, dimension } = slab;
  const isNew = slab.count === 0;
  for (let after = 0; ; ) {
    const read = await sql.get<{ last: number | null; rows: Uint8Array | null }>(
      CHANGES,
      owner,
      revision,
      after,
    );
    if (read?.last == null || read.rows === null) return true;
    const { keys, vectors } = readHalfRows(read.rows, dimension);
    if (!isNew) slab.remove(keys);
    if (!slab.append(keys, vectors)) return false;
    after = read.last;
  }
}
