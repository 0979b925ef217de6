import { extractionPassView } from "../../contract/extraction.ts";
import { packWord } from "../default-pack.ts";
import { type MemoryOptions, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { countOption, PACK, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc process-extractions ./memory.pack
  svc process-extractions ./memory.pack --limit 1000 --budget-ms 600000
  svc process-extractions ./memory.pack --budget-ms 0      only count

Needs a language model: SVC_EXTRACTION__PROVIDER, SVC_EXTRACTION__MODEL. Exits with 1 if messages have failed for good.`;

type ProcessOptions = MemoryOptions & { readonly limit: number; readonly budgetMs: number };

/** `svc process-extractions`: extracts what is queued. */
export const processExtractionsCommand = packCommand(
  {
    name: "process-extractions",
    description: "extract what is queued of ingested messages now",
    arguments: [PACK],
    options: [
      ownerOption(),
      countOption("--limit <count>", "messages at most", [0, 1_000_000], 100),
      countOption("--budget-ms <ms>", "milliseconds to spend", [0, 86_400_000], 5000),
    ],
    examples: EXAMPLES,
  },
  (context, path: string, options: ProcessOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const { output } = context;
      const { limit, budgetMs, format } = options;
      const pass = await engine.processExtractions({ userId, limit, budgetMs });
      const { processed, pending, failed } = pass;
      if (format === "json") output.json(extractionPassView.json(pass));
      else output.line(`${processed} extracted, ${pending} pending, ${failed} failed`);
      const word = packWord(path);
      if (processed === 0 && pending > 0 && limit > 0 && budgetMs > 0) {
        output.note(
          `Nothing was due, a try failed, or extraction is off. svc info ${word} says whether it is on, svc extraction-status ${word} EVENT_ID how far one message is.`,
        );
      }
      if (failed > 0) {
        output.note(`Why messages have failed: svc doctor ${word}`);
        context.fail();
      }
    }),
);
