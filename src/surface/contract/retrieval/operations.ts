import { LIMITS } from "../../../domain/arguments.ts";
import { defineOperation, part, READS } from "../core/operation.ts";
import { withTexts } from "../explanation.ts";
import { bounded, retrieveToolView, retrieveView, toToolAnswer } from "./answer.ts";
import { isGiven, retrieveBody, retrieveRequest, toRetrieveInput } from "./request.ts";
import { tellRetrieve } from "./text.ts";

/** UTF-16 units of texts in the answer of a tool, which has them twice: as an object and as its JSON. */
const TOOL_CHARS = LIMITS.pageChars / 4;

const retrieveOperation = defineOperation({
  name: "retrieve",
  summary: "Find memories for a question",
  description:
    "Ranks the memories that answer a question and packs the best into a context of at most token_budget tokens.",
  request: retrieveRequest,
  run: async (context, input) => {
    const response = await context.engine().retrieve(toRetrieveInput(input, context));
    const { explained } = response;
    const isShort = !isGiven(input.limit) && explained === undefined;
    if (explained === undefined) return { ...bounded(response, LIMITS.pageChars), isShort };
    const userId = context.caller.boundUserId ?? input.userId;
    const room = LIMITS.pageChars / 2;
    const explanation = await withTexts(context.engine(), explained.explanation, userId, room);
    return { ...bounded(response, room), isShort, explanation };
  },
  answer: retrieveView,
  http: { route: "post /v1/retrieve", body: retrieveBody },
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
    output: retrieveToolView,
    write: (response, { includeContext, limit }) =>
      retrieveToolView.json(
        toToolAnswer(bounded(response, TOOL_CHARS), includeContext === true, limit),
      ),
    tell: tellRetrieve,
    isEmpty: ({ results }) => results.length === 0,
  },
});

/** The operations that find memories. */
export const RETRIEVAL_OPERATIONS = part("retrieval", retrieveOperation);
