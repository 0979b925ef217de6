import type { ScoreProvenance, ScoreTrace } from "../../../domain/records/score.ts";
import { baseScore, formulaVersion, TIE_BREAK_WIDTH } from "../../../domain/score-replay.ts";
import type {
  ChannelFusion,
  FusionRecord,
  PoolFactors,
  ScoringWeights,
} from "../../../domain/scoring.ts";
import type { BitReader, BitWriter } from "../../../lib/columnar/bits.ts";
import { optional, readGuessed, writeGuessed } from "../../../lib/columnar/columns.ts";
import { at, counts, doubles, filled, flags, integers } from "../../../lib/columnar/numbers.ts";

/** The start of a score, before any adjustment: its signals and the result of the fusion. */
export type ScoreBase = Pick<ScoreProvenance, "formulaVersion" | "trace" | "weights" | "fusion">;

type Kind = ScoringWeights["fusion"]["kind"];

/** All of a trace except its score, which follows from the rest. */
export const SIGNALS = [
  "semanticSimilarity",
  "lexicalRelevance",
  "graphProximity",
  "recencyFactor",
  "salience",
  "confidence",
  "epistemicWeight",
  "pathScore",
  "temporalAffinity",
  "nodeTypeBoost",
] as const satisfies readonly (keyof ScoreTrace)[];
type Signals = Omit<ScoreTrace, "compositeScore">;

/** Signals of several traces, one signal after the other. */
export function writeSignals(out: BitWriter, traces: readonly Signals[]): void {
  for (const name of SIGNALS) {
    doubles.write(
      out,
      traces.map((trace) => trace[name]),
    );
  }
}

export function readSignals(from: BitReader, count: number): Signals[] {
  const columns = SIGNALS.map((name) => [name, doubles.read(from, count)] as const);
  return Array.from({ length: count }, (_, index) => {
    const entries = columns.map(([name, values]) => [name, at(values, index)]);
    // SAFETY: SIGNALS names all members of Signals, and each is a number.
    return Object.fromEntries(entries) as Signals;
  });
}

/**
 * The bases of the scores of one retrieval. Their weights may differ, their fusion does not; composite scores and the version of
 * the formula are left out, since they follow from the rest.
 */
export function writeBases(out: BitWriter, bases: readonly ScoreBase[], kind: Kind): void {
  const signals = bases.map(({ trace }) => trace);
  writeSignals(out, signals);
  if (kind === "weighted") return;
  const records = bases.flatMap(({ fusion }) => (fusion === undefined ? [] : [fusion]));
  if (kind === "rrf") writeRanks(out, records, signals);
  else writeShares(out, records, signals);
  if (kind === "adaptive") {
    for (const name of POOL_SHARES) {
      doubles.write(
        out,
        records.map((record) => (record.kind === "adaptive" ? record[name] : 0)),
      );
    }
  }
  for (const factor of FACTORS) {
    const guesses = poolShares(bases.map((base) => factor.value(base)));
    const values = records.map((record) => record[factor.name]);
    optional(doubles).write(
      out,
      values.map((value, index) => (value === guesses[index] ? undefined : value)),
    );
  }
  writeTieBreaks(out, records);
}

/** @param weights of each base */
export function readBases(
  from: BitReader,
  weights: readonly ScoringWeights[],
  kind: Kind,
): ScoreBase[] {
  const signals = readSignals(from, weights.length);
  const partial = signals.map((trace, index) => ({ trace, weights: at(weights, index) }));
  const records = kind === "weighted" ? undefined : readRecords(from, partial, kind);
  return partial.map(({ trace, weights: own }, index) => {
    const fusion = records?.[index];
    const unscored = { weights: own, fusion, trace: { ...trace, compositeScore: 0 } };
    const compositeScore = baseScore(unscored);
    return {
      ...unscored,
      formulaVersion: formulaVersion(kind),
      trace: { ...trace, compositeScore },
    };
  });
}

type Unscored = { readonly trace: Signals; readonly weights: ScoringWeights };

function readRecords(
  from: BitReader,
  bases: readonly Unscored[],
  kind: ChannelFusion["kind"],
): FusionRecord[] {
  const signals = bases.map(({ trace }) => trace);
  const channels = readChannels(from, signals, kind);
  const columns = FACTORS.map(({ value }) => {
    const guesses = poolShares(bases.map(value));
    const others = optional(doubles).read(from, bases.length);
    return others.map((other, index) => other ?? guesses[index]);
  });
  const ties = readTieBreaks(from, bases);
  return channels.map((channel, index) => ({
    ...channel,
    epistemicFactor: columns[0]?.[index] ?? 0,
    nodeTypeFactor: columns[1]?.[index] ?? 0,
    temporalFactor: columns[2]?.[index] ?? 0,
    recencyBoostFactor: columns[3]?.[index],
    speakerFactor: columns[4]?.[index],
    tieBreak: ties[index],
  }));
}

function recencyBoost({ fusion }: ScoringWeights): number | undefined {
  return fusion.kind === "weighted" ? undefined : fusion.recencyBoost;
}

/** The factors of a fused score, and the value that each is a share of. */
const FACTORS: readonly {
  readonly name: keyof PoolFactors;
  readonly value: (base: Unscored) => number | undefined;
}[] = [
  { name: "epistemicFactor", value: ({ trace }) => trace.epistemicWeight },
  { name: "nodeTypeFactor", value: ({ trace }) => trace.nodeTypeBoost },
  {
    name: "temporalFactor",
    value: ({ trace, weights }) => 1 + weights.temporalBoost * trace.temporalAffinity,
  },
  {
    name: "recencyBoostFactor",
    value: ({ trace, weights }) => {
      const boost = recencyBoost(weights);
      return boost === undefined ? undefined : 1 + boost * trace.recencyFactor;
    },
  },
  { name: "speakerFactor", value: () => undefined },
];

/** Values as shares of the largest: exact if that one is among them. */
function poolShares(values: readonly (number | undefined)[]): (number | undefined)[] {
  const largest = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);
  return values.map((value) => {
    if (value === undefined) return undefined;
    return largest === 0 ? 0 : Math.min(1, value / largest);
  });
}

const CHANNELS = [
  { rank: "semanticRank", share: "semantic", signal: "semanticSimilarity" },
  { rank: "lexicalRank", share: "lexical", signal: "lexicalRelevance" },
] as const;

type Channels<K> = Pick<
  Extract<FusionRecord, { kind: K }>,
  Exclude<keyof Extract<FusionRecord, { kind: K }>, keyof PoolFactors>
>;

function readChannels(
  from: BitReader,
  signals: readonly Signals[],
  kind: ChannelFusion["kind"],
): readonly (Channels<"rrf"> | Channels<"relative"> | Channels<"adaptive">)[] {
  if (kind === "rrf") return readRanks(from, signals);
  const shares = readShares(from, signals);
  if (kind === "relative") return shares.map((channel) => ({ kind, ...channel }));
  const [coverages, certainties] = POOL_SHARES.map(() => doubles.read(from, signals.length));
  return shares.map((channel, index) => ({
    kind,
    ...channel,
    coverage: at(coverages ?? [], index),
    certainty: at(certainties ?? [], index),
  }));
}

/** What adaptive fusion knows of all candidates together. */
const POOL_SHARES = ["coverage", "certainty"] as const;

/** Ranks grow as the signal falls, so each is written as its difference from the previous one. */
function writeRanks(
  out: BitWriter,
  records: readonly FusionRecord[],
  signals: readonly Signals[],
): void {
  for (const { rank, signal } of CHANNELS) {
    const ranks = records.map((record) => (record.kind === "rrf" ? record[rank] : undefined));
    const values = signals.map((trace) => trace[signal]);
    writePresence(out, ranks, values);
    let previous = 0;
    const steps = byFallingSignal(values)
      .flatMap((index) => ranks[index] ?? [])
      .map((value) => {
        const step = value - previous;
        previous = value;
        return step;
      });
    integers.write(out, steps);
  }
}

type RankChannels = { kind: "rrf"; semanticRank?: number; lexicalRank?: number };

function readRanks(from: BitReader, signals: readonly Signals[]): Channels<"rrf">[] {
  const found: RankChannels[] = signals.map(() => ({ kind: "rrf" }));
  for (const { rank, signal } of CHANNELS) {
    const values = signals.map((trace) => trace[signal]);
    const isPresent = readPresence(from, values);
    const ranked = byFallingSignal(values).filter((index) => isPresent[index]);
    const steps = integers.read(from, ranked.length);
    let value = 0;
    for (const [place, index] of ranked.entries()) {
      value += at(steps, place);
      at(found, index)[rank] = value;
    }
  }
  return found.map(({ kind, semanticRank, lexicalRank }) => ({ kind, semanticRank, lexicalRank }));
}

/** Whether a candidate is on a channel; those without a signal mostly are not. */
function writePresence(
  out: BitWriter,
  values: readonly (number | undefined)[],
  signals: readonly number[],
): void {
  flags.write(
    out,
    values.map((value, index) => (value !== undefined) !== at(signals, index) > 0),
  );
}

function readPresence(from: BitReader, signals: readonly number[]): boolean[] {
  return flags
    .read(from, signals.length)
    .map((isException, index) => isException !== at(signals, index) > 0);
}

function byFallingSignal(values: readonly number[]): number[] {
  return [...values.keys()].sort((a, b) => at(values, b) - at(values, a) || a - b);
}

function writeShares(
  out: BitWriter,
  records: readonly FusionRecord[],
  signals: readonly Signals[],
): void {
  for (const { share, signal } of CHANNELS) {
    const shares = records.map((record) => (record.kind === "rrf" ? undefined : record[share]));
    const values = signals.map((trace) => trace[signal]);
    writePresence(out, shares, values);
    const isPresent = shares.map((value) => value !== undefined);
    writeGuessed(
      out,
      shares.filter((value) => value !== undefined),
      guessedShares(share, values, isPresent),
    );
  }
}

type ShareChannels = { semantic?: number; lexical?: number };

function readShares(
  from: BitReader,
  signals: readonly Signals[],
): Omit<Channels<"relative">, "kind">[] {
  const found: ShareChannels[] = signals.map(() => ({}));
  for (const { share, signal } of CHANNELS) {
    const values = signals.map((trace) => trace[signal]);
    const isPresent = readPresence(from, values);
    const shares = readGuessed(from, guessedShares(share, values, isPresent));
    const present = [...values.keys()].filter((index) => isPresent[index]);
    for (const [place, index] of present.entries()) at(found, index)[share] = at(shares, place);
  }
  return found.map(({ semantic, lexical }) => ({ semantic, lexical }));
}

/** The rescaled signals of the candidates on a channel, exact if the extremes are among them. */
function guessedShares(
  share: "semantic" | "lexical",
  signals: readonly number[],
  isPresent: readonly boolean[],
): number[] {
  const values = signals.filter((_, index) => isPresent[index]);
  const largest = values.reduce((max, value) => Math.max(max, value), 0);
  if (share === "lexical") return values.map((value) => (largest === 0 ? 0 : value / largest));
  const least = values.reduce((min, value) => Math.min(min, value), largest);
  const range = largest - least;
  return values.map((value) => (range === 0 ? 1 : (value - least) / range));
}

/** Pool sizes that are tried when tie-breaks are written as places. */
const MAX_POOL = 4096;

/** A tie-break is a place among the candidates found, as a share of their number. */
function writeTieBreaks(out: BitWriter, records: readonly FusionRecord[]): void {
  const ties = records.flatMap(({ tieBreak }) => tieBreak ?? []);
  if (ties.length === 0) return;
  const size = poolSize(ties);
  out.count(size ?? 0, 8);
  if (size === undefined) doubles.write(out, ties);
  else {
    const places = ties.map((tie) => placeOf(tie, size));
    counts.write(out, places);
  }
}

function readTieBreaks(from: BitReader, bases: readonly Unscored[]): (number | undefined)[] {
  const isBroken = bases.map(
    ({ weights }) => weights.fusion.kind !== "weighted" && weights.fusion.tieBreak !== undefined,
  );
  // A fusion has a tie-break for all of its scores or for none.
  if (!isBroken.includes(true)) return filled(bases.length, undefined);
  const size = from.count(8);
  if (size === 0) return doubles.read(from, bases.length);
  return counts.read(from, bases.length).map((place) => tieOf(place, size));
}

function poolSize(ties: readonly number[]): number | undefined {
  const isWhole = (size: number) => (tie: number) => tieOf(placeOf(tie, size), size) === tie;
  for (let size = 1; size <= MAX_POOL; size += 1) if (ties.every(isWhole(size))) return size;
  return undefined;
}

function placeOf(tie: number, size: number): number {
  return Math.round((tie / TIE_BREAK_WIDTH) * size);
}

function tieOf(place: number, size: number): number {
  return (place / size) * TIE_BREAK_WIDTH;
}
