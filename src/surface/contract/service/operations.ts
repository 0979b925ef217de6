import { SvcError } from "../../../domain/errors.ts";
import { constant, noted, object, text } from "../../../lib/form.ts";
import { requireOperator } from "../core/caller.ts";
import { anyOwnerInQuery } from "../core/fields.ts";
import { defineOperation, part } from "../core/operation.ts";
import { callerView, examinationView, ownerListView, statsView } from "./wire.ts";

export const healthOperation = defineOperation({
  name: "health",
  summary: "Whether the server runs",
  description: "Answers without credentials and without looking at the memory.",
  request: {},
  run: async ({ version }) => ({ status: "ok" as const, version }),
  answer: noted(object({ status: constant("ok"), version: text }), { id: "Health" }),
  http: { route: "get /v1/health", isPublic: true },
});

const statsOperation = defineOperation({
  name: "stats",
  summary: "How much is stored",
  description:
    "Counts the active memories and the events, of one owner or of all. change_sequence changes with the pack.",
  request: { user_id: anyOwnerInQuery },
  run: async ({ engine }, { userId }) => engine().stats(userId),
  answer: statsView,
  http: { route: "get /v1/stats" },
});

const callerOperation = defineOperation({
  name: "caller",
  summary: "Whose key this is",
  description: "The owner that the key belongs to, and what it may do.",
  request: {},
  run: async ({ engine, caller, version }) => ({
    userId: caller.boundUserId,
    defaultUserId: caller.boundUserId ?? (await engine().packOwner()),
    isOperator: caller.boundUserId === undefined,
    readOnly: await engine().isReadOnly(),
    version,
  }),
  answer: callerView,
  http: { route: "get /v1/caller" },
});

const ownersOperation = defineOperation({
  name: "list_owners",
  summary: "List the owners",
  description: "For operators: everyone who has anything, those with the most memories first.",
  request: {},
  run: async ({ engine, caller }) => {
    requireOperator(caller);
    return engine().listOwners();
  },
  answer: ownerListView,
  http: { route: "get /v1/owners" },
});

const doctorOperation = defineOperation({
  name: "examine",
  summary: "Examine the pack",
  description:
    "For operators: what svc doctor finds wrong with the pack and its surroundings, and what helps. Reads everything, which takes a while.",
  request: {},
  run: async ({ caller, examine }) => {
    requireOperator(caller);
    if (examine === undefined) {
      throw new SvcError("unsupported", "This server cannot examine its pack; run: svc doctor");
    }
    return await examine();
  },
  answer: examinationView,
  http: { route: "get /v1/doctor", statuses: [409] },
});

/** The operations on the server and its store. */
export const SERVICE_OPERATIONS = part(
  "service",
  healthOperation,
  statsOperation,
  callerOperation,
  ownersOperation,
  doctorOperation,
);
