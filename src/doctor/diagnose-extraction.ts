import type { Config } from "../config/schema.ts";
import { shellWord } from "../lib/shell-word.ts";
import type { PackReport } from "../packs/inspect-pack.ts";
import type { Counted } from "../ports/store/store.ts";
import type { Finding } from "./finding.ts";

/** Whether extraction can work, whether it is stuck, and what it left out of the answers of models. */
export function checkExtraction(
  config: Config,
  { extraction, path }: Pick<PackReport, "extraction" | "path">,
): Finding {
  const { pending, failed, firstFailed, dropped } = extraction;
  const name = "extraction";
  const lacking = keyLacking(config);
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
    const status = lacking.length === 0 ? "ok" : "warn";
    return { name, status, message: [...lacking, ...notes].join("; ") || "no text waits for it" };
  }
  const { eventId, userId } = firstFailed;
  const given = sum(failed);
  const what = given === 1 ? "1 text was" : `${given} texts were`;
  const failure = `${what} given up after repeated failures: ${tell(failed)}; try ${given === 1 ? "it" : "the first"} again with: svc retry-extraction ${shellWord(path)} ${eventId} --user-id ${shellWord(userId)}`;
  return { name, status: "warn", message: [...lacking, failure, ...notes].join("; ") };
}

/** That extraction is on and cannot ask its provider. */
function keyLacking({ isExtractionOn, extraction }: Config): readonly string[] {
  const { provider, api_key: key } = extraction;
  if (isExtractionOn !== true || provider === "ollama" || key !== undefined) return [];
  return [
    `${provider} needs a key, and none is set: set SVC_EXTRACTION__API_KEY or ${provider.toUpperCase()}_API_KEY; until then texts wait`,
  ];
}

function tell(counts: readonly Counted[]): string {
  return counts.map(({ reason, times }) => `${reason} ${times}`).join(", ");
}

function sum(counts: readonly Counted[]): number {
  return counts.reduce((total, { times }) => total + times, 0);
}
