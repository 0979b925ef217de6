import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import type { Uuid } from "../../src/lib/uuid.ts";

const NAMES = [
  "moved tea billing branch checks rollback tuesday staging notes password outage thursday",
  "window runbook wednesday flag oncall postgres dentist train export review",
] as const;
type Words<T extends string> = T extends `${infer First} ${infer Rest}` ? First | Words<Rest> : T;
export type Name = Words<(typeof NAMES)[number]>;

/**
 * What anna's assistants have learned by 22 November 2026: a name, the moment, what is not as in a fact of a project that she said, and
 * the text.
 */
const MEMORIES = `
moved 2026-03-01T09:12:00Z sessionId=a1 scope=personal | Anna moved to Linz on 1 March 2026 and now lives at the Hauptplatz.
tea 2026-03-01T09:14:00Z nodeType=preference sessionId=a1 scope=personal | Anna prefers green tea in the afternoon and no coffee after two.
billing 2026-04-02T12:00:00Z | Deploys of the billing service happen on Monday, those of the search service whenever main is green.
branch 2026-05-11T14:02:00Z nodeType=decision sessionId=b7 | The deploy of the ledger service runs from the branch release, never from main.
checks 2026-05-11T14:09:00Z nodeType=instruction sessionId=b7 | Before each deploy of the ledger, run \`bun test\` and wait for the green check of the migration job.
rollback 2026-05-11T14:10:00Z nodeType=instruction sessionId=b7 | If the migration takes longer than five minutes, roll back with scripts/rollback.sh and tell Milan.
tuesday 2026-06-16T10:31:00Z nodeType=decision | The ledger service deploys every Tuesday at 10:00 from the branch release.
staging 2026-07-01T12:00:00Z sourceType=external_document | The staging database of the ledger is reset every night at 02:00.
notes 2026-08-14T12:00:00Z nodeType=preference | Deploy notes go to the channel #ledger-releases, one line per change.
password 2026-08-20T08:45:00Z | The password of the staging dashboard is in the vault under ledger/staging; it is not to be stored here.
outage 2026-09-10T16:19:00Z sessionId=9d0 | On 9 September two releases met, and the ledger was down for forty minutes.
thursday 2026-09-10T16:21:00Z nodeType=decision sessionId=9d0 | Since the incident of 9 September the ledger service deploys on Thursday at 09:00, not on Tuesday.
window 2026-09-10T16:24:00Z sessionId=9d0 | The deploy window of the ledger closes at 11:30, because the nightly export of the bank starts at noon in Singapore.
runbook 2026-09-10T16:26:00Z nodeType=task sessionId=9d0 | Write the new deploy day into the runbook of the ledger.
wednesday 2026-10-02T11:05:00Z nodeType=decision role=assistant epistemicType=inferred sourceType=system_inferred | The ledger deploy is on Wednesday afternoon.
flag 2026-10-22T12:00:00Z epistemicType=observed sourceType=tool_output | The feature flag ledger.new_export is on in staging and off in production.
oncall 2026-10-30T09:00:00Z | Milan Novak is the on-call engineer for the ledger in November 2026.
postgres 2026-11-03T13:40:00Z epistemicType=hypothetical | Perhaps the ledger will move to Postgres 18 before the deploy freeze in December.
dentist 2026-11-20T08:02:00Z sessionId=c3 scope=personal | Anna has a dentist's appointment on 4 December at 08:30.
train 2026-11-20T08:03:00Z nodeType=preference sessionId=c3 scope=personal | She takes the 07:40 train, so no calls before ten on that day.
export 2026-11-21T17:22:00Z epistemicType=observed sourceType=tool_output | The new export writes 1.2 million rows in 38 seconds on staging.
review 2026-11-22T10:15:00Z nodeType=task | Milan reviews the rollback script on Monday; until then nobody changes it.
`;

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
  const ids: Record<string, Uuid> = {};
  for (const line of MEMORIES.trim().split("\n")) {
    const [told = "", content = ""] = line.split(" | ");
    const [name = "", moment = "", ...others] = told.split(" ");
    at(moment);
    const { nodeId } = await engine.storeWithReceipt({
      ...{ userId: "anna", content, role: "user", nodeType: "fact", scope: "project" },
      ...Object.fromEntries(others.map((one) => one.split("="))),
    });
    ids[name] = nodeId;
  }
  // SAFETY: every name of the table has been stored.
  const all = ids as Record<Name, Uuid>;
  await change(engine, at, all);
  for (const [moment, client, query] of [
    ["2026-11-04T09:30:00Z", "codex", "who deploys this week?"],
    ["2026-11-12T15:12:00Z", "cursor", "release checklist for the ledger"],
    ["2026-11-19T07:50:00Z", "claude-desktop", "what do I have to do on thursday"],
  ] as const) {
    at(moment);
    await engine.retrieve({ userId: "anna", query, client });
  }
  at("2026-11-22T16:03:24Z");
  const asked = { userId: "anna", query: QUESTION, limit: 8, tokenBudget: 420 };
  const answer = await engine.retrieve({ ...asked, client: "claude-code" });
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
