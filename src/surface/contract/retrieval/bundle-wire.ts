import { wholeOf } from "../../../domain/beginning.ts";
import { REPRESENTATION_LEVELS } from "../../../domain/enums.ts";
import { nodeForm } from "../../../domain/node.ts";
import { CONTEXT_FORMATS } from "../../../domain/records/retrieval-record.ts";
import { provenanceForm, traceForm } from "../../../domain/records/score.ts";
import type {
  MemoryBundle,
  PackedRecord,
  ResultCandidate,
  SessionLink,
  VisibleBinding,
} from "../../../engine/retrieve/api.ts";
import {
  constant,
  count,
  flag,
  integer,
  list,
  mapOf,
  member,
  noted,
  nullable,
  number,
  object,
  omitted,
  text,
  told,
  uuid,
  view,
} from "../../../lib/form.ts";
import { contentLength, metadataLength } from "../core/cut-texts.ts";

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
export const contextReferencesForm = noted(mapOf(uuid), {
  description: "The memory behind each short reference of the context.",
});

/** A context and its records. */
export const bundleView = noted(
  view<MemoryBundle & { readonly isShort?: boolean | undefined }>()({
    sections: told(
      noted(omitted(mapOf(list(packedRecordView))), {
        description: "The records. Absent where neither limit nor explain was given.",
      }),
      ({ sections, isShort }) => (isShort ? undefined : sections),
    ),
    includedCount: count,
    excludedIds: told(
      noted(omitted(list(uuid)), {
        description: "Absent where neither limit nor explain was given.",
      }),
      ({ excludedIds, isShort }) => (isShort ? undefined : excludedIds),
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
export const bindingView = noted(
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

/** Its relevance, unless it was scored by a formula without one. */
export function relevanceOf(candidate: ResultCandidate): number | undefined {
  return candidate.provenance.formulaVersion === 1 ? undefined : candidate.semanticRelevance;
}
