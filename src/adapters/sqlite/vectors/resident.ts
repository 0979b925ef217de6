import type { Database } from "bun:sqlite";
import { bytesPerCode, Codes } from "../../native/codes.ts";
import { bytesPerVector, type Kernel, Slab } from "../../native/kernel.ts";
import { countRows } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";
import { centreOf, loadCodes, measureCentre, newestRevision } from "./codes.ts";
import { searchedKeys, searchedVectors } from "./exact.ts";

/** Memory for vectors, and up to how many of an owner are compared exactly. */
export type VectorLimits = {
  /** Bytes for the vectors of all owners. */
  readonly memory: number;
  /** Vectors of an owner of which a search never misses one. */
  readonly exact: number;
};
const LIMITS: VectorLimits = { memory: 256 * 2 ** 20, exact: 20_000 };
/** Changes read one by one; beyond that, all of the owner's vectors are reloaded. */
const CHANGES_MAX = 5000;
/** Owners whose last question is recorded. */
const ASKED_MAX = 10_000;

type Held = Slab | Codes;

/**
 * In-memory vectors of active owners, kept current with other connections' and processes' commits. Those of small owners are held as bytes,
 * with an owner's second question, so that a process with one question does not load them all; those of large ones as the codes that the
 * pack has. The least recently active owners are evicted. One of several owners gets half of the memory at most; what codes do not fit are
 * read from the pack by each search.
 */
export class ResidentVectors {
  readonly #held = new Map<number, Held>();
  readonly #asked = new Set<number>();
  readonly #limits: VectorLimits;

  readonly #onStale: (owner: number) => void;

  /** @param onStale gets an owner whose codes in the pack are not those of its vectors */
  constructor(limits: Partial<VectorLimits> = {}, onStale: (owner: number) => void = () => {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#onStale = onStale;
  }

  /**
   * An owner's vectors as of the connection's snapshot, possibly with some removed since. Undefined if not held: too soon, too large, or
   * without the library. Runs inside a read transaction.
   */
  vectorsOf(database: Database, owner: number, dimension: number): Held | undefined {
    const kernel = kernelOn(database);
    if (kernel === undefined) return undefined;
    const hasAsked = this.#hasAsked(owner);
    const revision = newestRevision(database, owner);
    const known = this.#held.get(owner);
    const now =
      known?.dimension === dimension && known.revision >= revision
        ? known
        : this.#current(database, owner, known, { kernel, dimension, revision, hasAsked });
    if (known !== now) known?.wipe();
    this.#held.delete(owner);
    if (now === undefined) return undefined;
    // A map iterates in insertion order.
    this.#held.set(owner, now);
    this.#makeRoom();
    return now;
  }

  #current(
    database: Database,
    owner: number,
    known: Held | undefined,
    { kernel, dimension, revision, hasAsked }: Wanted,
  ): Held | undefined {
    const { memory, exact } = this.#limits;
    const isLarge = (): boolean => countChanges(database, owner, -1, exact + 1) > exact;
    const target = { kernel, dimension, revision };
    if (hasAsked && !(known instanceof Codes) && (known !== undefined || !isLarge())) {
      const rowsMax = Math.min(exact, Math.floor(memory / bytesPerVector(dimension)));
      const slab = refreshed(database, owner, known, { ...target, rowsMax });
      if (slab !== undefined) return slab;
    }
    const isAlone = [...this.#held.keys()].every((other) => other === owner);
    const share = isAlone ? memory : memory / 2;
    return codesOf(database, owner, known instanceof Codes ? known : undefined, {
      ...target,
      rowsMax: Math.floor(share / bytesPerCode(dimension)),
      mayMake: () => {
        if (centreOf(database, owner) !== undefined) this.#onStale(owner);
        return hasAsked && isLarge();
      },
    });
  }

  /** Updates an owner's vectors if they are held, in preparation for a question. */
  refresh(database: Database, owner: number): void {
    const held = this.#held.get(owner);
    if (held !== undefined) this.vectorsOf(database, owner, held.dimension);
  }

  /** Bytes that are held. */
  get byteLength(): number {
    let bytes = 0;
    for (const slab of this.#held.values()) bytes += slab.byteLength;
    return bytes;
  }

  /** Overwrites and drops everything. */
  clear(): void {
    for (const slab of this.#held.values()) slab.wipe();
    this.#held.clear();
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
    for (const [owner, slab] of this.#held) {
      if (bytes <= this.#limits.memory || this.#held.size === 1) return;
      bytes -= slab.byteLength;
      slab.wipe();
      this.#held.delete(owner);
    }
  }
}

type Wanted = Omit<Refresh, "rowsMax"> & { readonly hasAsked: boolean };

type Refresh = {
  readonly kernel: Kernel;
  readonly dimension: number;
  readonly revision: number;
  readonly rowsMax: number;
};

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
  if (!readChanges(database, owner, slab)) return undefined;
  slab.revision = revision;
  return slab;
}

/**
 * An owner's codes with all changes applied: those of the pack, or, if it has none, made of the vectors. Undefined if they cannot be held.
 */
function codesOf(
  database: Database,
  owner: number,
  held: Codes | undefined,
  target: Refresh & { readonly mayMake: () => boolean },
): Codes | undefined {
  const { dimension, revision, rowsMax, mayMake } = target;
  const known = held?.dimension === dimension ? held : undefined;
  const isFew =
    known !== undefined &&
    countChanges(database, owner, known.revision, CHANGES_MAX + 1) <= CHANGES_MAX;
  // More than fit, and as many as fitted before: what is new belongs to the part that stays in the pack.
  const fits = known !== undefined && (known.last < Infinity || known.count < rowsMax);
  let codes = isFew && fits ? known : undefined;
  if (codes !== undefined && !putChanges(database, owner, codes)) codes = undefined;
  codes ??= loadCodes(database, { ...target, owner }, rowsMax);
  if (codes === undefined && mayMake()) codes = madeCodes(database, owner, target);
  if (codes !== undefined) codes.revision = revision;
  return codes;
}

/** Of a pack whose codes are not those of its vectors. */
function madeCodes(
  database: Database,
  owner: number,
  { kernel, dimension, rowsMax }: Refresh,
): Codes | undefined {
  if (countChanges(database, owner, -1, rowsMax + 1) > rowsMax) return undefined;
  const keys = searchedKeys(database, owner);
  const centre = measureCentre(database, keys);
  if (centre?.mean.length !== dimension) return undefined;
  const codes = new Codes(kernel, centre, keys.length);
  return putAll(database, codes, keys) ? codes : undefined;
}

/** @returns false if the codes are unusable */
function putChanges(database: Database, owner: number, codes: Codes): boolean {
  const changed = searchedKeys(database, owner, codes.revision);
  return putAll(
    database,
    codes,
    changed.filter((key) => key <= codes.last),
  );
}

function putAll(database: Database, codes: Codes, keys: readonly number[]): boolean {
  for (const chunk of searchedVectors(database, keys, codes.dimension)) {
    if (!codes.put(chunk.keys, chunk.vectors)) return false;
  }
  return true;
}

/** The number of an owner's vectors that changed after a revision, up to the relevant limit. */
function countChanges(database: Database, owner: number, after: number, most: number): number {
  const changed = "(SELECT 1 FROM vectors WHERE owner = ? AND revision > ? LIMIT ?)";
  return countRows(database, changed, owner, after, most);
}

/** Applies changes after the slab's revision. @returns false if the slab is unusable */
function readChanges(database: Database, owner: number, slab: Slab): boolean {
  const changed = searchedKeys(database, owner, slab.revision);
  if (slab.count > 0) slab.remove(changed);
  for (const { keys, vectors } of searchedVectors(database, changed, slab.dimension)) {
    if (!slab.append(keys, vectors)) return false;
  }
  return true;
}
