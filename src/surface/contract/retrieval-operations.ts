import { z } from "zod";
import { requireOwner } from "./caller.ts";
import {
  type CitationsWire,
  citationsBodySchema,
  citationsSchema,
  toCitationsInput,
  toCitationsWire,
} from "./citation-wire.ts";
import { uuidIn } from "./fields.ts";
import { defineOperation } from "./operation.ts";
import { missing, ownerQuery, READS, readLimit, readUuid } from "./operation-parts.ts";
import { receiptAnswerSchema, toReceiptWire } from "./receipt-wire.ts";
import {
  retrieveAnswerSchema,
  retrieveToolAnswerSchema,
  toRetrieveAnswer,
  toRetrieveToolAnswer,
} from "./retrieve-answer.ts";
import {
  flattenFilters,
  type RetrieveWire,
  retrieveBodySchema,
  retrieveToolSchema,
  toRetrieveInput,
} from "./retrieve-request.ts";
import { parseWire } from "./wire-issues.ts";

const PAGE = [1, 1000] as const;
const DEFAULT_PAGE = 100;

/** An object of one owner, by its id. */
type OwnedId = { readonly id: string; readonly userId: string | undefined };

export const retrieveOperation = defineOperation({
  name: "retrieve",
  summary: "Find memories for a question",
  description:
    "Ranks the memories that answer a question and packs the best into a context of at most token_budget tokens.",
  run: (context, wire: RetrieveWire) =>
    context
      .engine()
      .retrieve(toRetrieveInput(wire, requireOwner(context.caller, wire.user_id), context.signal)),
  http: {
    method: "post",
    path: "/v1/retrieve",
    request: { body: retrieveBodySchema },
    response: retrieveAnswerSchema,
    statuses: [],
    read: (parts) => flattenFilters(parseWire(retrieveBodySchema, parts.body, "body")),
    write: toRetrieveAnswer,
  },
  mcp: {
    tool: "memory_retrieve",
    title: "Search memories",
    description:
      "Find what is remembered about something. Ask in plain words, one topic at a time; call it before answering anything that " +
      "earlier conversations may have settled. Best matches come first; include_context adds them as ready-made text.",
    annotations: READS,
    input: retrieveToolSchema,
    output: retrieveToolAnswerSchema,
    needsOwner: true,
    read: (args) => parseWire(retrieveToolSchema, args, "arguments"),
    write: (response, wire) => toRetrieveToolAnswer(response, wire.include_context ?? false),
  },
});

export const getReceiptOperation = defineOperation({
  name: "get_retrieval_receipt",
  summary: "Read the receipt of a retrieval",
  description:
    "What decided an answer: settings, candidates with their scores, and what entered the context.",
  run: async ({ engine, caller }, input: OwnedId) => {
    const id = readUuid(input.id, "request_id");
    const receipt = await engine().getRetrievalReceipt(id, requireOwner(caller, input.userId));
    if (receipt === undefined) {
      throw missing("retrieval_receipt", id, `Retrieval receipt '${id}' not found`);
    }
    return receipt;
  },
  http: {
    method: "get",
    path: "/v1/retrievals/{request_id}",
    request: {
      params: z.object({ request_id: uuidIn }),
      query: z.object({ user_id: ownerQuery }),
    },
    response: receiptAnswerSchema,
    statuses: [404],
    read: ({ params, query }) => ({ id: params["request_id"] ?? "", userId: query["user_id"] }),
    write: toReceiptWire,
  },
});

export const recordCitationsOperation = defineOperation({
  name: "record_answer_citations",
  summary: "Record which memories an answer cites",
  description:
    "Keeps a report about an answer. Each cited memory must have been in the context of the retrieval, with text of its own.",
  run: ({ engine, caller }, wire: CitationsWire) =>
    engine().recordAnswerCitations(toCitationsInput(wire), requireOwner(caller, wire.user_id)),
  http: {
    method: "post",
    path: "/v1/answer-citations",
    request: { body: citationsBodySchema },
    response: citationsSchema,
    statuses: [400, 404, 409],
    read: (parts) => parseWire(citationsBodySchema, parts.body, "body"),
    write: toCitationsWire,
  },
});

export const listCitationsOperation = defineOperation({
  name: "list_answer_citations",
  summary: "List recorded citations",
  description: "Of one owner, by ascending id; the last id of a page continues it.",
  run: (
    { engine, caller },
    query: {
      readonly userId?: string | undefined;
      readonly afterId?: string;
      readonly limit: number;
    },
  ) =>
    engine().listAnswerCitations({
      userId: requireOwner(caller, query.userId),
      afterId: query.afterId,
      limit: query.limit,
    }),
  http: {
    method: "get",
    path: "/v1/answer-citations",
    request: {
      query: z.object({
        user_id: ownerQuery,
        after_id: uuidIn.optional().meta({ description: "Begin behind this id." }),
        limit: z.int().min(PAGE[0]).max(PAGE[1]).optional().meta({ default: DEFAULT_PAGE }),
      }),
    },
    response: z.array(citationsSchema),
    statuses: [],
    read: ({ query }) => ({
      userId: query["user_id"],
      ...(query["after_id"] !== undefined && { afterId: readUuid(query["after_id"], "after_id") }),
      limit: query["limit"] === undefined ? DEFAULT_PAGE : readLimit(query["limit"], PAGE),
    }),
    write: (records) => records.map(toCitationsWire),
  },
});

export const getCitationsOperation = defineOperation({
  name: "get_answer_citations",
  summary: "Read recorded citations",
  description: "The report about one answer, as it was recorded.",
  run: async ({ engine, caller }, input: OwnedId) => {
    const id = readUuid(input.id, "citation_id");
    const record = await engine().getAnswerCitations(id, requireOwner(caller, input.userId));
    if (record === undefined) {
      throw missing("answer_citations", id, `Answer citations '${id}' not found`);
    }
    return record;
  },
  http: {
    method: "get",
    path: "/v1/answer-citations/{citation_id}",
    request: {
      params: z.object({ citation_id: uuidIn }),
      query: z.object({ user_id: ownerQuery }),
    },
    response: citationsSchema,
    statuses: [404],
    read: ({ params, query }) => ({ id: params["citation_id"] ?? "", userId: query["user_id"] }),
    write: toCitationsWire,
  },
});
