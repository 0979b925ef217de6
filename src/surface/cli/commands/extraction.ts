import { Option } from "commander";
import { parseId } from "../../../domain/arguments.ts";
import { missing } from "../../../domain/errors.ts";
import type { ExtractionStatus } from "../../../engine/inspect/api.ts";
import { extractionPassView, extractionStatusView } from "../../contract/extraction.ts";
import { findEventId, type MemoryOptions, withMemories } from "../memories.ts";
import { countOption, ownerOption, PACK, packCommand, packWord } from "../options.ts";
import { fields, type Output } from "../output.ts";

export const EVENT_ARGUMENT = [
  "<event_id>",
  "the id that ingest answered with, or a start or end of it that no memory has besides",
] as const;

/** `svc extraction-status`: how far extraction from one message has come. */
export const extractionStatusCommand = packCommand(
  {
    name: "extraction-status",
    description: "how far extraction from a message has come, and why it failed",
    arguments: [PACK, EVENT_ARGUMENT],
    options: [ownerOption()],
    examples: `
Examples:
  svc extraction-status ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc extraction-status ./memory.pack 0198a2b4-0000-7000-8000-000000000001 --format json

States: pending (waits), running, complete, failed (tried again only by svc retry-extraction).`,
  },
  (context, path: string, eventId: string, options: MemoryOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const id = await findEventId(engine, userId, eventId);
      const status = await engine.extractionStatus(id, userId);
      showStatus(context.output, status ?? noWork(id), options);
    }),
);

/** Prints a status. @param found the error to throw, where there is none */
export function showStatus(
  output: Output,
  found: ExtractionStatus | Error,
  { format }: Pick<MemoryOptions, "format">,
): void {
  if (found instanceof Error) throw found;
  if (format === "json") {
    output.json(extractionStatusView.json(found));
    return;
  }
  for (const line of fields(factsOf(found))) output.line(line);
}

/** There is no such event of this owner, or nothing is to be extracted from it. */
export function noWork(eventId: string): Error {
  const id = parseId(eventId, "event_id");
  return missing("extraction_status", id, `Extraction status of event '${id}' not found`);
}

function factsOf(status: ExtractionStatus): [string, string][] {
  const facts: [string, string | undefined][] = [
    ["Event", status.eventId],
    ["State", `${status.status} (${status.phase})`],
    ["Tries", String(status.attempts)],
    ["Last failure", status.lastError],
    ["Next try", status.nextAttemptAt],
    ["Held until", status.leaseExpiresAt],
    ["Plan", status.planId],
    ["Changed", status.updatedAt],
  ];
  return facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, value]]));
}

type RetryOptions = MemoryOptions & { readonly replan?: true };

/** `svc retry-extraction`: queues a failed extraction again. */
export const retryExtractionCommand = packCommand(
  {
    name: "retry-extraction",
    description: "queue a message again from which nothing could be extracted",
    arguments: [PACK, EVENT_ARGUMENT],
    options: [
      ownerOption(),
      new Option("--replan", "make a new plan in place of one that no longer fits"),
    ],
    examples: `
Examples:
  svc retry-extraction ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc retry-extraction ./memory.pack 0198a2b4-0000-7000-8000-000000000001 --replan

Makes it due now; svc process-extractions then runs it. What the model answered before is used again.
--replan is for a message that failed with StaleDerivationPlanError.`,
  },
  (context, path: string, eventId: string, options: RetryOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const replan = options.replan === true;
      const id = await findEventId(engine, userId, eventId);
      const status = await engine.retryExtraction(id, { userId, replan });
      showStatus(context.output, status ?? noWork(id), options);
    }),
);

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
    examples: `
Examples:
  svc process-extractions ./memory.pack
  svc process-extractions ./memory.pack --limit 1000 --budget-ms 600000
  svc process-extractions ./memory.pack --budget-ms 0      only count

Needs a language model: SVC_EXTRACTION__PROVIDER, SVC_EXTRACTION__MODEL. Exits with 1 if messages have failed for good.`,
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
