import { REPRESENTATION_LEVELS, SCOPES } from "../../../domain/enums.ts";
import type { ReceiptCandidate } from "../../../domain/records/receipt.ts";
import { CANDIDATE_PATHS, type CandidatePath } from "../../../domain/records/retrieval-record.ts";
import type { ScoreProvenance, ScoreTrace } from "../../../domain/records/score.ts";
import { replayScore } from "../../../domain/score-replay.ts";
import type { BitReader, BitWriter } from "../../../lib/columnar/bits.ts";
import {
  choices,
  hexTexts,
  optional,
  readGuessed,
  subsets,
  writeGuessed,
} from "../../../lib/columnar/columns.ts";
import { at, counts, doubles, flags, writeColumn } from "../../../lib/columnar/numbers.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { CONTENT_LEVELS } from "../build.ts";
import { type ProvenanceContext, readProvenances, writeProvenances } from "./provenances.ts";
import { readSignals, SIGNALS, writeSignals } from "./scores.ts";

export type StoredCandidate = {
  readonly candidate: ReceiptCandidate;
  readonly provenance: ScoreProvenance;
  readonly paths: readonly CandidatePath[];
};

const scopes = choices(SCOPES);
const digests = hexTexts(64);
const levels = optional(choices(REPRESENTATION_LEVELS));
const paths = subsets(CANDIDATE_PATHS);

/** A candidate's own trace: none, that of its score, or a different one. */
const NONE = 0;
const SHARED = 1;
const OWN = 2;

/**
 * Candidates by ascending id. Their ids are written elsewhere; their scores are not written, because they follow from the
 * records.
 */
export function writeCandidates(
  out: BitWriter,
  stored: readonly StoredCandidate[],
  context: Omit<ProvenanceContext, "owners">,
): void {
  const candidates = stored.map(({ candidate }) => candidate);
  const provenances = stored.map(({ provenance }) => provenance);
  const owners = candidates.map(({ nodeId }) => nodeId);
  writeColumn(out, scopes, candidates, ({ scope }) => scope);
  writeColumn(out, digests, candidates, ({ contentSha256 }) => contentSha256);
  writeColumn(out, paths, stored, (one) => one.paths);
  writeProvenances(out, provenances, { ...context, owners });
  writeTraces(out, stored);
  writeColumn(out, optional(doubles), candidates, ({ rerankerScore }) => rerankerScore);
  if (context.kind !== "weighted") {
    writeGuessed(
      out,
      candidates.map(({ semanticRelevance }) => semanticRelevance ?? 0),
      stored.map(({ candidate, provenance }) => likelyRelevance(candidate.trace, provenance)),
    );
  }
  writePacking(out, candidates);
}

/** @param ids ascending */
export function readCandidates(
  from: BitReader,
  ids: readonly Uuid[],
  context: Omit<ProvenanceContext, "owners">,
): StoredCandidate[] {
  const scope = scopes.read(from, ids.length);
  const contentSha256 = digests.read(from, ids.length);
  const found = paths.read(from, ids.length);
  const provenances = readProvenances(from, { ...context, owners: ids });
  const traces = readTraces(from, provenances);
  const rerankerScores = optional(doubles).read(from, ids.length);
  const relevances =
    context.kind === "weighted"
      ? undefined
      : readGuessed(
          from,
          provenances.map((provenance, index) => likelyRelevance(traces[index], provenance)),
        );
  const packing = readPacking(from, ids.length);
  return ids.map((nodeId, index) => {
    const provenance = at(provenances, index);
    const candidate: ReceiptCandidate = {
      nodeId,
      scope: at(scope, index),
      contentSha256: at(contentSha256, index),
      score: replayScore(provenance),
      trace: traces[index],
      rerankerScore: rerankerScores[index],
      semanticRelevance: relevances?.[index],
      ...at(packing, index),
    };
    return { candidate, provenance, paths: at(found, index) };
  });
}

function likelyRelevance(trace: ScoreTrace | undefined, provenance: ScoreProvenance): number {
  return Math.max(trace?.semanticSimilarity ?? 0, provenance.trace.semanticSimilarity);
}

function writeTraces(out: BitWriter, stored: readonly StoredCandidate[]): void {
  const sorts = stored.map(({ candidate: { trace }, provenance }) => {
    if (trace === undefined) return NONE;
    const isShared = trace === provenance.trace || isSameTrace(trace, provenance.trace);
    return isShared ? SHARED : OWN;
  });
  counts.write(out, sorts);
  const own = stored.flatMap(({ candidate: { trace } }, index) =>
    trace !== undefined && sorts[index] === OWN ? [trace] : [],
  );
  writeSignals(out, own);
  writeColumn(out, doubles, own, ({ compositeScore }) => compositeScore);
}

function isSameTrace(one: ScoreTrace, other: ScoreTrace): boolean {
  return (
    one.compositeScore === other.compositeScore &&
    SIGNALS.every((signal) => one[signal] === other[signal])
  );
}

function readTraces(
  from: BitReader,
  provenances: readonly ScoreProvenance[],
): (ScoreTrace | undefined)[] {
  const sorts = counts.read(from, provenances.length);
  const size = sorts.filter((sort) => sort === OWN).length;
  const signals = readSignals(from, size);
  const scores = doubles.read(from, size);
  let next = 0;
  return provenances.map(({ trace }, index) => {
    if (sorts[index] !== OWN) return sorts[index] === SHARED ? trace : undefined;
    next += 1;
    return { ...at(signals, next - 1), compositeScore: at(scores, next - 1) };
  });
}

type Packing = Pick<ReceiptCandidate, "representation" | "tokenCost" | "inContext" | "hasContent">;

function writePacking(out: BitWriter, candidates: readonly Packing[]): void {
  const packed = candidates.filter(({ inContext }) => inContext);
  writeColumn(out, levels, candidates, ({ representation }) => representation);
  writeColumn(out, counts, packed, ({ tokenCost }) => tokenCost);
  writeColumn(
    out,
    flags,
    packed,
    ({ representation, hasContent }) => hasContent === showsText(representation),
  );
}

function readPacking(from: BitReader, count: number): Packing[] {
  const representations = levels.read(from, count);
  const size = representations.filter((level) => level !== undefined).length;
  const tokens = counts.read(from, size);
  const isAsLevel = flags.read(from, size);
  let next = 0;
  return representations.map((representation) => {
    if (representation === undefined) {
      return { representation, tokenCost: 0, inContext: false, hasContent: false };
    }
    next += 1;
    const hasContent = isAsLevel[next - 1] === showsText(representation);
    return { representation, tokenCost: at(tokens, next - 1), inContext: true, hasContent };
  });
}

function showsText(level: ReceiptCandidate["representation"]): boolean {
  return level !== undefined && CONTENT_LEVELS.has(level);
}
