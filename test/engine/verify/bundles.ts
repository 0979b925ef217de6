import type { MemoryNode } from "../../../src/domain/node.ts";
import type { MemoryBundle, PackedRecord } from "../../../src/engine/results.ts";
import type { ContextFormat } from "../../../src/engine/settings.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { aResult } from "../retrieve/pool.ts";

export type BundleOptions = {
  readonly format?: ContextFormat;
  /** Reader format: whether records show references. Default true. */
  readonly citations?: boolean;
};

/** A context of these memories in one section, m1 and up, as packing renders it in outline. */
export function aBundle(
  memories: readonly Partial<MemoryNode>[],
  { format = "reader", citations = true }: BundleOptions = {},
): MemoryBundle {
  const hasReferences = format === "compact" || (format === "reader" && citations);
  const references = new Map<string, Uuid>();
  const records = memories.map((given, at): PackedRecord => {
    const candidate = aResult(at + 1, 1 - at / 100, given);
    const reference = `m${at + 1}`;
    if (hasReferences) references.set(reference, candidate.node.id);
    const text = JSON.stringify(candidate.node.content);
    const rendered = {
      reader: citations ? `- [${reference}] ${text}` : `- ${text}`,
      compact: `["${reference}",${text}]`,
      auditable: `{"id":"${candidate.node.id}","text":${text}}`,
    }[format];
    return { candidate, representation: "full", tokenCost: 10, renderedText: rendered };
  });
  const lines = records.map(({ renderedText }) => renderedText);
  return {
    sections: records.length === 0 ? new Map() : new Map([["stable_facts", records]]),
    includedCount: records.length,
    excludedIds: [],
    tokensUsed: 100,
    tokenBudget: 4096,
    budgetRemaining: 3996,
    minFidelity: "reference",
    renderedContext: records.length === 0 ? "" : ["header", "[stable_facts]", ...lines].join("\n"),
    tokenizer: "cl100k_base",
    contextFormat: format,
    coverageNotice: undefined,
    contextGuidance: undefined,
    contextReferences: references,
  };
}

/** The ids of the memories of a context, in its order. */
export function idsOf(bundle: MemoryBundle): readonly Uuid[] {
  return [...bundle.sections.values()].flat().map(({ candidate }) => candidate.node.id);
}
