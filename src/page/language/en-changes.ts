import { counted } from "./plural.ts";

/** What was done, as it is told. */
export const changes = {
  promoted: "Stable now.",
  restored: "Restored. It is found again.",
  reinforced: "Reinforced.",
  pinned: "Pinned: a candidate for every question, and kept.",
  released: "No longer pinned.",
  archived: (text: string) => `Archived “${text}”`,
  archivedMany: (count: string) => `Archived ${count} memories`,
  kept: "Kept. Nothing was archived.",
  notArchived: (count: number) => `${counted(count, "memory was", "memories were")} not archived:`,
  corrected: "Corrected. The old text stays in the chain.",
  resolved: "Settled.",
  replaced: "Replaced. The old text stays in the chain.",
  contradicted: "Both are contested now.",
  written: "Written, and the contradiction is settled. The old texts stay in the log.",
};
