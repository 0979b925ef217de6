import { formulaVersion, fusedScore, TIE_BREAK_WIDTH } from "../../../domain/score-replay.ts";
import type { ChannelFusion, FusionRecord, PoolFactors } from "../../../domain/scoring.ts";
import {
  competitionRanks,
  newestFirstPlaces,
  newestOf,
  recency,
  rescaleToUnit,
  shareOfLargest,
  UPDATE_GAIN,
} from "./factors.ts";
import type { Entry, Formula, Pool } from "./pool.ts";

/** The lowest decay of the recency boost, per day. */
const BOOST_LAMBDA = 0.05;
/** What the words of a person named in the question gain. Measured in docs/retrieval.md. */
const SPEAKER_BOOST = 0.15;

/** Semantic and lexical channel fused, times factors relative to the pool. Pure. */
export function fusedFormula(pool: Pool, fusion: ChannelFusion): Formula {
  const { entries, context } = pool;
  const recencies = boostRecencies(pool, fusion);
  const channels = channelsOf(entries, fusion);
  const factors = poolFactors(pool, fusion, recencies);
  const places = newestFirstPlaces(
    entries.map((entry) => (isOnChannel(entry) ? entry.stated : undefined)),
  );
  return ({ signals }, index) => {
    const untied: FusionRecord = { ...channels(index), ...factors(index), tieBreak: undefined };
    const record = withTieBreak(untied, fusion, places[index] ?? 0);
    return {
      formulaVersion: formulaVersion(fusion.kind),
      trace: {
        ...signals,
        recencyFactor: recencies?.[index] ?? 0,
        salience: 0,
        confidence: 0,
        compositeScore: fusedScore(record, fusion),
      },
      weights: context.weights,
      fusion: record,
    };
  };
}

function isOnChannel({ semantic, lexical }: Entry): boolean {
  return semantic !== undefined || lexical !== undefined;
}

type RecordOf<K> = Extract<FusionRecord, { readonly kind: K }>;
type Channels =
  | Pick<RecordOf<"rrf">, "kind" | "semanticRank" | "lexicalRank">
  | Pick<RecordOf<"relative">, "kind" | "semantic" | "lexical">
  | Pick<RecordOf<"adaptive">, "kind" | "semantic" | "lexical" | "coverage" | "certainty">;

function channelsOf(
  entries: readonly Entry[],
  { kind }: ChannelFusion,
): (index: number) => Channels {
  const semantic = entries.map((entry) => entry.semantic);
  const lexical = entries.map((entry) => entry.lexical);
  if (kind === "rrf") {
    const semanticRanks = competitionRanks(semantic);
    const lexicalRanks = competitionRanks(lexical);
    return (index) => ({
      kind,
      semanticRank: semanticRanks[index],
      lexicalRank: lexicalRanks[index],
    });
  }
  const rescaled = rescaleToUnit(semantic);
  const share = shareOfLargest(lexical.map((value) => value ?? 0));
  const shares = (index: number) => {
    const words = lexical[index];
    return {
      semantic: rescaled[index],
      lexical: words === undefined ? undefined : share(words),
    };
  };
  if (kind === "relative") return (index) => ({ kind, ...shares(index) });
  const most = (name: "coverage" | "certainty") =>
    entries.reduce((max, { candidate }) => Math.max(max, candidate[name] ?? 0), 0);
  const [coverage, certainty] = [most("coverage"), most("certainty")];
  return (index) => ({ kind, ...shares(index), coverage, certainty });
}

/** The recency of each candidate if it counts: for the newest state, with a boost in the settings. */
function boostRecencies(
  { entries, context, isCurrentState, isUpdate }: Pool,
  { recencyBoost }: ChannelFusion,
): readonly number[] | undefined {
  const anchor = newestOf(entries.map(({ stated }) => stated));
  if (!isCurrentState || recencyBoost === undefined || anchor === undefined) return undefined;
  const rule = { anchor, lambda: Math.max(context.weights.recencyLambda, BOOST_LAMBDA) };
  return entries.map((entry) => recency(entry.stated, rule, isUpdate(entry) ? UPDATE_GAIN : 1));
}

/** Each factor as its share of the largest among the candidates on a channel. */
function poolFactors(
  { entries, context, isSpokenByNamed }: Pool,
  { recencyBoost }: ChannelFusion,
  recencies: readonly number[] | undefined,
): (index: number) => Omit<PoolFactors, "tieBreak"> {
  const counted = entries.map(isOnChannel);
  const shares = (value: (entry: Entry, index: number) => number): readonly number[] => {
    const values = entries.map(value);
    return values.map(shareOfLargest(values.filter((_, index) => counted[index])));
  };
  const epistemic = shares(({ signals }) => signals.epistemicWeight);
  const nodeType = shares(({ signals }) => signals.nodeTypeBoost);
  const temporal = shares(
    ({ signals }) => 1 + context.weights.temporalBoost * signals.temporalAffinity,
  );
  const boost =
    recencyBoost === undefined
      ? undefined
      : shares((_, index) => 1 + recencyBoost * (recencies?.[index] ?? 0));
  const speaker =
    isSpokenByNamed === undefined
      ? undefined
      : shares((entry) => (isSpokenByNamed(entry) ? 1 + SPEAKER_BOOST : 1));
  return (index) => ({
    epistemicFactor: epistemic[index] ?? 0,
    nodeTypeFactor: nodeType[index] ?? 0,
    temporalFactor: temporal[index] ?? 0,
    recencyBoostFactor: boost?.[index],
    ...(speaker === undefined ? {} : { speakerFactor: speaker[index] ?? 0 }),
  });
}

/** Subtracts just enough that among equal scores the newest comes first; nothing from a score of 0. */
function withTieBreak(record: FusionRecord, fusion: ChannelFusion, place: number): FusionRecord {
  if (fusion.tieBreak === undefined) return record;
  const scored = fusedScore(record, fusion) > 0;
  return { ...record, tieBreak: scored ? place * TIE_BREAK_WIDTH : 0 };
}
