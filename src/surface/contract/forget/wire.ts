import { LIFECYCLE_STATES, NODE_TYPES, ROLES } from "../../../domain/enums.ts";
import { FORGET_STAGES } from "../../../domain/erasure.ts";
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
} from "../../../engine/forget/api.ts";
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
} from "../../../lib/form.ts";

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
export const forgetView = noted(
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

/** What is known of a forgetting. */
export const forgettingView = named<Forgetting>("Forgetting", "What is known of a forgetting.", {
  forgetId: uuid,
  stage: member(FORGET_STAGES),
  actorId: text,
  forgottenAt: instant,
  events: list(uuid),
  memories: list(uuid),
  counts: countsForm,
  receiptSha256: nullable(sha256),
});

/** What the verification of a receipt found. */
export const verificationView = object<ForgetVerification>({
  ok: flag,
  checks: list(object({ name: text, ok: flag, detail: text })),
});
