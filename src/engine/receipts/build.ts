import { LIMITS } from "../../domain/arguments.ts";
import { wholeOf } from "../../domain/beginning.ts";
import type { RepresentationLevel } from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type {
  AnyReceipt,
  LeanReceipt,
  ReceiptCandidate,
  ReceiptParameters,
  RetrievalReceipt,
} from "../../domain/records/receipt.ts";
import {
  CANDIDATE_PATHS,
  type NotPacked,
  type PackingSettings,
  type ReceiptPacking,
  type RetrievalRecord,
} from "../../domain/records/retrieval-record.ts";
import type { ScoreProvenance } from "../../domain/records/score.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { nextTurn } from "../../lib/pause.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { PackedRecord, ResultCandidate } from "../retrieve/api.ts";
import type { EngineSettings } from "../settings.ts";
import type { ReceiptMaterial } from "./api.ts";
import { scoreReasons } from "./explain.ts";

export type BuiltReceipt<R extends AnyReceipt = RetrievalReceipt> = {
  readonly receipt: R;
  readonly record: RetrievalRecord;
};

/** Results that a lean receipt explains; for the others it keeps only whether they reached the context. */
const EXPLAINED = 20;
/** Digits of a score in a lean receipt. */
const SCORE_DIGITS = 6;

/** Values of settings that are accepted but never read. */
const INERT = { charsPerToken: 4.2, crossScopeTokenBudget: 512 } as const;
/** The default prior weight of a reranker, for receipts that do not state one. */
const DEFAULT_PRIOR_WEIGHT = 0.3;
/** Levels at which a record shows the text of its memory. */
const CONTENT_LEVELS: ReadonlySet<RepresentationLevel> = new Set(["full", "prose", "structured"]);

const digests = new WeakMap<MemoryNode, string>();

function contentDigest(node: MemoryNode): string {
  const known = digests.get(node) ?? wholeOf(node).sha256 ?? sha256Hex(node.content);
  digests.set(node, known);
  return known;
}

/** Hashes long texts ahead of time, yielding in between. */
export async function digestLongTexts(results: readonly ResultCandidate[]): Promise<void> {
  for (const { node } of results) {
    if (node.content.length <= LIMITS.wordingChars) continue;
    contentDigest(node);
    await nextTurn();
  }
}

/** Makes the receipt of a retrieval and the index record stored with it. Pure. */
export function buildReceipt(
  material: ReceiptMaterial,
  surroundings: ReceiptSurroundings,
): BuiltReceipt {
  const { metadata, results, filter, scoring } = material;
  const packed = packedRecords(material);
  const isWeighted = scoring.fusion.kind === "weighted";
  const options = effectiveOptions(material.packing, scoring.fusion);
  const schemaVersion = receiptVersion({
    scoring,
    marksOlder: marksOlder(results.map(({ provenance }) => provenance)),
    minScoreSkipped: metadata.minScoreSkipped,
    packing: { contextFormat: material.packing.contextFormat, ...options },
    rerankerPolicy: surroundings.settings.reranker?.policy,
  });
  const receipt: RetrievalReceipt = {
    schemaVersion,
    requestId: metadata.requestId,
    userId: material.userId,
    query: material.query,
    referenceTime: metadata.referenceTime,
    scopes: filter.scopes,
    scoring,
    packing: toPacking(material, options, schemaVersion),
    contextSha256: sha256Hex(material.bundle.renderedContext),
    minScore: metadata.minScore,
    minScoreSkipped: metadata.minScoreSkipped,
    resultLimit: metadata.resultLimit,
    retrievalMode: material.retrievalMode,
    timeFrom: filter.timeFrom,
    timeTo: filter.timeTo,
    candidates: results.map((result) =>
      toCandidate(result, packed.get(result.node.id), isWeighted),
    ),
    scoreProvenance: new Map(results.map(({ node, provenance }) => [node.id, provenance])),
    rankingPolicy: material.rankingPolicy,
    execution: {
      schemaVersion: 1,
      parameters: toParameters(material, surroundings),
      features: surroundings.features,
    },
  };
  return { receipt, record: toRecord(material, packed) };
}

/** Makes a lean receipt and the index record stored with it. Pure. */
export function buildLean(material: ReceiptMaterial): BuiltReceipt<LeanReceipt> {
  const { metadata, results, filter, packing } = material;
  const packed = packedRecords(material);
  const candidates = results.flatMap(({ node, compositeScore, provenance, paths }, index) => {
    const inside = packed.get(node.id);
    const isExplained = index < EXPLAINED;
    if (inside === undefined && !isExplained) return [];
    return {
      nodeId: node.id,
      rank: index + 1,
      score: Number(compositeScore.toPrecision(SCORE_DIGITS)),
      ...shownAs(node, inside),
      reasons: isExplained ? scoreReasons({ nodeId: node.id }, provenance, paths) : undefined,
    };
  });
  const receipt: LeanReceipt = {
    detail: "lean",
    requestId: metadata.requestId,
    userId: material.userId,
    query: material.query,
    referenceTime: metadata.referenceTime,
    scopes: filter.scopes,
    packing: {
      tokenBudget: packing.tokenBudget,
      minFidelity: packing.minFidelity,
      overheadTokens: packing.overheadTokens,
    },
    contextSha256: sha256Hex(material.bundle.renderedContext),
    minScore: metadata.minScore,
    minScoreSkipped: metadata.minScoreSkipped,
    resultLimit: metadata.resultLimit,
    retrievalMode: material.retrievalMode,
    timeFrom: filter.timeFrom,
    timeTo: filter.timeTo,
    fusion: material.scoring.fusion.kind,
    resultCount: results.length,
    candidates,
    execution: { parameters: askedFor(material) },
  };
  const kept = { ...material, results: results.slice(0, EXPLAINED), excluded: [] };
  return { receipt, record: { ...toRecord(kept, packed), paths: [] } };
}

function packedRecords({ bundle }: ReceiptMaterial): ReadonlyMap<Uuid, PackedRecord> {
  return new Map(
    [...bundle.sections.values()].flat().map((record) => [record.candidate.node.id, record]),
  );
}

function toPacking(
  { packing, bundle }: ReceiptMaterial,
  options: ReturnType<typeof effectiveOptions>,
  version: number,
): ReceiptPacking {
  return {
    ...packing,
    ...INERT,
    ...options,
    tokenizer: bundle.tokenizer,
    contextCitations: statesCitations(version) ? packing.contextCitations : undefined,
  };
}

function toCandidate(
  result: ResultCandidate,
  packed: PackedRecord | undefined,
  isWeighted: boolean,
): ReceiptCandidate {
  const { node } = result;
  return {
    nodeId: node.id,
    scope: node.scope,
    contentSha256: contentDigest(node),
    score: result.compositeScore,
    trace: result.trace,
    rerankerScore: result.rerankerScore,
    semanticRelevance: isWeighted ? undefined : result.semanticRelevance,
    ...shownAs(node, packed),
  };
}

/** How a result appears in the context. */
function shownAs(node: MemoryNode, packed: PackedRecord | undefined) {
  const level = packed?.representation;
  return {
    representation: level,
    tokenCost: packed?.tokenCost ?? 0,
    inContext: packed !== undefined,
    hasContent: level !== undefined && CONTENT_LEVELS.has(level) && node.content.trim() !== "",
  };
}

/** The filters of the request, besides those stored with the question. */
function askedFor({ metadata, filter, includeCrossScope }: ReceiptMaterial) {
  return {
    rankingMultipliers: metadata.rankingMultipliers,
    maxPerSource: metadata.maxPerSource,
    maxPerEvidence: metadata.maxPerEvidence,
    knowledgeAt: filter.knowledgeAt,
    eventTimeFrom: filter.eventTimeFrom,
    eventTimeTo: filter.eventTimeTo,
    includeCrossScope,
    excludeNodeTypes: filter.excludeNodeTypes?.toSorted(),
    sourceTypes: filter.sourceTypes?.toSorted(),
  };
}

function toParameters(
  material: ReceiptMaterial,
  { settings, languageModel }: ReceiptSurroundings,
): ReceiptParameters {
  const { metadata, filter, temporalRelation } = material;
  const { reranker, reformulation } = settings;
  return {
    ...askedFor(material),
    rankingProfile: { status: "none", profileId: undefined, reason: undefined },
    timeFrom: filter.timeFrom,
    timeTo: filter.timeTo,
    epistemicWeights: settings.epistemicWeights,
    unverifiedConfidenceThreshold: settings.unverifiedConfidenceThreshold,
    aggregationCoverage: metadata.aggregationCoverage,
    historicalCoverage: metadata.historicalCoverage,
    temporalRelation,
    temporalLanguages: settings.temporalLanguages,
    queryIntentOrder: settings.queryIntentOrder === "temporal_first" ? "temporal_first" : undefined,
    rerankerTopK: reranker?.topK,
    rerankerPriorWeight:
      reranker?.priorWeight === DEFAULT_PRIOR_WEIGHT ? undefined : reranker?.priorWeight,
    queryReformulation: {
      enabled: reformulation !== undefined,
      count: reformulation?.count,
      provider: reformulation === undefined ? undefined : languageModel?.provider,
      model: reformulation === undefined ? undefined : languageModel?.model,
      mergePolicy: reformulation?.mergePolicy === "max_signals" ? "max_signals" : undefined,
    },
  };
}

function toRecord(
  material: ReceiptMaterial,
  packed: ReadonlyMap<Uuid, PackedRecord>,
): RetrievalRecord {
  const { metadata, bundle, results, excluded } = material;
  return {
    intent: metadata.intent,
    queryTimeFrom: material.queryTimeFrom,
    queryTimeTo: material.queryTimeTo,
    candidatesGenerated: metadata.candidatesGenerated,
    candidatesFiltered: metadata.candidatesFiltered,
    candidatesIncluded: metadata.candidatesIncluded,
    backendsUsed: metadata.backendsUsed,
    embeddingMismatch: metadata.embeddingMismatch,
    backendFailures: metadata.backendFailures,
    reranker: metadata.reranker,
    reformulation: metadata.reformulation,
    tokensUsed: bundle.tokensUsed,
    scoringConfigVersion: metadata.scoringConfigVersion,
    crossScopeHintCount: material.crossScopeHintCount,
    paths: results.map(({ paths }) => CANDIDATE_PATHS.filter((path) => paths.includes(path))),
    context: Array.from(bundle.sections, ([section, records]) =>
      records.map(({ candidate }) => ({ nodeId: candidate.node.id, section })),
    ).flat(),
    notPacked: notPacked(material, packed),
    filteredOut: excluded
      .filter(({ compositeScore }) => compositeScore === undefined)
      .map(({ nodeId, reason }) => ({ nodeId, reason })),
    selectedOut: excluded.flatMap(({ nodeId, reason, compositeScore: score, semanticRelevance }) =>
      score === undefined ? [] : [{ nodeId, reason, score, semanticRelevance }],
    ),
    client: material.client,
    timingMs: material.timingMs,
  };
}

function notPacked(
  { results, bundle }: ReceiptMaterial,
  packed: ReadonlyMap<Uuid, PackedRecord>,
): readonly NotPacked[] {
  const blank = new Set(bundle.blankIds);
  const oneSided = new Set(bundle.oneSidedIds);
  const weak = new Set(bundle.weakIds);
  return results
    .map(({ node }) => node.id)
    .filter((nodeId) => !packed.has(nodeId))
    .map((nodeId) => {
      if (blank.has(nodeId)) return { nodeId, reason: "blank_text", foldedInto: undefined };
      if (oneSided.has(nodeId)) return { nodeId, reason: "one_sided", foldedInto: undefined };
      if (weak.has(nodeId)) return { nodeId, reason: "weak", foldedInto: undefined };
      const foldedInto = bundle.folded.get(nodeId);
      return { nodeId, reason: foldedInto === undefined ? "token_budget" : "folded", foldedInto };
    });
}

/** What all retrievals of an engine have in common. */
export type ReceiptSurroundings = {
  readonly settings: Pick<
    EngineSettings,
    | "epistemicWeights"
    | "unverifiedConfidenceThreshold"
    | "temporalLanguages"
    | "queryIntentOrder"
    | "reranker"
    | "reformulation"
  >;
  /** The model that would reformulate questions; absent without one. */
  readonly languageModel: { readonly provider: string; readonly model: string } | undefined;
  readonly features: Readonly<Record<string, string>>;
};

type VersionBasis = Pick<RetrievalReceipt, "scoring" | "minScoreSkipped"> & {
  /** Whether a newer memory was ranked before the one it outdates. */
  readonly marksOlder: boolean;
  readonly packing: Pick<
    RetrievalReceipt["packing"],
    | "contextFormat"
    | "foldRepeatedText"
    | "sessionContextPacking"
    | "sessionContextRankFusionScoreDecay"
  >;
  readonly rerankerPolicy: string | undefined;
};

/** The first version that records whether the context shows references. */
const CITATIONS_STATED_FROM = 14;

/**
 * The version of a new receipt; the first rule that applies wins. 25: adaptive fusion. 24: a newer memory was ranked before an outdated
 * one. 23: relative fusion. 22: repeated text is folded. 21: neighbours are packed with what brought them in. 16 to 19: rank fusion, by
 * what it uses. 20: weighted by stated times. 12 to 14: other weighted ones.
 */
export function receiptVersion(basis: VersionBasis): number {
  const { packing, scoring } = basis;
  if (scoring.fusion.kind === "adaptive") return 25;
  if (basis.marksOlder) return 24;
  if (scoring.fusion.kind === "relative") return 23;
  if (packing.contextFormat === "reader" && packing.foldRepeatedText === true) return 22;
  if (packing.sessionContextPacking !== undefined) return 21;
  return scoring.fusion.kind === "rrf"
    ? rankFusionVersion(scoring.fusion, basis)
    : weightedVersion(scoring.fusion, basis);
}

type FusionOf<K> = Extract<RetrievalReceipt["scoring"]["fusion"], { readonly kind: K }>;

function rankFusionVersion(
  { recencyBoost, tieBreak }: FusionOf<"rrf">,
  { packing, minScoreSkipped }: VersionBasis,
): number {
  if (recencyBoost !== undefined || tieBreak !== undefined) return 19;
  if (minScoreSkipped) return 18;
  return packing.sessionContextRankFusionScoreDecay === undefined ? 16 : 17;
}

function weightedVersion(
  { recencyTime }: FusionOf<"weighted">,
  { packing, rerankerPolicy }: VersionBasis,
): number {
  if (recencyTime !== undefined) return 20;
  if (packing.contextFormat === "reader") return CITATIONS_STATED_FROM;
  return rerankerPolicy === undefined || rerankerPolicy === "legacy" ? 12 : 13;
}

/** Whether receipts of a version record if the context shows references. */
function statesCitations(version: number): boolean {
  return version >= CITATIONS_STATED_FROM;
}

/** The optional packing settings that take effect, and so are part of a receipt. */
function effectiveOptions(
  packing: PackingSettings,
  fusion: RetrievalReceipt["scoring"]["fusion"],
): Pick<
  RetrievalReceipt["packing"],
  "sessionContextPacking" | "sessionContextRankFusionScoreDecay" | "foldRepeatedText"
> {
  const expands = packing.sessionContextWindow > 0 && packing.sessionContextTopK !== 0;
  const folds = packing.contextFormat === "reader" && packing.foldRepeatedText;
  return {
    sessionContextPacking: expands ? packing.sessionContextPacking : undefined,
    sessionContextRankFusionScoreDecay:
      fusion.kind === "weighted" ? undefined : packing.sessionContextRankFusionScoreDecay,
    foldRepeatedText: folds ? true : undefined,
  };
}

/** Whether a score was adjusted to rank a newer memory before an outdated one. */
function marksOlder(provenances: Iterable<ScoreProvenance>): boolean {
  return Iterator.from(provenances).some(({ adjustments }) =>
    adjustments.some(({ kind }) => kind === "newer_first" || kind === "behind_newer"),
  );
}
