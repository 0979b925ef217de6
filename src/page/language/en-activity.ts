import { number } from "../parts/format.ts";
import { counted } from "./plural.ts";

export const activity = {
  title: (questions: number, changes: number) =>
    `${counted(questions, "question")} and ${counted(changes, "change")}`,
  since: (when: string) => `since ${when}`,
  failed: (count: number) => `${number(count)} failed`,
  none: "Nothing happened",
  noneFiltered: "Nothing fits these filters",
  noneText:
    "Questions of assistants and changes of memories appear here, as far as receipts are kept. The page's own questions leave no trace.",
  stored: "New memories are in the timeline.",
  older: "Older",
  newest: "Newest",
  who: "Who",
  everybody: "everybody",
  unnamed: "unnamed",
  show: "What",
  kinds: { all: "all", questions: "questions", changes: "changes", failures: "failures" },
  asked: "asked",
  inContext: (count: number) => `${number(count)} in the context`,
  searchFailed: (search: string) => `the search by ${search} failed`,
  gone: "a memory that is gone",
  changes: {
    LIFECYCLE_CHANGED: "changed",
    SUPERSEDENCE_APPLIED: "replaced",
    CONTRADICTION_NOTED: "contradicted",
    CONTRADICTION_RESOLVED: "settled",
    EPISTEMIC_TRANSITION: "evaluated",
    REINFORCE: "reinforced",
    MEMORY_RESTORED: "brought back",
    PIN: "pinned",
    RELEASE: "released",
    ORGANIZER_MERGED: "merged",
    TOMBSTONE_SWEEP: "let go",
    DIRECT_STORE_REQUESTED: "stored",
    DERIVATION_COMMITTED: "extracted",
    FAST_INGEST_BATCH: "took in",
  },
};
