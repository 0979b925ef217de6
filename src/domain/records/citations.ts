import { constant, instant, list, member, named, nullable, text, uuid } from "../../lib/form.ts";
import { noted, type ValueOf } from "../../lib/view.ts";

export const CITATION_METHODS = [
  "model_reported",
  "application_verified",
  "human_verified",
] as const;
export type CitationMethod = (typeof CITATION_METHODS)[number];

export const citationsForm = named("AnswerCitations", "Which memories an answer was made from.", {
  schemaVersion: constant(1),
  citationId: uuid,
  requestId: uuid,
  answerId: text,
  citedNodeIds: list(uuid),
  answerSha256: nullable(text),
  method: member(CITATION_METHODS),
  userId: text,
  recordedAt: instant,
  receiptChecksum: noted(text, { description: "Of the receipt that vouches for them." }),
  contextSha256: noted(text, { description: "Of the context that the answer was made from." }),
});

/** A report as it was recorded. It changes neither memories nor ranking. */
export type AnswerCitations = ValueOf<typeof citationsForm>;
