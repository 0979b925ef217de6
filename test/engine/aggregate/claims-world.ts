import type { MemoryNode } from "../../../src/domain/node.ts";
import type { Json } from "../../../src/lib/json.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { aNode, anEvent } from "../../contract/samples.ts";

/** Puts memories of one owner into a store as they are. */
export async function put(store: Store, nodes: readonly MemoryNode[]): Promise<void> {
  const event = anEvent({ userId: nodes[0]?.userId ?? "ada" });
  await store.admit({
    events: [event],
    auditRecords: [],
    nodes: nodes.map((node) => ({ node, lexical: false })),
    leaseJobs: true,
  });
}

/** A fact of `ada`; members that are given replace the usual ones. */
export function fact(
  [subject, predicate, object]: readonly [string, string, string],
  given: Partial<MemoryNode> = {},
  metadata: Readonly<Record<string, Json>> = {},
): MemoryNode {
  const event = anEvent({ content: `${subject} ${predicate} ${object}` });
  return aNode(event, {
    nodeType: "fact",
    metadata: { subject, predicate, object, ...metadata },
    ...given,
  });
}

/** The metadata of an amount that stands in the claim's object and text. */
export function amount(value: string, unit: string, text: string): Readonly<Record<string, Json>> {
  return { quantity: { value, unit, source_text: text, grounding: "object_decimal_v1" } };
}
