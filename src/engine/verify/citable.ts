import { invalid } from "../../domain/errors.ts";
import type { MemoryBundle, PackedRecord } from "../retrieve/api.ts";

/** A record of a context and how it is cited. */
export type CitableRecord = { readonly reference: string; readonly record: PackedRecord };

/**
 * The records of a context that can be cited, in order: those whose reference appears in its text.
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
  return records.flatMap((record) => {
    const reference =
      bundle.contextFormat === "auditable" ? record.candidate.node.id : record.reference;
    if (reference === undefined) return [];
    const stands = bundle.renderedContext.includes(shown(reference, bundle));
    return stands ? [{ reference, record }] : [];
  });
}

/** The form in which a reference appears in the text. */
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
