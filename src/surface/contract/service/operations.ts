import { STORE_BACKENDS } from "../../../domain/store-backends.ts";
import type { Stats } from "../../../engine/inspect/api.ts";
import { anyObject, constant, member, natural, object, text } from "../../../lib/form.ts";
import { noted } from "../../../lib/view.ts";
import { anyOwnerInQuery } from "../core/fields.ts";
import { defineOperation, part } from "../core/operation.ts";

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
  description: "Counts the active memories and the events, of one owner or of all.",
  request: { user_id: anyOwnerInQuery },
  run: async ({ engine }, { userId }) => engine().stats(userId),
  answer: noted(
    object<Stats>({
      nodeCount: natural,
      eventCount: natural,
      backend: member(STORE_BACKENDS),
      details: anyObject,
    }),
    { id: "Stats" },
  ),
  http: { route: "get /v1/stats" },
});

/** The operations on the server and its store. */
export const SERVICE_OPERATIONS = part("service", healthOperation, statsOperation);
