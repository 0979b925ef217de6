import { invalid } from "../../../domain/errors.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Tokenizer } from "../../../ports/tokenizer.ts";
import type { MemoryBundle } from "../api.ts";
import { render } from "./render.ts";

/** A context, and the same context without some of its records. */
export type ContextAblation = {
  readonly schemaVersion: 1;
  readonly semantics: "exact_context_entry_removal";
  /** In the order given. */
  readonly removedNodeIds: readonly Uuid[];
  readonly baselineContextSha256: string;
  readonly counterfactualContextSha256: string;
  readonly counterfactual: MemoryBundle;
};

/**
 * Removes packed records from a context and leaves everything else as it was: format, references, header, notice and guidance.
 * Nothing takes their place; the freed tokens count as remaining. If no record is left, only the notice remains. Pure.
 * @param ids at least one, none twice, all of packed records
 * @throws SvcError invalid_argument
 */
export function ablateContext(
  bundle: MemoryBundle,
  ids: readonly Uuid[],
  tokenizer: Tokenizer,
): ContextAblation {
  const removed = parsePackedIds(bundle, ids);
  const sections = new Map(
    [...bundle.sections]
      .map(
        ([name, records]) =>
          [name, records.filter(({ candidate }) => !removed.has(candidate.node.id))] as const,
      )
      .filter(([, records]) => records.length > 0),
  );
  const isEmpty = sections.size === 0;
  const parts = {
    sections,
    header: isEmpty ? undefined : bundle.header,
    coverageNotice: bundle.coverageNotice,
    contextGuidance: isEmpty ? undefined : bundle.contextGuidance,
  };
  const renderedContext = render(parts);
  const tokensUsed = tokenizer.count(renderedContext);
  return {
    schemaVersion: 1,
    semantics: "exact_context_entry_removal",
    removedNodeIds: [...ids],
    baselineContextSha256: sha256Hex(bundle.renderedContext),
    counterfactualContextSha256: sha256Hex(renderedContext),
    counterfactual: {
      ...bundle,
      ...parts,
      includedCount: bundle.includedCount - removed.size,
      excludedIds: [...bundle.excludedIds, ...ids],
      folded: new Map([...bundle.folded].filter(([, host]) => !removed.has(host))),
      tokensUsed,
      budgetRemaining: bundle.budgetRemaining + bundle.tokensUsed - tokensUsed,
      renderedContext,
      contextReferences: new Map(
        [...bundle.contextReferences].filter(([, id]) => !removed.has(id)),
      ),
    },
  };
}

function parsePackedIds({ sections }: MemoryBundle, ids: readonly Uuid[]): ReadonlySet<Uuid> {
  if (ids.length === 0) throw invalid("ids", "name at least one packed record");
  const packed = new Set([...sections.values()].flat().map(({ candidate }) => candidate.node.id));
  const removed = new Set<Uuid>();
  for (const id of ids) {
    if (!packed.has(id)) throw invalid("ids", `${id} is not a record of this context`);
    if (removed.has(id)) throw invalid("ids", `${id} is named twice`);
    removed.add(id);
  }
  return removed;
}
