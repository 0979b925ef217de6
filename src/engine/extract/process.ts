import { parseOptionalInteger, parseOptionalNumber, parseUserId } from "../../domain/arguments.ts";
import type { ExtractionQueue } from "../../ports/store/extraction-queue.ts";
import type { EngineDeps } from "../deps.ts";
import type { ExtractionPass, ProcessExtractionsInput } from "./api.ts";

/** What one pass may do. */
export type PassBounds = {
  readonly userId: string;
  /** Events at most. */
  readonly limit: number;
  /** Milliseconds, checked between events. */
  readonly budgetMs: number;
};

const DEFAULT_LIMIT = 100;
const DEFAULT_BUDGET_MS = 5000;

/**
 * One pass over the queue of an owner.
 * @param process undefined: extraction is off, and the pass only counts
 * @throws SvcError invalid_argument
 */
export async function processExtractions(
  { store }: Pick<EngineDeps<ExtractionQueue>, "store">,
  process: ((bounds: PassBounds) => Promise<number>) | undefined,
  input: ProcessExtractionsInput,
): Promise<ExtractionPass> {
  const userId = parseUserId(input.userId);
  const limit = parseOptionalInteger(input.limit, "limit", 0) ?? DEFAULT_LIMIT;
  const budgetMs =
    parseOptionalNumber(input.budgetMs, "budget_ms", 0, Number.MAX_SAFE_INTEGER) ??
    DEFAULT_BUDGET_MS;
  const processed = (await process?.({ userId, limit, budgetMs })) ?? 0;
  return { processed, ...(await store.countExtractions(userId)) };
}
