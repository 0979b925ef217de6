/** A UUID in canonical form: lower case, with hyphens. A name marks it, no symbol: the types of two packages are the same type. */
export type Uuid = string & { readonly __uuid: true };

const HEX32 = /^[0-9a-f]{32}$/;

/**
 * Reads a UUID in any common notation: any case, with or without hyphens, in braces or as `urn:uuid:`.
 * @returns the canonical form, or undefined if the text is not a UUID.
 */
export function parseUuid(text: string): Uuid | undefined {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, "")
    .replace(/^\{(.*)\}$/, "$1");
  const hex = bare.replaceAll("-", "");
  if (!HEX32.test(hex)) return undefined;
  const canonical = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  // Hyphens are either all in place or all absent.
  return bare === hex || bare === canonical ? asUuid(canonical) : undefined;
}

/** Marks text that is known to be canonical, such as an identifier read back from our own rows. */
export function asUuid(text: string): Uuid {
  // SAFETY: callers pass only canonical text; parseUuid accepts anything else.
  return text as Uuid;
}

/** A set of identifiers that takes 32 to 64 bytes for each, a third of a set of texts. */
export type UuidSet = {
  readonly add: (id: Uuid) => void;
  readonly size: () => number;
  /** The smallest `count`, ascending. */
  readonly smallest: (count: number) => readonly Uuid[];
};

/** Identifiers that are kept as texts; most sets never have more. */
const FEW = 8;

export function createUuidSet(): UuidSet {
  const few: Uuid[] = [];
  let many: UuidSet | undefined;
  return {
    add: (id) => {
      if (many !== undefined) {
        many.add(id);
      } else if (!few.includes(id)) {
        few.push(id);
        if (few.length > FEW) many = packedSet(few);
      }
    },
    size: () => many?.size() ?? few.length,
    smallest: (count) => many?.smallest(count) ?? [...few].sort().slice(0, count),
  };
}

/** An identifier is four words of 32 bits, the first digits in the first. */
const WORDS = 4;
const FIRST_SLOTS = 32;
const NIL = asUuid("00000000-0000-0000-0000-000000000000");

/**
 * Open addressing with linear probing, at most half full. Four zeros are an empty slot; a flag says whether the all-zero
 * identifier is in the set.
 */
function packedSet(first: readonly Uuid[]): UuidSet {
  let table = new Uint32Array(FIRST_SLOTS * WORDS);
  let count = 0;
  let hasNil = false;
  const id = new Uint32Array(WORDS);

  const grow = () => {
    const larger = new Uint32Array(table.length * 2);
    for (let at = 0; at < table.length; at += WORDS) {
      if (!isEmpty(table, at)) insert(larger, table, at);
    }
    table = larger;
  };
  const add = (text: Uuid) => {
    readWords(text, id);
    if (isEmpty(id, 0)) hasNil = true;
    else if (insert(table, id, 0)) count += 1;
    if (count * 2 * WORDS > table.length) grow();
  };
  for (const text of first) add(text);
  return {
    add,
    size: () => count + (hasNil ? 1 : 0),
    smallest: (wanted) => {
      const texts = smallestIn(table, wanted).map((at) => textAt(table, at));
      return (hasNil ? [NIL, ...texts] : texts).slice(0, wanted);
    },
  };
}

/** Inserts an identifier into a table with room for it. @returns whether it was new */
function insert(table: Uint32Array, from: Uint32Array, at: number): boolean {
  const last = table.length / WORDS - 1;
  let slot = hashOf(from, at) & last;
  for (;;) {
    const place = slot * WORDS;
    if (isEmpty(table, place)) {
      for (let word = 0; word < WORDS; word += 1) table[place + word] = wordOf(from, at + word);
      return true;
    }
    if (compare(table, place, from, at) === 0) return false;
    slot = (slot + 1) & last;
  }
}

/** Places of the smallest identifiers, ascending. */
function smallestIn(table: Uint32Array, wanted: number): readonly number[] {
  const places: number[] = [];
  for (let at = 0; at < table.length; at += WORDS) {
    if (isEmpty(table, at)) continue;
    let rank = places.length;
    while (rank > 0 && compare(table, at, table, places[rank - 1] ?? 0) < 0) rank -= 1;
    if (rank >= wanted) continue;
    places.splice(rank, 0, at);
    if (places.length > wanted) places.pop();
  }
  return places;
}

function isEmpty(table: Uint32Array, at: number): boolean {
  return table[at + 3] === 0 && table[at] === 0 && table[at + 1] === 0 && table[at + 2] === 0;
}

function compare(a: Uint32Array, at: number, b: Uint32Array, other: number): number {
  for (let word = 0; word < WORDS; word += 1) {
    const order = wordOf(a, at + word) - wordOf(b, other + word);
    if (order !== 0) return order;
  }
  return 0;
}

function wordOf(table: Uint32Array, at: number): number {
  return table[at] ?? 0;
}

/** Identifiers of one moment differ in their last digits, those of one process in their first. */
function hashOf(table: Uint32Array, at: number): number {
  const mixed =
    Math.imul(wordOf(table, at + 3), 0x9e3779b1) ^
    Math.imul(wordOf(table, at + 2), 0x85ebca6b) ^
    Math.imul(wordOf(table, at + 1), 0xc2b2ae35) ^
    Math.imul(wordOf(table, at), 0x27d4eb2f);
  return mixed ^ (mixed >>> 15);
}

function readWords(text: Uuid, into: Uint32Array): void {
  let word = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === HYPHEN) continue;
    // `0` to `9` are 48 to 57, `a` to `f` 97 to 102.
    word = (word << 4) | (code < 58 ? code - 48 : code - 87);
    digits += 1;
    if (digits % 8 === 0) into[digits / 8 - 1] = word;
  }
}

const HYPHEN = 45;

function textAt(table: Uint32Array, at: number): Uuid {
  const hex = Array.from(table.subarray(at, at + WORDS), (word) =>
    word.toString(16).padStart(8, "0"),
  ).join("");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return asUuid([...parts, hex.slice(20)].join("-"));
}
