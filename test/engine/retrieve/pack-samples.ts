import { createCl100kTokenizer } from "../../../src/adapters/tokens/cl100k.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import type { PackRules } from "../../../src/engine/retrieve/pack/bundle.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import { DEFAULT_PACKING } from "../receipts/retrievals.ts";
import { aResult } from "./pool.ts";

/** Counts in these tests; its tables are loaded once for all of them. */
export const tokenizer = createCl100kTokenizer();

/** The identifier that ends in this number. */
export function idOf(number: number): Uuid {
  return asUuid(`01900000-0000-7000-9000-${String(number).padStart(12, "0")}`);
}

/** A minute of 2026 in UTC, as `MM-DDTHH:MM`. */
export function minute(text: string) {
  return asInstant(`2026-${text}:00.000000Z`);
}

/** A result with a fixed identifier; its score falls with its number unless one is given. */
export function record(
  number: number,
  content: string,
  given: Partial<MemoryNode> = {},
  more: Partial<ResultCandidate> = {},
): ResultCandidate {
  const node = { id: idOf(number), content, validFrom: minute("01-01T00:00"), ...given };
  return aResult(number, 1 - number / 100, node, more);
}

/** The rules of a fresh installation without overhead. */
export function packRules(
  tokenBudget: number,
  settings: Partial<PackRules["settings"]> = {},
  more: Partial<Omit<PackRules, "settings" | "tokenBudget">> = {},
): PackRules {
  return {
    tokenBudget,
    minFidelity: "reference",
    notice: undefined,
    guidance: undefined,
    ...more,
    settings: { ...DEFAULT_PACKING, overheadTokens: 0, ...settings },
  };
}
