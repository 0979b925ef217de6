import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import type { Uuid } from "../../src/lib/uuid.ts";

type Told = {
  readonly at: string;
  readonly text: string;
  readonly type?: "fact" | "decision" | "preference" | "task" | "instruction";
  readonly session?: string;
  readonly by?: "user" | "assistant";
  readonly knowledge?: "asserted" | "inferred" | "hypothetical" | "observed";
  readonly source?: "user_stated" | "system_inferred" | "tool_output" | "external_document";
  readonly scope?: "personal" | "project" | "organisation";
};

/** What anna's assistants have learned by 22 November 2026. */
const MEMORIES = {
  moved: {
    at: "2026-03-01T09:12:00Z",
    text: "Anna moved to Linz on 1 March 2026 and now lives at the Hauptplatz.",
    scope: "personal",
    session: "a1",
  },
  tea: {
    at: "2026-03-01T09:14:00Z",
    text: "Anna prefers green tea in the afternoon and no coffee after two.",
    type: "preference",
    scope: "personal",
    session: "a1",
  },
  billing: {
    at: "2026-04-02T12:00:00Z",
    text: "Deploys of the billing service happen on Monday, those of the search service whenever main is green.",
  },
  branch: {
    at: "2026-05-11T14:02:00Z",
    text: "The deploy of the ledger service runs from the branch release, never from main.",
    type: "decision",
    session: "b7",
  },
  checks: {
    at: "2026-05-11T14:09:00Z",
    text: "Before each deploy of the ledger, run `bun test` and wait for the green check of the migration job.",
    type: "instruction",
    session: "b7",
  },
  rollback: {
    at: "2026-05-11T14:10:00Z",
    text: "If the migration takes longer than five minutes, roll back with scripts/rollback.sh and tell Milan.",
    type: "instruction",
    session: "b7",
  },
  tuesday: {
    at: "2026-06-16T10:31:00Z",
    text: "The ledger service deploys every Tuesday at 10:00 from the branch release.",
    type: "decision",
  },
  staging: {
    at: "2026-07-01T12:00:00Z",
    text: "The staging database of the ledger is reset every night at 02:00.",
    source: "external_document",
  },
  notes: {
    at: "2026-08-14T12:00:00Z",
    text: "Deploy notes go to the channel #ledger-releases, one line per change.",
    type: "preference",
  },
  password: {
    at: "2026-08-20T08:45:00Z",
    text: "The password of the staging dashboard is in the vault under ledger/staging; it is not to be stored here.",
  },
  outage: {
    at: "2026-09-10T16:19:00Z",
    text: "On 9 September two releases met, and the ledger was down for forty minutes.",
    session: "9d0",
  },
  thursday: {
    at: "2026-09-10T16:21:00Z",
    text: "Since the incident of 9 September the ledger service deploys on Thursday at 09:00, not on Tuesday.",
    type: "decision",
    session: "9d0",
  },
  window: {
    at: "2026-09-10T16:24:00Z",
    text: "The deploy window of the ledger closes at 11:30, because the nightly export of the bank starts at noon in Singapore.",
    session: "9d0",
  },
  runbook: {
    at: "2026-09-10T16:26:00Z",
    text: "Write the new deploy day into the runbook of the ledger.",
    type: "task",
    session: "9d0",
  },
  wednesday: {
    at: "2026-10-02T11:05:00Z",
    text: "The ledger deploy is on Wednesday afternoon.",
    type: "decision",
    by: "assistant",
    knowledge: "inferred",
    source: "system_inferred",
  },
  flag: {
    at: "2026-10-22T12:00:00Z",
    text: "The feature flag ledger.new_export is on in staging and off in production.",
    source: "tool_output",
    knowledge: "observed",
  },
  oncall: {
    at: "2026-10-30T09:00:00Z",
    text: "Milan Novak is the on-call engineer for the ledger in November 2026.",
  },
  postgres: {
    at: "2026-11-03T13:40:00Z",
    text: "Perhaps the ledger will move to Postgres 18 before the deploy freeze in December.",
    knowledge: "hypothetical",
  },
  dentist: {
    at: "2026-11-20T08:02:00Z",
    text: "Anna has a dentist's appointment on 4 December at 08:30.",
    scope: "personal",
    session: "c3",
  },
  train: {
    at: "2026-11-20T08:03:00Z",
    text: "She takes the 07:40 train, so no calls before ten on that day.",
    scope: "personal",
    session: "c3",
    type: "preference",
  },
  export: {
    at: "2026-11-21T17:22:00Z",
    text: "The new export writes 1.2 million rows in 38 seconds on staging.",
    source: "tool_output",
    knowledge: "observed",
  },
  review: {
    at: "2026-11-22T10:15:00Z",
    text: "Milan reviews the rollback script on Monday; until then nobody changes it.",
    type: "task",
  },
} as const satisfies Readonly<Record<string, Told>>;

export type Name = keyof typeof MEMORIES;
export type Story = {
  readonly ids: Readonly<Record<Name, Uuid>>;
  /** Of the question of the pictures. */
  readonly requestId: string;
};

/** The question of the pictures. */
export const QUESTION = "When does the ledger service deploy?";

/** Tells the story to an engine: anna's memories, one replaced, two that contradict, one pinned, and questions of assistants. */
export async function tellStory(
  engine: MemoryEngine,
  at: (instant: string) => void,
): Promise<Story> {
  const ids: Partial<Record<Name, Uuid>> = {};
  for (const name of Object.keys(MEMORIES)) {
    // SAFETY: the key is one of the table's own.
    const key = name as Name;
    const told: Told = MEMORIES[key];
    at(told.at);
    const { nodeId } = await engine.storeWithReceipt({
      userId: "anna",
      content: told.text,
      role: told.by ?? "user",
      nodeType: told.type ?? "fact",
      scope: told.scope ?? "project",
      ...(told.session === undefined ? {} : { sessionId: told.session }),
      ...(told.knowledge === undefined ? {} : { epistemicType: told.knowledge }),
      ...(told.source === undefined ? {} : { sourceType: told.source }),
    });
    ids[key] = nodeId;
  }
  // SAFETY: every name of the table has been stored.
  const all = ids as Record<Name, Uuid>;
  await change(engine, at, all);
  at("2026-11-04T09:30:00Z");
  await engine.retrieve({ userId: "anna", query: "who deploys this week?", client: "codex" });
  at("2026-11-12T15:12:00Z");
  await engine.retrieve({
    userId: "anna",
    query: "release checklist for the ledger",
    client: "cursor",
  });
  at("2026-11-19T07:50:00Z");
  await engine.retrieve({
    userId: "anna",
    query: "what do I have to do on thursday",
    client: "claude-desktop",
  });
  at("2026-11-22T16:03:24Z");
  const answer = await engine.retrieve({
    userId: "anna",
    query: QUESTION,
    limit: 8,
    tokenBudget: 420,
    client: "claude-code",
  });
  return { ids: all, requestId: answer.metadata.requestId };
}

/** What has become of some of the memories. */
async function change(
  engine: MemoryEngine,
  at: (instant: string) => void,
  ids: Readonly<Record<Name, Uuid>>,
): Promise<void> {
  at("2026-05-12T08:00:00Z");
  await engine.promote(ids.branch, { actorId: "anna" });
  at("2026-09-10T16:22:00Z");
  await engine.supersede(ids.tuesday, ids.thursday, { actorId: "claude-code" });
  at("2026-10-02T11:05:30Z");
  await engine.contradict(ids.thursday, ids.wednesday, { actorId: "codex" });
  at("2026-11-20T08:10:00Z");
  await engine.pin(ids.checks, true, { actorId: "anna" });
}
