import { storedValueBindings } from "../../../domain/value-bindings.ts";
import type { MemoryBundle, VisibleBinding } from "../api.ts";

/** The value bindings whose short form appears in the context, by node id, then reference. Pure. */
export function visibleBindings(bundle: Pick<MemoryBundle, "sections">): VisibleBinding[] {
  const visible: VisibleBinding[] = [];
  for (const record of [...bundle.sections.values()].flat()) {
    const { node } = record.candidate;
    for (const binding of storedValueBindings(node.metadata)) {
      const presentation = String(binding["presentation"]);
      if (!record.text.includes(presentation)) continue;
      visible.push({
        contextRef: record.reference ?? node.id,
        nodeId: node.id,
        reference: String(binding["reference"]),
        kind: String(binding["kind"]),
        presentation,
        lookup: String(binding["lookup"]),
        lookupAuthority: "caller",
      });
    }
  }
  const order = (binding: VisibleBinding) => `${binding.nodeId} ${binding.reference}`;
  return visible.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
