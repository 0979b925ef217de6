import { wholeOf } from "../../../domain/beginning.ts";
import { STRENGTHS } from "../../../domain/candidate-filter.ts";
import {
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  QUERY_INTENTS,
  REPRESENTATION_LEVELS,
  SCOPES,
  SOURCE_TYPES,
} from "../../../domain/enums.ts";
import type { Became } from "../../../domain/lifecycle.ts";
import { nodeForm } from "../../../domain/node.ts";
import { coverageForm, historicalForm } from "../../../domain/records/receipt.ts";
import { CONTEXT_FORMATS, OUTCOMES } from "../../../domain/records/retrieval-record.ts";
import { multipliersForm, provenanceForm, traceForm } from "../../../domain/records/score.ts";
import { type SeenIn, seenIn, seenInWords } from "../../../domain/speaker.ts";
import type {
  MemoryBundle,
  PackedRecord,
  ResultCandidate,
  RetrievalMetadata,
  RetrievalResponse,
  SessionLink,
  VisibleBinding,
} from "../../../engine/retrieve/api.ts";
import {
  anyObject,
  constant,
  count,
  dictionary,
  flag,
  instant,
  integer,
  list,
  mapOf,
  member,
  noted,
  nothing,
  nullable,
  number,
  object,
  omitted,
  shownAs,
  text,
  told,
  unit,
  uuid,
  view,
} from "../../../lib/form.ts";
import type { Instant } from "../../../lib/instant.ts";
import { contentLength, metadataLength, textCutter } from "../core/cut-texts.ts";
import { age, DOUBTFUL, PLAIN_SCOPE, PLAIN_STATES } from "../core/tool-text.ts";
import { explanationView, type ToldExplanation } from "../explanation.ts";
import { receiptView } from "../receipts.ts";
import { type FoldedHit, shownHits, unknownNote, type WithOverview } from "./text.ts";

const packedRecordView = noted(
  view<PackedRecord>()({
    node: told(nodeForm, ({ candidate }) => candidate.node),
    contentLength: told(contentLength, ({ candidate }) => wholeOf(candidate.node).content),
    metadataLength: told(metadataLength, ({ candidate }) => wholeOf(candidate.node).metadata),
    paths: told(
      noted(list(text), { description: "How it was found." }),
      ({ candidate }) => candidate.paths,
    ),
    pathCount: told(count, ({ candidate }) => candidate.pathCount),
    semanticScore: told(
      noted(nullable(number), { description: "Its own cosine." }),
      ({ candidate }) => candidate.semanticScore,
    ),
    lexicalScore: told(
      noted(nullable(number), { description: "Its own BM25, rescaled." }),
      ({ candidate }) => candidate.lexicalScore,
    ),
    graphProximity: told(number, ({ candidate }) => candidate.graphProximity),
    compositeScore: told(number, ({ candidate }) => candidate.compositeScore),
    semanticRelevance: told(omitted(number), ({ candidate }) => relevanceOf(candidate)),
    sessionContextLink: told(
      noted(omitted(object<SessionLink>({ triggerId: uuid, offset: integer })), {
        description: "Beside which memory of its conversation it stands.",
      }),
      ({ candidate }) => candidate.sessionLink,
    ),
    rerankerScore: told(nullable(number), ({ candidate }) => candidate.rerankerScore),
    scoreTrace: told(nullable(traceForm), ({ candidate }) => candidate.trace),
    scoreProvenance: told(provenanceForm, ({ candidate }) => candidate.provenance),
    representation: member(REPRESENTATION_LEVELS),
    tokenCost: count,
    renderedText: text,
    repeats: noted(omitted(count), {
      description: "Results with this text, which stands here once. Absent: one.",
    }),
    conflictFlag: told(
      noted(flag, { description: "Another memory contradicts it." }),
      ({ candidate }) => candidate.conflictFlag,
    ),
    contradictsId: told(nullable(uuid), ({ candidate }) => candidate.contradictsId),
  }),
  { id: "PackedRecord" },
);

/** `m1`, `m2`, ... of the records in a context. */
const contextReferencesForm = noted(mapOf(uuid), {
  description: "The memory behind each short reference of the context.",
});

function onlyExplained() {
  // A new object each time: the schema of a form is kept by its notes.
  return { description: "Only with explain." };
}

/** A context; its records only with an explanation. */
const bundleView = noted(
  view<MemoryBundle & { readonly isWhole: boolean }>()({
    sections: told(
      noted(omitted(mapOf(list(packedRecordView))), onlyExplained()),
      ({ isWhole, sections }) => (isWhole ? sections : undefined),
    ),
    includedCount: count,
    excludedIds: told(noted(omitted(list(uuid)), onlyExplained()), ({ isWhole, excludedIds }) =>
      isWhole ? excludedIds : undefined,
    ),
    tokensUsed: count,
    tokenBudget: count,
    budgetRemaining: integer,
    neededTokens: noted(omitted(count), {
      description:
        "The least token_budget that holds a record. Absent: one is there, or nothing was found.",
    }),
    minFidelity: member(REPRESENTATION_LEVELS),
    renderedContext: text,
    tokenizer: text,
    coverageNotice: nullable(text),
    contextGuidance: nullable(text),
    contextFormat: member(CONTEXT_FORMATS),
    contextReferences: contextReferencesForm,
  }),
  { id: "MemoryBundle" },
);

/** A value binding whose short form is visible in the context. */
const bindingView = noted(
  view<VisibleBinding>()({
    contextRef: text,
    nodeId: uuid,
    reference: text,
    kind: text,
    presentation: text,
    lookup: text,
    lookupAuthority: constant("caller"),
  }),
  { id: "VisibleBinding" },
);

/** Its relevance, if its scoring formula has one. */
function relevanceOf(candidate: ResultCandidate): number | undefined {
  return candidate.provenance.formulaVersion === 1 ? undefined : candidate.semanticRelevance;
}

const outcome = noted(nullable(member(OUTCOMES)), {
  description: "Null while it is off.",
});

const metricsView = noted(
  view<RetrievalMetadata & { readonly isWhole: boolean }>()({
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
    stages: told(
      noted(
        omitted(list(object({ stage: text, timingMs: number, input: count, output: count }))),
        onlyExplained(),
      ),
      ({ isWhole, stages }) => (isWhole ? stages : undefined),
    ),
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

const relevance = noted(omitted(number), {
  description:
    "Cosine of this memory, or of the one that brought it; 0 to 1. Absent with weighted fusion.",
});
const strength = noted(omitted(member(STRENGTHS)), {
  description: "weak: merely the nearest there is, which mostly does not answer the question.",
});
const olderThan = noted(omitted(uuid), {
  description: "A newer result that makes this one outdated. Absent: none was found.",
});

const became = noted(
  omitted(
    noted(
      view<Became>()({
        state: member([...LIFECYCLE_STATES, "expired"]),
        replacedBy: omitted(uuid),
      }),
      { id: "Became", description: "expired: active, and past its retention." },
    ),
  ),
  { description: "With as_of: what became of it since. Absent: it is active." },
);

const source = noted(
  omitted(
    noted(object<SeenIn>({ file: text, frameTimeS: nullable(number), thumbnail: nullable(text) }), {
      id: "SeenIn",
      description: "A file, the seconds into a video, and the key of the picture.",
    }),
  ),
  { description: "The photo or the frame in which it was seen. Absent: it was not seen." },
);

const resultView = noted(
  view<ResultCandidate>()({
    nodeId: told(uuid, ({ node }) => node.id),
    content: told(text, ({ node }) => node.content),
    contentLength: told(contentLength, ({ node }) => wholeOf(node).content),
    score: told(noted(number, { description: "To four decimals." }), ({ compositeScore }) =>
      fourDecimals(compositeScore),
    ),
    semanticRelevance: told(relevance, (candidate) => {
      const own = relevanceOf(candidate);
      return own && fourDecimals(own);
    }),
    strength,
    olderThan: told(olderThan, (candidate) => candidate.olderThan?.nodeId),
    became,
    nodeType: told(member(NODE_TYPES), ({ node }) => node.nodeType),
    lifecycleState: told(member(LIFECYCLE_STATES), ({ node }) => node.lifecycleState),
    confidence: told(unit, ({ node }) => node.confidence),
    salience: told(unit, ({ node }) => node.salience),
    epistemicType: told(member(EPISTEMIC_TYPES), ({ node }) => node.epistemicType),
    sourceType: told(member(SOURCE_TYPES), ({ node }) => node.sourceType),
    scope: told(member(SCOPES), ({ node }) => node.scope),
    sessionId: told(nullable(text), ({ node }) => node.sessionId),
    eventTime: told(nullable(instant), ({ node }) => node.eventTime),
    validFrom: told(instant, ({ node }) => node.validFrom),
    validTo: told(nullable(instant), ({ node }) => node.validTo),
    evidenceRefs: told(list(uuid), ({ node }) => node.evidenceRefs),
    metadata: told(nullable(anyObject), ({ node }) => node.metadata),
    metadataLength: told(metadataLength, ({ node }) => wholeOf(node).metadata),
    source: told(source, ({ node }) => seenIn(node.metadata)),
  }),
  { id: "RetrieveResult" },
);

/** An answer with the texts of its explanation, if requested; it is then whole. */
export type ToldRetrieval = RetrievalResponse &
  WithOverview & {
    readonly isWhole?: boolean | undefined;
    readonly explanation?: ToldExplanation | undefined;
  };

/** The answer over HTTP: complete with an explanation, else without what only an audit needs. */
export const retrieveView = noted(
  view<ToldRetrieval>()({
    results: list(resultView),
    bundle: told(bundleView, ({ bundle, isWhole = false }) => ({ ...bundle, isWhole })),
    valueBindings: list(bindingView),
    metrics: told(metricsView, ({ metadata, isWhole = false }) => ({ ...metadata, isWhole })),
    receipt: told(omitted(receiptView), ({ explained }) => explained?.receipt),
    explanation: omitted(explanationView),
  }),
  { id: "RetrieveAnswer" },
);

/** A hit as it is shown: to a model its age at this moment, to a program when it was stored. */
type ShownHit = FoldedHit & { readonly now: Instant | undefined };

const shortView = view<ShownHit>()({
  nodeId: told(uuid, ({ hit }) => hit.node.id),
  content: told(text, ({ hit }) => hit.node.content),
  contentLength: told(contentLength, ({ hit }) => wholeOf(hit.node).content),
  score: told(noted(omitted(number), { description: "Absent: the hit is weak." }), ({ hit }) =>
    hit.strength === "weak" ? undefined : fourDecimals(hit.compositeScore),
  ),
  nodeType: told(member(NODE_TYPES), ({ hit }) => hit.node.nodeType),
  lifecycleState: told(
    noted(omitted(member(LIFECYCLE_STATES)), { description: "Absent: tentative or stable." }),
    ({ hit: { node } }) => unless(PLAIN_STATES.includes(node.lifecycleState), node.lifecycleState),
  ),
  confidence: told(
    noted(omitted(unit), { description: "Absent: at least 0.5." }),
    ({ hit: { node } }) => unless(node.confidence >= DOUBTFUL, node.confidence),
  ),
  repeats: told(
    noted(omitted(count), {
      description: "Memories with this text; the newest is shown.",
    }),
    ({ repeats }) => (repeats > 1 ? repeats : undefined),
  ),
  strength: told(noted(strength, { description: "Absent: strong." }), ({ hit }) =>
    unless(hit.strength === "strong", hit.strength),
  ),
  olderThan: told(olderThan, ({ hit }) => hit.olderThan?.nodeId),
  became: told(became, ({ hit }) => hit.became),
  stored: told(
    noted(text, { description: "How long ago; after two weeks the date." }),
    ({ hit: { node }, now }) => (now === undefined ? node.createdAt : age(node.createdAt, now)),
  ),
  eventTime: told(nullable(instant), ({ hit }) => hit.node.eventTime),
  scope: told(
    noted(omitted(member(SCOPES)), { description: "Absent: personal." }),
    ({ hit: { node } }) => unless(node.scope === PLAIN_SCOPE, node.scope),
  ),
  sourceType: told(member(SOURCE_TYPES), ({ hit }) => hit.node.sourceType),
  source: told(omitted(text), ({ hit }) => {
    const seen = seenIn(hit.node.metadata);
    return seen && seenInWords(seen);
  }),
});

/** The metrics that a caller can act on. */
const toolMetricsView = view<RetrievalMetadata>()({
  requestId: uuid,
  embeddingMismatch: told(omitted(flag), ({ embeddingMismatch }) => embeddingMismatch || undefined),
  backendFailures: told(omitted(dictionary(text)), ({ backendFailures }) =>
    Object.keys(backendFailures).length === 0 ? undefined : backendFailures,
  ),
  aggregationCoverage: nullable(coverageForm),
  historicalCoverage: nullable(historicalForm),
});

type ToolAnswer = {
  readonly results: readonly ShownHit[];
  readonly note: string | undefined;
  readonly metrics: RetrievalMetadata;
  readonly context: string | undefined;
  readonly neededTokens: number | undefined;
  readonly contextReferences: MemoryBundle["contextReferences"] | undefined;
  readonly valueBindings: readonly VisibleBinding[] | undefined;
};

/**
 * The short answer, as returned over MCP: the hits to show, each text once, scores to four decimals, actionable metrics, and the context on
 * request.
 */
export const retrieveToolView = view<ToolAnswer>()({
  results: list(shortView),
  count: told(count, ({ results }) => results.length),
  note: omitted(text),
  metrics: toolMetricsView,
  context: omitted(text),
  neededTokens: omitted(count),
  contextReferences: omitted(contextReferencesForm),
  valueBindings: omitted(list(bindingView)),
});

/** The answer with at most this many UTF-16 units of text: the longest texts are cut. */
export function bounded<R extends RetrievalResponse>(response: R, maxChars: number): R {
  const { results, bundle } = response;
  const records = [...bundle.sections.values()].flat();
  const rendered = records.reduce((sum, { renderedText }) => sum + renderedText.length, 0);
  const nodes = [...results, ...records.map(({ candidate }) => candidate)].map(({ node }) => node);
  const room = Math.max(maxChars / 4, maxChars - rendered - bundle.renderedContext.length);
  const cut = textCutter(nodes, room);
  if (nodes.every((node) => cut(node) === node)) return response;
  const shortened = (candidate: ResultCandidate) => ({ ...candidate, node: cut(candidate.node) });
  const sections = new Map(
    Array.from(bundle.sections, ([name, packed]) => [
      name,
      packed.map((record) => ({ ...record, candidate: shortened(record.candidate) })),
    ]),
  );
  return { ...response, results: results.map(shortened), bundle: { ...bundle, sections } };
}

export function toToolAnswer(
  response: RetrievalResponse,
  includeContext: boolean,
  limit?: number | null,
  now?: Instant,
): ToolAnswer {
  const { bundle, metadata, valueBindings } = response;
  const references = bundle.contextReferences.size > 0 ? bundle.contextReferences : undefined;
  const { hits, ...known } = shownHits(response, limit);
  return {
    results: hits.map((hit) => ({ ...hit, now })),
    note: unknownNote(known),
    metrics: metadata,
    context: includeContext ? bundle.renderedContext : undefined,
    neededTokens: includeContext ? bundle.neededTokens : undefined,
    contextReferences: includeContext ? references : undefined,
    valueBindings: includeContext ? valueBindings : undefined,
  };
}

/** The value where it is not the usual one. */
function unless<T>(isUsual: boolean, value: T): T | undefined {
  return isUsual ? undefined : value;
}

function fourDecimals(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
