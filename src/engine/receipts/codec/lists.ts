import {
  type FilteredOut,
  type NotPacked,
  PACKING_REASONS,
  type RetrievalRecord,
  SECTION_NAMES,
  type SelectedOut,
} from "../../../domain/records/retrieval-record.ts";
import type { BitReader, BitWriter } from "../../../lib/columnar/bits.ts";
import {
  choices,
  optional,
  readPlaces,
  texts,
  writePlaces,
} from "../../../lib/columnar/columns.ts";
import { at, type Column, doubles, integers, writeColumn } from "../../../lib/columnar/numbers.ts";
import type { Uuid } from "../../../lib/uuid.ts";

/** The lists of memories in the record stored with a receipt, except the paths. */
type MemoryLists = Pick<RetrievalRecord, "context" | "notPacked" | "filteredOut" | "selectedOut">;

/** Memories by their place in a list that the reader has. */
type IdList = { readonly ids: readonly Uuid[]; readonly places: ReadonlyMap<Uuid, number> };

/** Order of a number of memories. */
const SIZE_ORDER = 6;

/** @param ranked the candidates in rank order @param known every memory that is named */
export function writeLists(
  out: BitWriter,
  lists: MemoryLists,
  { ranked, known }: { readonly ranked: IdList; readonly known: IdList },
): void {
  const { context, notPacked, filteredOut, selectedOut } = lists;
  const placesOf = (items: readonly { readonly nodeId: Uuid }[], among: IdList): number[] =>
    items.map(({ nodeId }) => among.places.get(nodeId) ?? 0);
  out.count(context.length, SIZE_ORDER);
  writeColumn(out, sections, context, ({ section }) => section);
  integers.write(out, steps(placesOf(context, ranked)));
  writeColumn(out, reasons, notPacked, ({ reason }) => reason);
  optional(placesAmong(known)).write(
    out,
    notPacked.map(({ foldedInto }) =>
      foldedInto === undefined ? undefined : (known.places.get(foldedInto) ?? 0),
    ),
  );
  for (const items of [filteredOut, selectedOut]) {
    out.count(items.length, SIZE_ORDER);
    writePlaces(out, placesOf(items, known), known.ids.length);
    writeColumn(out, texts, items, ({ reason }) => reason);
  }
  writeColumn(out, doubles, selectedOut, ({ score }) => score);
  writeColumn(out, optional(doubles), selectedOut, ({ semanticRelevance }) => semanticRelevance);
}

/** @param ranked the candidates in rank order @param known every memory that is named */
export function readLists(
  from: BitReader,
  ranked: readonly Uuid[],
  known: readonly Uuid[],
): MemoryLists {
  const size = from.count(SIZE_ORDER);
  const names = sections.read(from, size);
  const places = summed(integers.read(from, size));
  const context = names.map((section, index) => ({
    nodeId: at(ranked, at(places, index)),
    section,
  }));
  const shown = new Set(context.map(({ nodeId }) => nodeId));
  const outside = ranked.filter((id) => !shown.has(id));
  return {
    context,
    notPacked: readNotPacked(from, outside, known),
    filteredOut: readFiltered(from, known),
    selectedOut: readSelected(from, known),
  };
}

function readNotPacked(
  from: BitReader,
  outside: readonly Uuid[],
  known: readonly Uuid[],
): readonly NotPacked[] {
  const why = reasons.read(from, outside.length);
  const holders = optional(placesAmong({ ids: known })).read(from, outside.length);
  return outside.map((nodeId, index) => {
    const holder = holders[index];
    const foldedInto = holder === undefined ? undefined : at(known, holder);
    return { nodeId, reason: at(why, index), foldedInto };
  });
}

function readFiltered(from: BitReader, known: readonly Uuid[]): readonly FilteredOut[] {
  const size = from.count(SIZE_ORDER);
  const ids = readPlaces(from, size, known.length).map((place) => at(known, place));
  const why = texts.read(from, size);
  return ids.map((nodeId, index) => ({ nodeId, reason: at(why, index) }));
}

function readSelected(from: BitReader, known: readonly Uuid[]): readonly SelectedOut[] {
  const excluded = readFiltered(from, known);
  const scores = doubles.read(from, excluded.length);
  const relevances = optional(doubles).read(from, excluded.length);
  return excluded.map((item, index) => ({
    ...item,
    score: at(scores, index),
    semanticRelevance: relevances[index],
  }));
}

const sections = choices(SECTION_NAMES);
const reasons = choices(PACKING_REASONS);

function placesAmong({ ids }: Pick<IdList, "ids">): Column<number> {
  return {
    write: (out, places) => writePlaces(out, places, ids.length),
    read: (from, count) => readPlaces(from, count, ids.length),
  };
}

/** The difference of each number from the previous one. */
function steps(values: readonly number[]): number[] {
  return values.map((value, index) => value - (values[index - 1] ?? 0));
}

function summed(added: readonly number[]): number[] {
  let sum = 0;
  return added.map((value) => {
    sum += value;
    return sum;
  });
}
