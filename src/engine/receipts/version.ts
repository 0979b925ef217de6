import type { RetrievalReceipt } from "../../domain/records/receipt.ts";
import type { PackingSettings } from "../../domain/records/retrieval-record.ts";
import type { ScoreProvenance } from "../../domain/records/score.ts";

export type VersionBasis = Pick<RetrievalReceipt, "scoring" | "minScoreSkipped"> & {
  /** Whether a newer memory was put before one that it makes outdated. */
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

/** The first version that states whether the context shows references. */
const CITATIONS_STATED_FROM = 14;

/**
 * The version of a new receipt; the first rule that applies wins. 25: adaptive fusion. 24: a newer memory was put before an
 * outdated one. 23: relative fusion. 22: repeated text is folded. 21: neighbours are packed with what brought them in. 16 to 19:
 * rank fusion, by what it uses. 20: weighted by stated times. 12 to 14: other weighted ones.
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

/** Whether receipts of a version say if the context shows references. */
export function statesCitations(version: number): boolean {
  return version >= CITATIONS_STATED_FROM;
}

/** The optional packing settings that take effect, and so are part of a receipt. */
export function effectiveOptions(
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

/** Whether one of the scores was adjusted so that a newer memory comes before an outdated one. */
export function marksOlder(provenances: Iterable<ScoreProvenance>): boolean {
  return Iterator.from(provenances).some(({ adjustments }) =>
    adjustments.some(({ kind }) => kind === "newer_first"),
  );
}
