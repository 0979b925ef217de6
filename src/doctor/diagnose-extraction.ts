import type { Counted } from "../adapters/sqlite/read/inspect-extraction.ts";
import { shellWord } from "../lib/shell-word.ts";
import type { PackReport } from "../packs/inspect-pack.ts";
import type { Finding } from "./finding.ts";

/** Whether extraction is stuck, and what it left out of the answers of models. */
export function checkExtraction({
  extraction,
  path,
}: Pick<PackReport, "extraction" | "path">): Finding {
  const { pending, failed, firstFailed, dropped } = extraction;
  const name = "extraction";
  const notes = [
    ...(pending === 0
      ? []
      : [pending === 1 ? "1 text waits for it" : `${pending} texts wait for it`]),
    ...(dropped.length === 0
      ? []
      : [
          `left out of what models answered, because the text does not say it so: ${tell(dropped)}`,
        ]),
  ];
  if (firstFailed === undefined) {
    return { name, status: "ok", message: notes.join("; ") || "no text waits for it" };
  }
  const { eventId, userId } = firstFailed;
  const given = sum(failed);
  const what = given === 1 ? "1 text was" : `${given} texts were`;
  const failure = `${what} given up after repeated failures: ${tell(failed)}; try ${given === 1 ? "it" : "the first"} again with: svc retry-extraction ${shellWord(path)} ${eventId} --user-id ${shellWord(userId)}`;
  return { name, status: "warn", message: [failure, ...notes].join("; ") };
}

function tell(counts: readonly Counted[]): string {
  return counts.map(({ reason, times }) => `${reason} ${times}`).join(", ");
}

function sum(counts: readonly Counted[]): number {
  return counts.reduce((total, { times }) => total + times, 0);
}
