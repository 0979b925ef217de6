import { parseId } from "../../../domain/arguments.ts";
import { missing } from "../../../domain/errors.ts";
import type { ExtractionStatus } from "../../../engine/inspect/api.ts";
import { extractionStatusView } from "../../contract/extraction.ts";
import { findEventId, type MemoryOptions, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { fields, type Output } from "../output.ts";
import { PACK, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc extraction-status ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc extraction-status ./memory.pack 0198a2b4-0000-7000-8000-000000000001 --format json

States: pending (waits), running, complete, failed (tried again only by svc retry-extraction).`;

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
    examples: EXAMPLES,
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
