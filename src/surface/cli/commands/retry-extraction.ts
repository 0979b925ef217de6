import { Option } from "commander";
import { findEventId, type MemoryOptions, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { PACK, packCommand } from "../pack-command.ts";
import { EVENT_ARGUMENT, noWork, showStatus } from "./extraction-status.ts";

const EXAMPLES = `
Examples:
  svc retry-extraction ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc retry-extraction ./memory.pack 0198a2b4-0000-7000-8000-000000000001 --replan

Makes it due now; svc process-extractions then runs it. What the model answered before is used again.
--replan is for a message that failed with StaleDerivationPlanError.`;

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
    examples: EXAMPLES,
  },
  (context, path: string, eventId: string, options: RetryOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const replan = options.replan === true;
      const id = await findEventId(engine, userId, eventId);
      const status = await engine.retryExtraction(id, { userId, replan });
      showStatus(context.output, status ?? noWork(id), options);
    }),
);
