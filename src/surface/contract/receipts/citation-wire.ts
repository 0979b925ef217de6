import { z } from "zod";
import { CITATION_METHODS } from "../../../domain/records/citations.ts";
import type { AnswerCitationsInput } from "../../../engine/receipts/api.ts";
import { userIdIn, uuidIn } from "../core/fields.ts";
import { readUuid } from "../core/operation-parts.ts";

/** Characters of a caller's name for an answer. */
const MAX_ANSWER_ID = 512;
const MAX_CITED = 1000;

const method = z.enum(CITATION_METHODS);
const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "is not a SHA-256 of 64 lower-case hexadecimal digits");

export const citationsBodySchema = z
  .strictObject({
    citation_id: uuidIn.nullish().meta({
      description:
        "UUID that you choose; a retry with the same id and input records nothing twice.",
    }),
    request_id: uuidIn.meta({ description: "The retrieval that the answer was made from." }),
    answer_id: z
      .string()
      .superRefine((value, context) => {
        const length = [...value].length;
        if (value.trim() === "") context.addIssue({ code: "custom", message: "is blank" });
        if (length > MAX_ANSWER_ID) {
          const message = `has ${length} characters; at most ${MAX_ANSWER_ID} are allowed`;
          context.addIssue({ code: "custom", message });
        }
      })
      .meta({
        minLength: 1,
        maxLength: MAX_ANSWER_ID,
        description: "Your name of the answer.",
        examples: ["answer-1"],
      }),
    cited_node_ids: z.array(uuidIn).max(MAX_CITED).optional().meta({
      description: "Memories that the answer cites, none twice; empty: none was reported.",
      default: [],
    }),
    answer_sha256: sha256.nullish().meta({ description: "SHA-256 of the answer's text." }),
    method: method.optional().meta({ description: "Who says so.", default: "model_reported" }),
    user_id: userIdIn,
  })
  .meta({ id: "AnswerCitationsRequest" });
/** As a model sees it; a caller that may repeat the call supplies the id of the report. */
export const citationsToolSchema = z.strictObject({
  request_id: uuidIn.meta({ description: "From memory_retrieve." }),
  answer_id: citationsBodySchema.shape.answer_id,
  cited_node_ids: z.array(uuidIn).meta({ description: "May be empty." }),
  citation_id: uuidIn.nullish().meta({ description: "Your UUID; makes a retry safe." }),
  answer_sha256: citationsBodySchema.shape.answer_sha256,
  method: method.nullish().meta({ description: "Who says so.", default: "model_reported" }),
  user_id: userIdIn,
});
export type CitationsWire = Omit<z.infer<typeof citationsBodySchema>, "method"> &
  Pick<z.infer<typeof citationsToolSchema>, "method">;

/**
 * The engine's input, from the wire.
 * @throws SvcError invalid_argument for a malformed UUID
 */
export function toCitationsInput(wire: CitationsWire): AnswerCitationsInput {
  const { citation_id: citationId, cited_node_ids: cited } = wire;
  return {
    citationId:
      citationId === null || citationId === undefined
        ? undefined
        : readUuid(citationId, "citation_id"),
    requestId: readUuid(wire.request_id, "request_id"),
    answerId: wire.answer_id,
    citedNodeIds: cited?.map((id, index) => readUuid(id, `cited_node_ids[${index}]`)),
    answerSha256: wire.answer_sha256,
    method: wire.method ?? undefined,
  };
}
