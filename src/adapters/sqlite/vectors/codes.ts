import type { Database } from "bun:sqlite";
import { Codes, emptyRows, type Likely, likelyAmong } from "../../native/codes.ts";
import { type Centre, type Kernel, wordsOf } from "../../native/kernel.ts";
import { ask, countRows } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";
import { floatsOf, mixing, searchedKeys, searchedVectors } from "./exact.ts";

/**
 * Codes in the pack: two bits for each number of a vector, so that opening a pack recomputes nothing. A row has the codes of an owner's nodes
 * with adjacent keys: eight bytes whose bits say which of them have one, then their signs, then their strong numbers. Row `CENTRE` has
 * what was taken off every vector, row `KNOWN` the newest change. Small owners, whose vectors are compared exactly, have none.
 */

/** Nodes of a row: five rows fill a page. */
const BLOCK = 16;
const HEAD = 8;
const CENTRE = -1;
/** Has the newest change of vectors that the codes know of: a build without codes writes vectors and leaves it behind. */
const KNOWN = -2;
/** Vectors of an owner from which its codes are kept. */
const CODED_FROM = 16_384;
/** Every how many nodes an owner's vectors are counted. */
const COUNTED_EVERY = 64;
/** Parts of an owner's vectors from which the centre is computed, of 16 vectors each. */
const SAMPLED = 512;
const SAMPLE = 16;
/** The best border between weak and strong for numbers that scatter as usual, in standard deviations. */
const STRONG_FROM = 0.98;
/** Rows of a part that is not in memory compared at a time. */
const STREAMED = 32_768;
/** Blocks collected before they are written, when all of an owner's are made. */
const OPEN_BLOCKS = 1024;

type Row = { readonly block: number; readonly codes: Uint8Array };

function readRow(database: Database, owner: number, block: number): Uint8Array | undefined {
  return database
    .query<Row, [number, number]>("SELECT codes FROM vector_codes WHERE owner = ? AND block = ?")
    .get(owner, block)?.codes;
}

function writeRow(database: Database, owner: number, block: number, codes: Uint8Array): void {
  database
    .query("INSERT OR REPLACE INTO vector_codes (owner, block, codes) VALUES (?, ?, ?)")
    .run(owner, block, codes);
}

/** What was taken off an owner's vectors; undefined if the pack has no codes of them. */
export function centreOf(database: Database, owner: number): Centre | undefined {
  const row = readRow(database, owner, CENTRE);
  if (row === undefined) return undefined;
  const numbers = floatsOf(row);
  return { mean: numbers.subarray(0, -1), limit: numbers.at(-1) ?? 0 };
}

/** A row as its codes by place; each is the signs, then the strong numbers. */
type Block = (Uint8Array | undefined)[];

function unpackBlock(row: Uint8Array | undefined): Block {
  const block: Block = Array.from({ length: BLOCK });
  if (row === undefined) return block;
  const count = heldIn(row);
  const half = (row.length - HEAD) / 2 / count;
  let index = 0;
  for (let place = 0; place < BLOCK; place += 1) {
    if (!isHeld(row, place)) continue;
    const code = new Uint8Array(2 * half);
    code.set(row.subarray(HEAD + index * half, HEAD + (index + 1) * half));
    code.set(row.subarray(HEAD + (count + index) * half, HEAD + (count + index + 1) * half), half);
    block[place] = code;
    index += 1;
  }
  return block;
}

function packBlock(block: Block): Uint8Array | undefined {
  const held = block.flatMap((code, place) => (code === undefined ? [] : [{ code, place }]));
  const half = (held[0]?.code.length ?? 0) / 2;
  if (half === 0) return undefined;
  const row = new Uint8Array(HEAD + held.length * 2 * half);
  for (const [index, { code, place }] of held.entries()) {
    row[place >> 3] = (row[place >> 3] ?? 0) | (1 << (place & 7));
    row.set(code.subarray(0, half), HEAD + index * half);
    row.set(code.subarray(half), HEAD + (held.length + index) * half);
  }
  return row;
}

function isHeld(row: Uint8Array, place: number): boolean {
  return (((row[place >> 3] ?? 0) >> (place & 7)) & 1) === 1;
}

function heldIn(row: Uint8Array): number {
  let count = 0;
  for (let place = 0; place < BLOCK; place += 1) count += isHeld(row, place) ? 1 : 0;
  return count;
}

/** Changes codes of an owner; undefined removes one. */
function changeCodes(
  database: Database,
  owner: number,
  codes: ReadonlyMap<number, Uint8Array | undefined>,
): void {
  const blocks = Map.groupBy(codes, ([key]) => Math.floor(key / BLOCK));
  for (const [number, changes] of blocks) {
    const block = unpackBlock(readRow(database, owner, number));
    for (const [key, code] of changes) block[key % BLOCK] = code;
    const row = packBlock(block);
    if (row !== undefined) writeRow(database, owner, number, row);
    else {
      database.query("DELETE FROM vector_codes WHERE owner = ? AND block = ?").run(owner, number);
    }
  }
}

/** Undefined if a vector has no direction, so that there can be no codes. */
function encode(
  kernel: Kernel,
  centre: Centre,
  keys: readonly number[],
  vectors: Float32Array,
): Map<number, Uint8Array> | undefined {
  const words = wordsOf(centre.mean.length);
  const { signs, strong } = emptyRows(keys.length * words);
  if (kernel.code(vectors, centre, { signs, strong }, 0) < keys.length) return undefined;
  const part = (of: BigUint64Array, index: number): Uint8Array =>
    new Uint8Array(of.buffer, index * words * HEAD, words * HEAD);
  return new Map(
    keys.map((key, index) => {
      const code = new Uint8Array(2 * words * HEAD);
      code.set(part(signs, index));
      code.set(part(strong, index), words * HEAD);
      return [key, code];
    }),
  );
}

/** Writes the codes of changed vectors, if their owners have codes or have become large. Runs inside a write transaction. */
export function updateCodes(database: Database, changed: readonly number[]): void {
  const isCounted =
    changed.length >= COUNTED_EVERY || changed.some((key) => key % COUNTED_EVERY === 0);
  for (const [owner, keys] of ownersOf(database, changed)) {
    const centre = centreOf(database, owner);
    if (centre !== undefined) putCodes(database, owner, centre, keys);
    else if (isCounted && isLarge(database, owner)) makeCodes(database, owner);
  }
}

function ownersOf(
  database: Database,
  keys: readonly number[],
): ReadonlyMap<number, readonly number[]> {
  const rows = database
    .query<{ owner: number; key: number }, [string]>(
      "SELECT v.owner, v.node_key AS key FROM json_each(?) k CROSS JOIN vectors v ON v.node_key = k.value",
    )
    .all(JSON.stringify(keys));
  const groups = Map.groupBy(rows, ({ owner }) => owner);
  return new Map(Array.from(groups, ([owner, own]) => [owner, own.map(({ key }) => key)]));
}

/** Writes the codes of some vectors; without the search library, or if there can be none, the owner's are dropped. */
function putCodes(
  database: Database,
  owner: number,
  centre: Centre,
  keys: readonly number[],
): void {
  const kernel = kernelOn(database);
  if (kernel === undefined) {
    dropCodes(database, owner);
    return;
  }
  let open = new Map<number, Uint8Array>();
  for (const chunk of searchedVectors(database, keys, centre.mean.length)) {
    const codes = encode(kernel, centre, chunk.keys, chunk.vectors);
    if (codes === undefined) {
      dropCodes(database, owner);
      return;
    }
    for (const [key, code] of codes) open.set(key, code);
    if (open.size < OPEN_BLOCKS * BLOCK) continue;
    changeCodes(database, owner, open);
    open = new Map();
  }
  changeCodes(database, owner, open);
  noteKnown(database, owner);
}

/** Notes that codes know the changes of this transaction. */
function noteKnown(database: Database, owner: number): void {
  const revision = ask<number>(database, "SELECT value FROM vector_revision") ?? 0;
  writeRow(database, owner, KNOWN, new Uint8Array(Float64Array.of(revision).buffer));
}

/** The newest change among an owner's vectors; -1 if there is none. */
export function newestRevision(database: Database, owner: number): number {
  const newest = "SELECT max(revision) FROM vectors WHERE owner = ? AND revision IS NOT NULL";
  return ask<number>(database, newest, owner) ?? -1;
}

function isCurrent(database: Database, owner: number): boolean {
  const known = readRow(database, owner, KNOWN);
  if (known === undefined) return false;
  return (new Float64Array(known.slice().buffer)[0] ?? -1) >= newestRevision(database, owner);
}

/** Removes the codes of nodes. Runs inside a write transaction, while their vectors are there. */
export function removeCodes(database: Database, keys: readonly number[]): void {
  for (const [owner, gone] of ownersOf(database, keys)) {
    if (centreOf(database, owner) === undefined) continue;
    changeCodes(database, owner, new Map(gone.map((key) => [key, undefined])));
  }
}

function dropCodes(database: Database, owner: number): void {
  database.query("DELETE FROM vector_codes WHERE owner = ?").run(owner);
}

/** Makes the codes of all owners with so many vectors anew. Runs inside a write transaction. */
export function makeAllCodes(database: Database, from = CODED_FROM): void {
  database.run("DELETE FROM vector_codes");
  const owners = database
    .query<{ owner: number }, []>("SELECT owner FROM owners ORDER BY owner")
    .all();
  for (const { owner } of owners) if (isLarge(database, owner, from)) makeCodes(database, owner);
}

function isLarge(database: Database, owner: number, from = CODED_FROM): boolean {
  const some = "(SELECT 1 FROM vectors WHERE owner = ? AND revision IS NOT NULL LIMIT ?)";
  return countRows(database, some, owner, from) === from;
}

/** Makes the codes of an owner that are not those of its vectors anew. Runs inside a write transaction. */
export function remakeCodes(database: Database, owner: number): void {
  dropCodes(database, owner);
  makeCodes(database, owner);
}

function makeCodes(database: Database, owner: number): void {
  const keys = searchedKeys(database, owner);
  const centre = kernelOn(database) && measureCentre(database, keys);
  if (centre === undefined) return;
  const numbers = new Float32Array(centre.mean.length + 1);
  numbers.set(centre.mean);
  numbers[centre.mean.length] = centre.limit;
  writeRow(database, owner, CENTRE, new Uint8Array(numbers.buffer));
  putCodes(database, owner, centre, keys);
}

/** The mean of an owner's directions, and the border of strong numbers, from a sample of its vectors; undefined without any. */
export function measureCentre(database: Database, keys: readonly number[]): Centre | undefined {
  const { dimension } = mixing(database);
  const step = Math.max(1, Math.floor(keys.length / SAMPLE / SAMPLED));
  const sample = keys.filter((_, index) => Math.floor(index / SAMPLE) % step === 0);
  const sum = new Float64Array(dimension);
  for (const { vectors } of searchedVectors(database, sample, dimension)) {
    for (let from = 0; from < vectors.length; from += dimension) {
      const vector = vectors.subarray(from, from + dimension);
      const length = Math.sqrt(vector.reduce((total, value) => total + value * value, 0));
      if (length === 0) return undefined;
      for (const [index, value] of vector.entries())
        sum[index] = (sum[index] ?? 0) + value / length;
    }
  }
  if (sample.length === 0) return undefined;
  const mean = Float32Array.from(sum, (total) => total / sample.length);
  const around = Math.max(0, 1 - mean.reduce((total, value) => total + value * value, 0));
  return { mean, limit: Math.fround(STRONG_FROM * Math.sqrt(around / dimension)) };
}

/**
 * An owner's codes in memory, as the pack has them.
 * @param rowsMax more are left in the pack: `last` says where they begin
 * @returns undefined if they are not those of all its vectors
 */
export function loadCodes(
  database: Database,
  { kernel, owner, dimension }: { kernel: Kernel; owner: number; dimension: number },
  rowsMax: number,
): Codes | undefined {
  const centre = centreOf(database, owner);
  if (centre?.mean.length !== dimension || !isCurrent(database, owner)) return undefined;
  const count = countRows(database, "vectors WHERE owner = ? AND revision IS NOT NULL", owner);
  const codes = new Codes(kernel, centre, Math.min(count, rowsMax));
  let seen = 0;
  for (const { keys, rows } of readCodes(database, owner, dimension, 0)) {
    const room = Math.max(0, Math.min(keys.length, rowsMax - seen));
    seen += keys.length;
    const words = room * wordsOf(dimension);
    codes.append(keys.subarray(0, room), {
      signs: rows.signs.subarray(0, words),
      strong: rows.strong.subarray(0, words),
    });
    if (room < keys.length && codes.last === Number.POSITIVE_INFINITY) {
      codes.last = (keys[room] ?? 0) - 1;
    }
  }
  if (seen === count) return codes;
  codes.wipe();
  return undefined;
}

/** A few rows of codes. */
type Coded = {
  readonly keys: Float64Array;
  readonly rows: { readonly signs: BigUint64Array; readonly strong: BigUint64Array };
};

/** Reads the codes of an owner from a block on, by key, in parts of `STREAMED` rows at most. The next part takes the memory of the last. */
function* readCodes(
  database: Database,
  owner: number,
  dimension: number,
  from: number,
): Generator<Coded> {
  const words = wordsOf(dimension);
  const size = words * HEAD;
  const keys = new Float64Array(STREAMED);
  const rows = emptyRows(STREAMED * words);
  const [signs, strong] = [new Uint8Array(rows.signs.buffer), new Uint8Array(rows.strong.buffer)];
  const part = (count: number): Coded => ({
    keys: keys.subarray(0, count),
    rows: {
      signs: rows.signs.subarray(0, count * words),
      strong: rows.strong.subarray(0, count * words),
    },
  });
  let count = 0;
  const blocks = database.prepare<Row, [number, number]>(
    "SELECT block, codes FROM vector_codes WHERE owner = ? AND block >= ? ORDER BY block",
  );
  try {
    for (const { block, codes } of blocks.iterate(owner, from)) {
      if (count + BLOCK > STREAMED) {
        yield part(count);
        count = 0;
      }
      const at = count;
      const held = (codes[0] ?? 0) | ((codes[1] ?? 0) << 8);
      for (let place = 0; place < BLOCK; place += 1) {
        if (((held >> place) & 1) === 0) continue;
        keys[count] = block * BLOCK + place;
        count += 1;
      }
      const half = (count - at) * size;
      if (codes.length !== HEAD + 2 * half) return;
      signs.set(codes.subarray(HEAD, HEAD + half), at * size);
      strong.set(codes.subarray(HEAD + half), at * size);
    }
  } finally {
    blocks.finalize();
  }
  yield part(count);
}

/** The rows likely to be nearest, also among the codes that are only in the pack. */
export function likelyOf(
  database: Database,
  { kernel, owner }: { readonly kernel: Kernel; readonly owner: number },
  codes: Codes,
  ask: { readonly question: Float32Array; readonly wanted: number },
): Likely[] {
  const held = codes.likely(ask.question, ask.wanted);
  if (codes.last === Number.POSITIVE_INFINITY) return held;
  const found = [...held];
  const from = Math.floor((codes.last + 1) / BLOCK);
  for (const { keys, rows } of readCodes(database, owner, codes.dimension, from)) {
    // The first block may begin with rows that are held.
    const begin = keys.findIndex((key) => key > codes.last);
    if (begin < 0) continue;
    const words = begin * wordsOf(codes.dimension);
    const rest = { signs: rows.signs.subarray(words), strong: rows.strong.subarray(words) };
    const own = keys.subarray(begin);
    found.push(...likelyAmong(kernel, own, rest, own.length, ask));
  }
  return found.sort((a, b) => b.score - a.score).slice(0, ask.wanted);
}
