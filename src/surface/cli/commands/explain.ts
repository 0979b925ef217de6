import { Command } from "commander";
import { LIMITS } from "../../../domain/arguments.ts";
import { invalid, SvcError } from "../../../domain/errors.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import { explanationView, withTexts } from "../../contract/explanation.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../engine.ts";
import { explanationLines } from "../explanation.ts";
import { configFor, encryptionKeyOption, formatOption } from "../options.ts";
import type { Format } from "../output.ts";

const EXAMPLES = `
Examples:
  svc explain 01a1ff09-5402-753f-9c6b-4e48df25fe8f --db-path ./memory.pack
  svc explain 01a1ff09-5402-753f-9c6b-4e48df25fe8f --format json    with complete ids and texts

The reasons come from the receipt of the retrieval alone, which holds no texts of memories; those are read from the pack. Receipts
are kept as long as SVC_RECEIPTS__RETENTION_DAYS says.`;

type ExplainOptions = {
  readonly dbPath?: string;
  readonly encryptionKey?: string;
  readonly format: Format;
};

/** `svc explain`: why each record was or was not in the context of a retrieval. */
export function explainCommand(context: CliContext): Command {
  return new Command("explain")
    .description("say why each record was or was not in the context of a retrieval")
    .argument("<request_id>", "the request_id of the answer")
    .option("--db-path <path>", "the pack; default: as configured")
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((requestId: string, options: ExplainOptions) => explain(context, requestId, options));
}

async function explain(
  context: CliContext,
  given: string,
  { dbPath, encryptionKey, format }: ExplainOptions,
): Promise<void> {
  const { output } = context;
  const requestId = parseUuid(given);
  if (requestId === undefined)
    throw invalid("request_id", `${JSON.stringify(given)} is not a UUID`);
  const config = await configFor(context, dbPath, encryptionKey);
  await withEngine(context, config, async (engine) => {
    const explanation = await engine.explain(requestId);
    if (explanation === undefined) {
      throw new SvcError(
        "not_found",
        `there is no receipt of a retrieval ${requestId} here; receipts are kept for a limited time`,
        { kind: "retrieval", id: requestId },
      );
    }
    // Their owner may have been renamed since.
    const told = await withTexts(engine, explanation, undefined, LIMITS.pageChars);
    if (format === "json") return output.json(explanationView.json(told));
    for (const line of explanationLines(told)) output.line(line);
  });
}
