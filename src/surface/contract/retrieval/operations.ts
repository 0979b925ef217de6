import { z } from "zod";
import { missing } from "../../../domain/errors.ts";
import { type AnswerCitations, citationsForm } from "../../../domain/records/citations.ts";
import { list } from "../../../lib/form.ts";
import { told, view } from "../../../lib/view.ts";
import { requireOwner } from "../core/caller.ts";
import { userIdIn, uuidIn } from "../core/fields.ts";
import { defineOperation } from "../core/operation.ts";
import { ADDS, ownerQuery, present, READS, readLimit, readUuid } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import {
  type CitationsWire,
  citationsBodySchema,
  citationsToolSchema,
  toCitationsInput,
} from "../receipts/citation-wire.ts";
import { tellCitations, tellCitationsList, tellReceipt } from "../receipts/text.ts";
import { receiptView } from "../receipts/wire.ts";
import { retrieveToolView, retrieveView, toToolAnswer } from "./answer.ts";
import {
  flattenFilters,
  type RetrieveWire,
  retrieveBodySchema,
  retrieveToolSchema,
  toRetrieveInput,
} from "./request.ts";
import { tellRetrieve } from "./text.ts";

const PAGE = [1, 1000] as const;
const DEFAULT_PAGE = 100;

/** An object of one owner, by its id. */
type OwnedId = {
  readonly id: string;
  readonly userId: string | null | undefined;
};

const receiptToolSchema = z.strictObject({
  request_id: uuidIn.meta({ description: "From memory_retrieve." }),
  user_id: userIdIn,
});
const citationToolSchema = z.strictObject({
  citation_id: uuidIn,
  user_id: userIdIn,
});
const citationsListToolSchema = z.strictObject({
  limit: z.int().nullish().meta({ minimum: PAGE[0], maximum: PAGE[1], default: DEFAULT_PAGE }),
  after_id: uuidIn.nullish(),
  user_id: userIdIn,
});

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
    response: retrieveView,
    statuses: [],
    read: (parts) => flattenFilters(parseWire(retrieveBodySchema, parts.body, "body")),
  },
  mcp: {
    tool: "memory_retrieve",
    title: "Search memories",
    description:
      "Find what is remembered. Call it before you answer what earlier conversations may have settled; ask in plain words, one topic a call. " +
      "Returns the best matches first, each with id, state, age and source; not needed for what this conversation already says.",
    toolSet: "core",
    coreArguments: ["query", "scope", "limit", "time_from", "knowledge_at", "include_context"],
    silentArguments: ["mode", "include_cross_scope"],
    annotations: READS,
    input: retrieveToolSchema,
    output: retrieveToolView,
    needsOwner: true,
    read: (args) => parseWire(retrieveToolSchema, args, "arguments"),
    write: (response, wire) =>
      retrieveToolView.json(toToolAnswer(response, wire.include_context ?? false, wire.limit)),
    tell: tellRetrieve,
    search: {
      isEmpty: ({ results }) => results.length === 0,
      owner: (wire) => wire.user_id,
    },
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
    response: receiptView,
    statuses: [404],
    read: ({ params, query }) => ({
      id: params["request_id"] ?? "",
      userId: query["user_id"],
    }),
  },
  mcp: {
    tool: "memory_get_retrieval_receipt",
    title: "Explain a retrieval",
    description:
      "Read what decided the answer of a memory_retrieve call: settings, scores, and what entered its context. " +
      "For checking why something was or was not found.",
    toolSet: "full",
    annotations: READS,
    input: receiptToolSchema,
    output: receiptView,
    needsOwner: true,
    read: (args) => {
      const wire = parseWire(receiptToolSchema, args, "arguments");
      return { id: wire.request_id, userId: wire.user_id };
    },
    tell: tellReceipt,
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
    response: citationsForm,
    statuses: [400, 404, 409],
    read: (parts) => parseWire(citationsBodySchema, parts.body, "body"),
  },
  mcp: {
    tool: "memory_record_answer_citations",
    title: "Record citations",
    description:
      "Record which memories your answer was made from, after a memory_retrieve. Only memories that were in its context can be cited; ranking does not change.",
    toolSet: "full",
    annotations: ADDS,
    input: citationsToolSchema,
    output: citationsForm,
    needsOwner: true,
    read: (args) => parseWire(citationsToolSchema, args, "arguments"),
    tell: tellCitations,
  },
});

export const listCitationsOperation = defineOperation({
  name: "list_answer_citations",
  summary: "List recorded citations",
  description: "Of one owner, by ascending id; the last id of a page continues it.",
  run: (
    { engine, caller },
    query: {
      readonly userId: string | null | undefined;
      readonly afterId: string | undefined;
      readonly limit: number;
    },
  ) =>
    engine().listAnswerCitations({
      userId: requireOwner(caller, query.userId),
      afterId: present(query.afterId, (id) => readUuid(id, "after_id")),
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
    response: list(citationsForm),
    statuses: [],
    read: ({ query }) => ({
      userId: query["user_id"],
      afterId: present(query["after_id"], (id) => readUuid(id, "after_id")),
      limit: query["limit"] === undefined ? DEFAULT_PAGE : readLimit(query["limit"], PAGE),
    }),
  },
  mcp: {
    tool: "memory_list_answer_citations",
    title: "List citations",
    description:
      "List which memories earlier answers were made from, by citation_id; page on with after_id.",
    toolSet: "full",
    annotations: READS,
    input: citationsListToolSchema,
    // Older revisions of the protocol allow only objects.
    output: view<readonly AnswerCitations[]>()({
      result: told(list(citationsForm), (records) => records),
    }),
    needsOwner: true,
    read: (args) => {
      const wire = parseWire(citationsListToolSchema, args, "arguments");
      const { user_id: userId, after_id: afterId, limit } = wire;
      return {
        userId,
        afterId: afterId ?? undefined,
        limit: limit ?? DEFAULT_PAGE,
      };
    },
    tell: (records, page) => tellCitationsList(records, page),
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
    response: citationsForm,
    statuses: [404],
    read: ({ params, query }) => ({
      id: params["citation_id"] ?? "",
      userId: query["user_id"],
    }),
  },
  mcp: {
    tool: "memory_get_answer_citations",
    title: "Read citations",
    description: "Read which memories one earlier answer was made from, by its citation_id.",
    toolSet: "full",
    annotations: READS,
    input: citationToolSchema,
    output: citationsForm,
    needsOwner: true,
    read: (args) => {
      const wire = parseWire(citationToolSchema, args, "arguments");
      return { id: wire.citation_id, userId: wire.user_id };
    },
    tell: tellCitations,
  },
});
