import { z } from "zod";
import { LIFECYCLE_STATES, NODE_TYPES, ROLES } from "../../domain/enums.ts";
import { FORGET_STAGES } from "../../domain/erasure.ts";
import { invalid, missing, missingNode } from "../../domain/errors.ts";
import {
  FORGET_MODES,
  FORGET_REASONS,
  type ForgetAnswer,
  type Forgetting,
  type ForgetVerification,
  type ForgottenEvent,
  type ForgottenMemory,
  STAY_REASONS,
  type Staying,
} from "../../engine/forget/api.ts";
import {
  anyObject,
  flag,
  instant,
  list,
  member,
  named,
  natural,
  noted,
  nullable,
  object,
  sha256,
  text,
  uuid,
  view,
} from "../../lib/form.ts";
import { actorOf } from "./core/caller.ts";
import { choice, id, owner, ownerInQuery, sessionId, textInQuery, uuidIn } from "./core/fields.ts";
import { defineOperation, found, part, RETIRES } from "./core/operation.ts";
import { httpField, optional, withDefault } from "./core/request.ts";
import { counted } from "./core/tool-text.ts";

const countsForm = named("ErasureCounts", "What goes besides events and memories.", {
  edges: natural,
  vectors: natural,
  textEntries: natural,
  operations: noted(natural, { description: "Entries of the log whose text goes; they stay." }),
  receipts: noted(natural, { description: "Receipts of answers that tell of it." }),
  blobs: noted(natural, { description: "Pictures that no other event names." }),
});

const eventForm = named<ForgottenEvent>("ForgottenEvent", "An event whose content goes.", {
  id: uuid,
  sessionId: nullable(text),
  role: member(ROLES),
  timestamp: instant,
  excerpt: noted(text, { description: "The beginning of its text." }),
});

const memoryForm = named<ForgottenMemory>("ForgottenMemory", "A memory that goes.", {
  id: uuid,
  nodeType: member(NODE_TYPES),
  lifecycleState: member(LIFECYCLE_STATES),
  why: noted(member(FORGET_REASONS), {
    description:
      "`evidence`: it rests on nothing but what goes. `may_repeat`: on other events, too, but may repeat it. `summary`: it sums it up.",
  }),
  excerpt: text,
});

const stayingForm = named<Staying>("Staying", "Something related that stays.", {
  kind: member(["event", "memory"]),
  id: uuid,
  why: noted(member(STAY_REASONS), {
    description:
      "`other_evidence`: other events say it, too. `own_text`: an event with a text of its own. `replaced`: a memory that goes had replaced it.",
  }),
  excerpt: text,
});

/** What a forgetting erases, or has erased. */
const forgetView = noted(
  view<ForgetAnswer>()({
    mode: member(FORGET_MODES),
    confirm: noted(nullable(text), { description: "Confirms this list in a call that erases." }),
    forgetId: nullable(uuid),
    stage: noted(nullable(member(FORGET_STAGES)), {
      description: "`logical`: not found any more. `physical`: its bytes are gone, too.",
    }),
    events: list(eventForm),
    memories: list(memoryForm),
    counts: countsForm,
    stays: list(stayingForm),
    forgottenBefore: noted(list(uuid), { description: "Events that had been forgotten before." }),
    notReached: noted(list(text), { description: "Where the texts may still be." }),
    receipt: noted(nullable(anyObject), {
      description: "`svc-forget-receipt`: given once, and kept nowhere.",
    }),
  }),
  { id: "ForgetAnswer", description: "What a forgetting erases, or has erased." },
);

const forgettingView = named<Forgetting>("Forgetting", "What is known of a forgetting.", {
  forgetId: uuid,
  stage: member(FORGET_STAGES),
  actorId: text,
  forgottenAt: instant,
  events: list(uuid),
  memories: list(uuid),
  counts: countsForm,
  receiptSha256: nullable(sha256),
});

/** The findings of a receipt's verification. */
export const verificationView = object<ForgetVerification>({
  ok: flag,
  checks: list(object({ name: text, ok: flag, detail: text })),
});

const IDS_MAX = 1000;

export const forgetOperation = defineOperation({
  name: "forget",
  summary: "Forget memories for good",
  description:
    "Erases the content of memories and of the events that they rest on; their place in the log stays. `preview`, the default, shows what would go and what would stay, and changes nothing; `erase` needs its `confirm`. This cannot be undone.",
  request: {
    user_id: owner,
    ids: optional(
      z.array(uuidIn).max(IDS_MAX),
      {
        description: "Of memories and events.",
        examples: [["00000000-0000-0000-0000-000000000000"]],
      },
      {},
    ),
    session_id: {
      ...sessionId,
      http: z.string().nullish().meta({ description: "All that was said in this conversation." }),
    },
    containing: optional(z.string(), "All memories whose text contains this, in whatever case."),
    everything: httpField(
      z.boolean().optional().meta({
        description: "true: all that this owner has, in the place of the three above.",
        default: false,
      }),
    ),
    keep_derived: withDefault(z.boolean(), false, "Memories that rest on other events, too, stay."),
    mode: choice(
      FORGET_MODES,
      { default: "preview", description: "`erase` needs `confirm`." },
      { default: "preview" },
    ),
    confirm: optional(z.string(), "Of the preview: exactly what it listed is erased.", {}),
  },
  run: async ({ engine, caller, operator }, input) =>
    engine().forget({ ...input, actorId: actorOf(caller, operator, undefined) }),
  answer: forgetView,
  http: { route: "post /v1/forget", body: "ForgetRequest", statuses: [404, 409] },
  mcp: {
    tool: "memory_forget",
    title: "Erase memories",
    description:
      "Erase memories and their messages for ever; memory_archive_node only stops using them. " +
      'First preview; if the user agrees to all that would go, call with `mode` "erase" and its `confirm`.',
    toolSet: "core",
    coreArguments: ["ids", "mode", "confirm"],
    silentArguments: ["session_id", "containing", "keep_derived"],
    annotations: RETIRES,
    says: ({ confirm, stage, forgottenBefore }) => {
      if (confirm !== undefined) {
        return 'Nothing was changed yet. Only if the user agrees that exactly this is erased for ever: the same call with mode "erase" and this confirm.';
      }
      if (stage !== undefined)
        return "Forgotten for ever. The receipt proves it, and is kept nowhere else.";
      return forgottenBefore.length === 0
        ? "There is nothing to forget."
        : "Forgotten before; there is nothing left to forget.";
    },
  },
});

/** DELETE of a memory, where people try it. */
const forgetNodeOperation = defineOperation({
  name: "forget_node",
  summary: "Forget one memory for good",
  description:
    "Erases a memory and the events that it rests on, with the `confirm` of a preview. Without it nothing is erased: the refusal, 422, says what would go and its `confirm`.",
  request: {
    node_id: id(),
    confirm: textInQuery("Of the preview."),
  },
  run: async ({ engine, caller, operator, userId }, { nodeId, confirm }) => {
    const read = { userId, includeSuperseded: true };
    const node = await found(engine().getNode(nodeId, read), () => missingNode(nodeId));
    const given = { userId: node.userId, ids: [nodeId] };
    if (confirm === undefined) {
      const { events, memories, confirm: own } = await engine().forget(given);
      const what = `${counted(memories.length, "memory", "memories")} and ${counted(events.length, "event", "events")}`;
      throw invalid(
        "confirm",
        `is needed: this erases ${what} for ever. If that is meant, repeat it with ?confirm=${own}; POST /v1/forget lists them, PUT /v1/nodes/${nodeId}/archive only stops using the memory`,
      );
    }
    if (!/^[0-9a-f]{32}$/.test(confirm)) throw invalid("confirm", "is not one of a preview");
    const actorId = actorOf(caller, operator, undefined);
    return await engine().forget({ ...given, mode: "erase", confirm, actorId });
  },
  answer: forgetView,
  http: { route: "delete /v1/nodes/{node_id}", statuses: [404, 409] },
});

const getOperation = defineOperation({
  name: "get_forgetting",
  summary: "Get what is known of a forgetting",
  description: "What was erased, when, by whom, and how far it has come. No text.",
  request: { forget_id: id() },
  run: ({ engine, userId }, { forgetId }) =>
    found(engine().getForgetting(forgetId, userId), () =>
      missing("forgetting", forgetId, `Forgetting '${forgetId}' not found`),
    ),
  answer: forgettingView,
  http: { route: "get /v1/forget/{forget_id}", statuses: [404] },
});

const listOperation = defineOperation({
  name: "list_forgettings",
  summary: "List what was forgotten",
  description: "The forgettings of an owner, newest first. No text.",
  request: { user_id: ownerInQuery },
  run: ({ engine }, { userId }): Promise<readonly Forgetting[]> => engine().listForgettings(userId),
  answer: list(forgettingView),
  http: { route: "get /v1/forget" },
});

/** Operations that erase permanently. */
export const FORGET_OPERATIONS = part(
  "forgetting",
  forgetOperation,
  forgetNodeOperation,
  getOperation,
  listOperation,
);
