import { STORE_BACKENDS } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import type { OwnerSummary } from "../../domain/owner.ts";
import type { Stats, StatsDetails } from "../../engine/inspect/api.ts";
import {
  constant,
  count,
  dictionary,
  flag,
  instant,
  list,
  member,
  natural,
  noted,
  nullable,
  number,
  object,
  text,
  told,
  view,
} from "../../lib/form.ts";
import { requireOperator } from "./core/caller.ts";
import { type Examination, FINDING_STATUSES } from "./core/examination.ts";
import { anyOwnerInQuery } from "./core/fields.ts";
import { defineOperation, part } from "./core/operation.ts";

const details = noted(
  view<StatsDetails>()({
    changeSequence: noted(text, {
      description: "Another text after every change of the pack; compare it for equality only.",
    }),
    bytes: noted(nullable(natural), {
      description: "Size of the pack, without what waits in its log; null where an owner is named.",
    }),
    encrypted: noted(nullable(flag), {
      description: "Null for a database: its server decides, and does not tell.",
    }),
    readOnly: flag,
    model: noted(
      object<StatsDetails["model"]>({ model: text, version: text, dimension: natural }),
      { description: "The embedding model of the pack." },
    ),
    states: told(
      noted(dictionary(natural), { description: "Memories in each state that any has." }),
      ({ states }) => ({ ...states }),
    ),
    jobs: noted(object<StatsDetails["jobs"]>({ pending: count, failed: count }), {
      description: "Texts that are not indexed yet, and how many of them have failed before.",
    }),
    extractions: noted(object<StatsDetails["extractions"]>({ pending: count, failed: count }), {
      description: "Messages from which memories are still to be extracted, and those given up.",
    }),
    embeddings: noted(
      nullable(
        object<NonNullable<StatsDetails["embeddings"]>>({
          asked: count,
          computed: count,
          failed: count,
          seconds: number,
        }),
      ),
      {
        description:
          "Calls of the embedding model by this process; the rest was remembered. Null where an owner is named.",
      },
    ),
    receipts: noted(count, { description: "Receipts that are kept." }),
    blobs: noted(object<StatsDetails["blobs"]>({ count, bytes: count }), {
      description: "Pictures of events that are kept.",
    }),
  }),
  { id: "StatsDetails" },
);

const statsView = noted(
  view<Stats>()({
    nodeCount: natural,
    eventCount: natural,
    backend: member(STORE_BACKENDS),
    details: noted(nullable(details), { description: "Null if they could not be read." }),
  }),
  { id: "Stats" },
);

/** The permissions of a request's key. */
type CallerAnswer = {
  readonly userId: string | undefined;
  readonly defaultUserId: string | undefined;
  readonly isOperator: boolean;
  readonly readOnly: boolean;
  readonly version: string;
};

const callerView = noted(
  view<CallerAnswer>()({
    userId: noted(nullable(text), { description: "The owner of the key; null for operators." }),
    defaultUserId: noted(nullable(text), {
      description: "Whose memories a person means who names nobody; null if nobody is the owner.",
    }),
    isOperator: noted(flag, { description: "Whether any owner may be named." }),
    readOnly: noted(flag, { description: "Whether every change is refused." }),
    version: text,
  }),
  { id: "Caller" },
);

const ownerListView = noted(
  view<readonly OwnerSummary[]>()({
    owners: told(
      list(
        noted(
          view<OwnerSummary>()({
            userId: text,
            memories: noted(natural, { description: "In any state." }),
            events: natural,
            lastUsed: noted(nullable(instant), {
              description: "Of the newest memory, change of one, or event.",
            }),
          }),
          { id: "OwnerSummary" },
        ),
      ),
      (owners) => owners,
    ),
    count: told(natural, (owners) => owners.length),
  }),
  { id: "OwnerList" },
);

export const examinationView = noted(
  object<Examination>({
    ok: noted(flag, { description: "Whether nothing failed." }),
    passed: count,
    warnings: count,
    failures: count,
    checks: list(
      object<Examination["checks"][number]>({
        name: text,
        status: member(FINDING_STATUSES),
        message: noted(text, { description: "What was found and, unless it is fine, what helps." }),
      }),
    ),
  }),
  { id: "Examination" },
);

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

/** Operations on the server and its store. */
export const SERVICE_OPERATIONS = part(
  "service",
  healthOperation,
  statsOperation,
  callerOperation,
  ownersOperation,
  doctorOperation,
);
