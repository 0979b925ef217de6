import {
  ADJUSTMENT_KINDS,
  type Adjustment,
  type ScoreProvenance,
  weightsForm,
} from "../../../domain/records/score.ts";
import type { ScoringWeights } from "../../../domain/scoring.ts";
import type { BitReader, BitWriter } from "../../../lib/columnar/bits.ts";
import { choices, optional, readPlaces, writePlaces } from "../../../lib/columnar/columns.ts";
import { readDifference, writeDifference } from "../../../lib/columnar/json-difference.ts";
import { at, counts, doubles, flags, writeColumn } from "../../../lib/columnar/numbers.ts";
import type { Json } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { readBases, type ScoreBase, writeBases } from "./scores.ts";

/** The score records of some candidates, in the order of these, and what they refer to. */
export type ProvenanceContext = {
  /** The candidates that the records belong to. */
  readonly owners: readonly Uuid[];
  /** Every memory that is named. */
  readonly known: readonly Uuid[];
  /** The settings of the retrieval: weights are written as the difference from them. */
  readonly scoring: Json;
  readonly kind: ScoringWeights["fusion"]["kind"];
};

const SIZE_ORDER = 2;
const kinds = choices(ADJUSTMENT_KINDS);

/** A base with the memory that it belongs to. */
type OwnedBase = ScoreBase & Pick<ScoreProvenance, "baseNodeId">;

/** Neighbours that inherited a score share its base with the memory that they inherited from. */
export function writeProvenances(
  out: BitWriter,
  provenances: readonly ScoreProvenance[],
  context: ProvenanceContext,
): void {
  const { bases, baseOf } = distinctBases(provenances);
  const isNew = baseOf.map((base, index) => baseOf.indexOf(base) === index);
  out.count(bases.length, SIZE_ORDER);
  flags.write(out, isNew);
  writePlaces(
    out,
    baseOf.filter((_, index) => !isNew[index]),
    bases.length,
  );
  const owners = context.owners.filter((_, index) => isNew[index]);
  writeNames(
    out,
    bases.map(({ baseNodeId }) => baseNodeId),
    owners,
    context.known,
  );
  writeWeights(out, bases, context.scoring);
  writeBases(out, bases, context.kind);
  writeAdjustments(out, provenances, context.known);
}

export function readProvenances(from: BitReader, context: ProvenanceContext): ScoreProvenance[] {
  const { owners, known } = context;
  const size = from.count(SIZE_ORDER);
  const isNew = flags.read(from, owners.length);
  const shared = readPlaces(from, isNew.filter((is) => !is).length, size);
  const names = readNames(
    from,
    owners.filter((_, index) => isNew[index]),
    known,
  );
  const bases = readBases(from, readWeights(from, size, context.scoring), context.kind);
  let created = 0;
  let reused = 0;
  const places = isNew.map((is) => {
    if (is) created += 1;
    else reused += 1;
    return is ? created - 1 : at(shared, reused - 1);
  });
  const adjustments = readAdjustments(
    from,
    places.map((place) => at(names, place)),
    known,
  );
  return places.map((place, index) => {
    const { formulaVersion, trace, weights, fusion } = at(bases, place);
    const baseNodeId = at(names, place);
    return {
      formulaVersion,
      baseNodeId,
      trace,
      weights,
      adjustments: at(adjustments, index),
      fusion,
    };
  });
}

function distinctBases(provenances: readonly ScoreProvenance[]): {
  readonly bases: readonly OwnedBase[];
  readonly baseOf: readonly number[];
} {
  const bases: OwnedBase[] = [];
  // A memory that inherits a score keeps the very objects that the score was made of.
  const places = new Map<ScoreProvenance["trace"], number>();
  const baseOf = provenances.map((provenance) => {
    const place = places.get(provenance.trace);
    const known = place === undefined ? undefined : bases[place];
    const isSame =
      known !== undefined &&
      known.baseNodeId === provenance.baseNodeId &&
      known.weights === provenance.weights &&
      known.fusion === provenance.fusion;
    if (isSame && place !== undefined) return place;
    places.set(provenance.trace, bases.length);
    return bases.push(provenance) - 1;
  });
  return { bases, baseOf };
}

/** Ids that are mostly those that the reader expects. */
function writeNames(
  out: BitWriter,
  ids: readonly Uuid[],
  expected: readonly Uuid[],
  known: readonly Uuid[],
): void {
  const others = ids.map((id, index) => (id === expected[index] ? undefined : known.indexOf(id)));
  writeColumn(out, flags, others, (place) => place === undefined);
  writePlaces(
    out,
    others.filter((place) => place !== undefined),
    known.length,
  );
}

function readNames(from: BitReader, expected: readonly Uuid[], known: readonly Uuid[]): Uuid[] {
  const isExpected = flags.read(from, expected.length);
  const others = readPlaces(from, isExpected.filter((is) => !is).length, known.length);
  let next = 0;
  return expected.map((id, index) => {
    if (isExpected[index]) return id;
    next += 1;
    return at(known, at(others, next - 1));
  });
}

function writeWeights(out: BitWriter, bases: readonly ScoreBase[], scoring: Json): void {
  const distinct = [...new Set(bases.map(({ weights }) => weights))];
  out.count(distinct.length, 0);
  for (const weights of distinct) writeDifference(out, weightsForm.json(weights), scoring);
  writePlaces(
    out,
    bases.map(({ weights }) => distinct.indexOf(weights)),
    distinct.length,
  );
}

function readWeights(from: BitReader, bases: number, scoring: Json): ScoringWeights[] {
  const size = from.count(0);
  const distinct = Array.from({ length: size }, () =>
    weightsForm.read(readDifference(from, scoring) ?? null, "weights"),
  );
  return readPlaces(from, bases, size).map((place) => at(distinct, place));
}

/** Where the score of an adjustment came from: nowhere, the memory of the base, or another one. */
const NOWHERE = 0;
const BASE = 1;
const OTHER = 2;

function writeAdjustments(
  out: BitWriter,
  provenances: readonly ScoreProvenance[],
  known: readonly Uuid[],
): void {
  writeColumn(out, counts, provenances, ({ adjustments }) => adjustments.length);
  const steps = provenances.flatMap(({ adjustments }) => adjustments);
  writeColumn(out, kinds, steps, ({ kind }) => kind);
  writeColumn(out, doubles, steps, ({ coefficient }) => coefficient);
  writeColumn(out, optional(doubles), steps, ({ neuralScore }) => neuralScore);
  const sources = provenances.flatMap(({ adjustments, baseNodeId }) =>
    adjustments.map(({ sourceNodeId: id }) => ({
      id,
      kind: id === undefined ? NOWHERE : id === baseNodeId ? BASE : OTHER,
    })),
  );
  writeColumn(out, counts, sources, ({ kind }) => kind);
  writePlaces(
    out,
    sources.flatMap(({ id, kind }) =>
      kind === OTHER && id !== undefined ? [known.indexOf(id)] : [],
    ),
    known.length,
  );
}

function readAdjustments(
  from: BitReader,
  baseIds: readonly Uuid[],
  known: readonly Uuid[],
): Adjustment[][] {
  const lengths = counts.read(from, baseIds.length);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const names = kinds.read(from, total);
  const coefficients = doubles.read(from, total);
  const neuralScores = optional(doubles).read(from, total);
  const sources = counts.read(from, total);
  const others = readPlaces(from, sources.filter((kind) => kind === OTHER).length, known.length);
  let step = 0;
  let other = 0;
  const sourceAt = (index: number, baseId: Uuid): Uuid | undefined => {
    const kind = at(sources, index);
    if (kind === OTHER) other += 1;
    if (kind === NOWHERE) return undefined;
    return kind === BASE ? baseId : at(known, at(others, other - 1));
  };
  return baseIds.map((baseId, owner) =>
    Array.from({ length: at(lengths, owner) }, () => {
      const index = step;
      step += 1;
      return {
        kind: at(names, index),
        coefficient: at(coefficients, index),
        neuralScore: neuralScores[index],
        sourceNodeId: sourceAt(index, baseId),
      };
    }),
  );
}
