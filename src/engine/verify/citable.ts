import { invalid } from "../../domain/errors.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { MemoryBundle, PackedRecord } from "../results.ts";

/** A record of a context and how it is cited. */
export type CitableRecord = { readonly reference: string; readonly record: PackedRecord };

/**
 * The records of a context that can be cited, in its order: those whose reference stands in its text.
 * @throws SvcError invalid_argument (`context_citations`) for a reader context with records and without references
 */
export function citableRecords(bundle: MemoryBundle): readonly CitableRecord[] {
  const records = [...bundle.sections.values()].flat();
  if (
    bundle.contextFormat === "reader" &&
    records.length > 0 &&
    bundle.contextReferences.size === 0
  ) {
    throw invalid(
      "context_citations",
      "the records of this context cannot be cited; retrieve it with packing.context_citations on, or in another format",
    );
  }
  const references = new Map<Uuid, string>();
  for (const [reference, id] of bundle.contextReferences) references.set(id, reference);
  return records.flatMap((record) => {
    const { id } = record.candidate.node;
    const reference = bundle.contextFormat === "auditable" ? id : references.get(id);
    const stands =
      reference !== undefined && bundle.renderedContext.includes(shown(reference, bundle));
    return stands ? [{ reference, record }] : [];
  });
}

/** The form in which a reference stands in the text. */
function shown(reference: string, { contextFormat }: MemoryBundle): string {
  switch (contextFormat) {
    case "reader":
      return `[${reference}]`;
    case "compact":
      return `"${reference}"`;
    case "auditable":
      return `"id":"${reference}"`;
  }
}
