import { z } from "zod";
import { LIMITS, parseId } from "../../domain/arguments.ts";
import { QUERY_INTENTS } from "../../domain/enums.ts";
import { missing, missingNode } from "../../domain/errors.ts";
import {
  type AnswerCitations,
  CITATION_METHODS,
  citationsForm,
  isLean,
  type KeptReceipt,
  type LeanReceipt,
  leanForm,
  receiptForm,
} from "../../domain/records/receipt.ts";
import type {
  ListedRetrieval,
  ListedRetrievals,
  ListedUse,
  ListedUses,
} from "../../engine/receipts/api.ts";
import {
  count,
  type Declared,
  dictionary,
  flag,
  instant,
  list,
  member,
  noted,
  nullable,
  object,
  omitted,
  sha256,
  text,
  told,
  uuid,
  type View,
  view,
} from "../../lib/form.ts";
import {
  afterId,
  boundedText,
  cursor,
  flagInQuery,
  id,
  instantInQuery,
  optionalId,
  owner,
  ownerInQuery,
  textInQuery,
  uuidIn,
  wholeNumber,
} from "./core/fields.ts";
import { ADDS, defineOperation, found, part, READS } from "./core/operation.ts";
import { field, optional, parsed, required, withDefault } from "./core/request.ts";
import { counted, listed, moment, name, oneLine, rounded } from "./core/tool-text.ts";
import { explanationView, withTexts } from "./explanation.ts";

/** Code points of the question repeated from a receipt. */
const QUERY_CHARS = 500;

/** What determined an answer: the question, the results in order, and which of them reached the context. */
function tellReceipt({ receipt }: KeptReceipt): string {
  const lean = isLean(receipt) ? receipt : undefined;
  const candidates: readonly LeanReceipt["candidates"][number][] =
    lean?.candidates ??
    receipt.candidates.map((one, index) => ({ ...one, rank: index + 1, reasons: undefined }));
  const packed = candidates.filter((candidate) => candidate.inContext).length;
  return [
    `Retrieval ${receipt.requestId}, ${moment(receipt.referenceTime)}, of ${name(receipt.userId)}: ${oneLine(receipt.query, QUERY_CHARS)}`,
    `${counted(lean?.resultCount ?? candidates.length, "result", "results")}, ${packed} in the context (sha256 ${receipt.contextSha256})`,
    ...(lean ? ["detail lean: parts of scores and what is not listed here were not kept"] : []),
    ...listed(candidates, ({ nodeId, rank, score, inContext }) => {
      return `${rank}. ${nodeId} score ${rounded(score)}${inContext ? ", in the context" : ""}`;
    }),
  ].join("\n");
}

const checksum = noted(sha256, {
  description:
    "SHA-256 of the object without this key: UTF-8, no blanks, keys in this order, shortest numbers.",
});

const retrievalsView = noted(
  view<ListedRetrievals>()({
    retrievals: list(
      object<ListedRetrieval>({
        requestId: uuid,
        createdAt: instant,
        client: noted(nullable(text), { description: "The program that asked, if it said so." }),
        query: text,
        intent: member(QUERY_INTENTS),
        resultCount: count,
        contextCount: noted(count, { description: "Records in the context." }),
        tokensUsed: count,
        timingMs: noted(nullable(count), {
          description: "How long the answer took; null where an earlier version gave it.",
        }),
        notes: list(text),
        failures: dictionary(text),
      }),
    ),
    count: told(count, ({ retrievals }) => retrievals.length),
    hasMore: flag,
    nextCursor: noted(nullable(text), { description: "Pass it as cursor for the next page." }),
  }),
  { id: "RetrievalPage" },
);

/** One page of retrievals that showed a memory. */
const usesView = noted(
  view<ListedUses>()({
    retrievals: list(
      object<ListedUse>({
        requestId: uuid,
        createdAt: instant,
        client: noted(nullable(text), { description: "The program that asked, if it said so." }),
        query: text,
        rank: noted(count, { description: "Of the memory among the results, from 1." }),
        representation: noted(text, { description: "In which form it was shown." }),
        cited: noted(flag, {
          description: "Whether a report about an answer made from it cites the memory.",
        }),
      }),
    ),
    count: told(count, ({ retrievals }) => retrievals.length),
    hasMore: flag,
    nextCursor: noted(nullable(text), { description: "Pass it as cursor for the next page." }),
  }),
  { id: "MemoryUsePage" },
);

/** A full receipt or a lean one: the keys of its canonical text in order, then the checksum of that text. */
export const receiptView: View<KeptReceipt> = {
  json: ({ text: receipt, checksum: own }) => ({ ...JSON.parse(receipt), checksum: own }),
  shape: {
    kind: "object",
    members: [
      ...eitherOf(receiptForm.members, leanForm.members),
      { name: "checksum", key: "checksum", form: checksum },
    ],
  },
  notes: {
    id: "RetrievalReceipt",
    description:
      "What decided an answer: all of it, or with detail `lean` only what explains it; no part of it holds the text of a memory.",
  },
};

/** The members of two objects; those that are required in only one may be missing. */
function eitherOf(one: readonly Declared[], other: readonly Declared[]): readonly Declared[] {
  const twins = new Map(other.map((member) => [member.name, member.form]));
  const own = new Set(one.map(({ name }) => name));
  return [
    ...one.map(({ form, ...rest }) => ({ ...rest, form: eitherForm(form, twins.get(rest.name)) })),
    ...other
      .filter(({ name }) => !own.has(name))
      .map(({ form, ...rest }) => ({ ...rest, form: eitherForm(form, undefined) })),
  ];
}

function eitherForm(form: View<never>, twin: View<never> | undefined): View<never> {
  const { shape } = form;
  const isLeftOut = twin === undefined || twin.omits !== undefined;
  if (isLeftOut) return form.omits === undefined ? omitted(form) : form;
  const other = twin.shape;
  if (shape.kind === "object" && other.kind === "object") {
    const members = eitherOf(shape.members, other.members);
    return { ...form, shape: { kind: "object", members } };
  }
  if (shape.kind === "list" && other.kind === "list") {
    return { ...form, shape: { ...shape, of: eitherForm(shape.of, other.of) } };
  }
  return form;
}

/** Characters of a caller's name for an answer. */
const MAX_ANSWER_ID = 512;
const MAX_CITED = 1000;

const getReceiptOperation = defineOperation({
  name: "get_retrieval_receipt",
  summary: "Read the receipt of a retrieval",
  description:
    "What decided an answer: settings, candidates with their scores, and what entered the context.",
  request: {
    request_id: id({}, "From memory_retrieve."),
    user_id: ownerInQuery,
  },
  run: async ({ engine }, { requestId, userId }) =>
    found(engine().getRetrievalReceipt(requestId, userId), () =>
      missing("retrieval_receipt", requestId, `Retrieval receipt '${requestId}' not found`),
    ),
  answer: receiptView,
  http: { route: "get /v1/retrievals/{request_id}", statuses: [404] },
  mcp: {
    tool: "memory_get_retrieval_receipt",
    title: "Explain a retrieval",
    description:
      "Read what decided the answer of a memory_retrieve call: settings, scores, and what entered its context. " +
      "For checking why something was or was not found.",
    annotations: READS,
    tell: tellReceipt,
  },
});

export const listRetrievalsOperation = defineOperation({
  name: "list_retrievals",
  summary: "List retrievals",
  description: "Those whose receipts are kept, newest first; follow next_cursor.",
  request: {
    user_id: ownerInQuery,
    client: textInQuery("Only of this program."),
    failed: flagInQuery("true: only those in which a search failed; false: only the others."),
    time_from: instantInQuery("At or after this moment."),
    time_to: instantInQuery("Before this moment."),
    cursor,
    limit: wholeNumber([1, 1000], 100),
  },
  run: async ({ engine }, query) => engine().listRetrievals(query),
  answer: retrievalsView,
  http: { route: "get /v1/retrievals" },
});

export const explainOperation = defineOperation({
  name: "explain_retrieval",
  summary: "Explain a retrieval",
  description:
    "Why each record was or was not in the context, in plain words, from the receipt alone; with the texts of today.",
  request: { request_id: id(), user_id: ownerInQuery },
  run: async ({ engine, caller }, { requestId, userId }) => {
    const explanation = await found(engine().explain(requestId, userId), () =>
      missing("retrieval_receipt", requestId, `Retrieval receipt '${requestId}' not found`),
    );
    return withTexts(engine(), explanation, caller.boundUserId ?? userId, LIMITS.pageChars);
  },
  answer: explanationView,
  http: { route: "get /v1/retrievals/{request_id}/explanation", statuses: [404] },
});

const nodeRetrievalsOperation = defineOperation({
  name: "get_node_retrievals",
  summary: "List the retrievals that showed a memory",
  description: "Those with the memory in their context, newest first, as far as receipts are kept.",
  request: {
    node_id: id(),
    cursor,
    limit: wholeNumber([1, 1000], 100),
  },
  run: async ({ engine, userId }, { nodeId, ...query }) =>
    found(engine().nodeRetrievals(nodeId, { ...query, userId }), () => missingNode(nodeId)),
  answer: usesView,
  http: { route: "get /v1/nodes/{node_id}/retrievals", statuses: [404] },
});

const recordCitationsOperation = defineOperation({
  name: "record_answer_citations",
  summary: "Record which memories an answer cites",
  description:
    "Keeps a report about an answer. Each cited memory must have been in the context of the retrieval, with text of its own.",
  request: {
    citation_id: optionalId(
      "UUID that you choose; a retry with the same id and input records nothing twice.",
      "Your UUID; makes a retry safe.",
    ),
    request_id: id("The retrieval that the answer was made from.", "From memory_retrieve."),
    answer_id: required(boundedText(MAX_ANSWER_ID, false), {
      description: "Your name of the answer.",
      examples: ["answer-1"],
    }),
    cited_node_ids: parsed(
      field(
        z.array(uuidIn).max(MAX_CITED).optional().meta({
          description: "Memories that the answer cites, none twice; empty: none was reported.",
          default: [],
        }),
        z.array(uuidIn).meta({ description: "May be empty." }),
      ),
      (ids, name) => ids.map((cited, index) => parseId(cited, `${name}[${index}]`)),
    ),
    answer_sha256: optional(
      z.string().regex(/^[0-9a-f]{64}$/, "is not a SHA-256 of 64 lower-case hexadecimal digits"),
      "SHA-256 of the answer's text.",
    ),
    method: withDefault(z.enum(CITATION_METHODS), "model_reported", "Who says so."),
    user_id: owner,
  },
  run: ({ engine }, { userId, ...input }) => engine().recordAnswerCitations(input, userId),
  answer: citationsForm,
  http: {
    route: "post /v1/answer-citations",
    body: "AnswerCitationsRequest",
    statuses: [400, 404, 409],
  },
  mcp: {
    tool: "memory_record_answer_citations",
    title: "Record citations",
    description:
      "Record which memories your answer was made from, after a memory_retrieve. Only memories that were in its context can be cited; ranking does not change.",
    argumentOrder: ["request_id", "answer_id", "cited_node_ids"],
    silentArguments: ["answer_sha256"],
    annotations: ADDS,
  },
});

const listCitationsOperation = defineOperation({
  name: "list_answer_citations",
  summary: "List recorded citations",
  description: "Of one owner, by ascending id; the last id of a page continues it.",
  request: { user_id: ownerInQuery, after_id: afterId(), limit: wholeNumber([1, 1000], 100) },
  run: ({ engine }, query) => engine().listAnswerCitations(query),
  answer: list(citationsForm),
  http: { route: "get /v1/answer-citations" },
  mcp: {
    tool: "memory_list_answer_citations",
    title: "List citations",
    description:
      "List which memories earlier answers were made from, by citation_id; page on with after_id.",
    argumentOrder: ["limit"],
    annotations: READS,
    // Older revisions of the protocol allow only objects.
    output: view<readonly AnswerCitations[]>()({
      result: told(list(citationsForm), (records) => records),
    }),
    says: "By id. More may follow after the last citation_id, with after_id.",
  },
});

const getCitationsOperation = defineOperation({
  name: "get_answer_citations",
  summary: "Read recorded citations",
  description: "The report about one answer, as it was recorded.",
  request: { citation_id: id(), user_id: ownerInQuery },
  run: async ({ engine }, { citationId, userId }) =>
    found(engine().getAnswerCitations(citationId, userId), () =>
      missing("answer_citations", citationId, `Answer citations '${citationId}' not found`),
    ),
  answer: citationsForm,
  http: { route: "get /v1/answer-citations/{citation_id}", statuses: [404] },
  mcp: {
    tool: "memory_get_answer_citations",
    title: "Read citations",
    description: "Read which memories one earlier answer was made from, by its citation_id.",
    annotations: READS,
  },
});

export const RECEIPT_OPERATIONS = part(
  "retrieval",
  listRetrievalsOperation,
  getReceiptOperation,
  explainOperation,
  nodeRetrievalsOperation,
  recordCitationsOperation,
  listCitationsOperation,
  getCitationsOperation,
);
