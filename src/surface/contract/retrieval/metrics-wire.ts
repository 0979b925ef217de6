import { QUERY_INTENTS } from "../../../domain/enums.ts";
import { coverageForm, historicalForm } from "../../../domain/records/receipt.ts";
import { OUTCOMES } from "../../../domain/records/retrieval-record.ts";
import { multipliersForm } from "../../../domain/records/score.ts";
import type { RetrievalMetadata } from "../../../engine/retrieve/api.ts";
import {
  count,
  dictionary,
  flag,
  instant,
  list,
  member,
  noted,
  nothing,
  nullable,
  number,
  object,
  shownAs,
  text,
  told,
  uuid,
  view,
} from "../../../lib/form.ts";

const outcome = noted(nullable(member(OUTCOMES)), {
  description: "Null while it is off.",
});

/** The metrics of a retrieval. */
export const metricsView = noted(
  view<RetrievalMetadata>()({
    requestId: noted(uuid, { description: "Names the receipt." }),
    receiptPersisted: noted(flag, { description: "Whether a receipt is kept." }),
    referenceTime: instant,
    intent: member(QUERY_INTENTS),
    candidatesGenerated: dictionary(count),
    candidatesFiltered: count,
    minScore: nullable(number),
    resultLimit: nullable(count),
    maxPerSource: nullable(count),
    maxPerEvidence: nullable(count),
    candidatesIncluded: count,
    scoringConfigVersion: text,
    rankingMultipliers: nullable(multipliersForm),
    rankingProfileId: told(shownAs(nothing, nullable(text)), () => null),
    rankingProfileStatus: told(member(["none", "request_override"]), ({ rankingMultipliers }) =>
      rankingMultipliers === undefined ? "none" : "request_override",
    ),
    rankingProfileReason: told(
      nullable(member(["explicit_multipliers"])),
      ({ rankingMultipliers }) => rankingMultipliers && "explicit_multipliers",
    ),
    timingMs: told(number, ({ timingMs }) => Math.round(timingMs * 100) / 100),
    stages: list(object({ stage: text, timingMs: number, input: count, output: count })),
    backendsUsed: list(text),
    embeddingMismatch: flag,
    backendFailures: dictionary(text),
    minScoreSkipped: flag,
    reranker: outcome,
    reformulation: outcome,
    aggregationCoverage: nullable(coverageForm),
    historicalCoverage: nullable(historicalForm),
    temporalRelation: told(nothing, () => null),
  }),
  { id: "RetrievalMetrics" },
);
