import type { MemoryNode } from "../../../src/domain/node.ts";
import type { ContextFormat } from "../../../src/domain/records/packing.ts";
import type { MemoryBundle } from "../../../src/engine/retrieve/api.ts";
import { pack } from "../../../src/engine/retrieve/pack/pack.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { packRules, record, tokenizer } from "../retrieve/pack-samples.ts";

export type BundleOptions = {
  readonly format?: ContextFormat;
  /** Reader format: whether records show references. Default true. */
  readonly citations?: boolean;
};

await tokenizer.ready();

/** A context of these memories in this order, m1 and up, as packing makes it. */
export function aBundle(
  memories: readonly (Partial<MemoryNode> & { readonly content: string })[],
  { format = "reader", citations = true }: BundleOptions = {},
): MemoryBundle {
  const settings = {
    contextFormat: format,
    contextCitations: citations && format === "reader",
    multipathOrdering: "score" as const,
  };
  const results = memories.map(({ content, ...given }, at) => record(at + 1, content, given));
  return pack(results, tokenizer, packRules(100_000, settings));
}

/** The ids of the memories of a context, in its order. */
export function idsOf(bundle: MemoryBundle): readonly Uuid[] {
  return [...bundle.sections.values()].flat().map(({ candidate }) => candidate.node.id);
}
