import { z } from "zod";
import { missing } from "../../../domain/errors.ts";
import { FORGET_MODES, type Forgetting } from "../../../engine/forget/api.ts";
import { list } from "../../../lib/form.ts";
import { actorOf } from "../core/caller.ts";
import { choice, id, owner, ownerInQuery, sessionId, uuidIn } from "../core/fields.ts";
import { defineOperation, found, part } from "../core/operation.ts";
import { RETIRES } from "../core/operation-parts.ts";
import { optional, withDefault } from "../core/request.ts";
import { forgettingView, forgetView } from "./wire.ts";

const IDS_MAX = 1000;

const forgetOperation = defineOperation({
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
      "Erase memories and their messages for ever. First preview; if the user agrees to all that would go, " +
      'call with `mode` "erase" and its `confirm`.',
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

/** The operations that forget for good. */
export const FORGET_OPERATIONS = part("forgetting", forgetOperation, getOperation, listOperation);
