import { newEdge, planIdOf } from "../../src/domain/extraction/plan/context.ts";
import type { DerivationPlan } from "../../src/domain/extraction/plan/derivation.ts";
import { type DropCounts, EMPTY_RESULT } from "../../src/domain/extraction/result.ts";
import { toExtractionRecord } from "../../src/domain/extraction/work.ts";
import type { MemoryEvent, MemoryNode } from "../../src/domain/node.ts";
import { uuidV5 } from "../../src/lib/hashing.ts";
import type { Admission } from "../../src/ports/store/events.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { ExtractionClaim, ExtractionFilter } from "../../src/ports/store/work.ts";
import { aNode, anAdmission, at } from "./samples.ts";

/** An admission of events that are to be extracted. */
export function extractable(events: readonly MemoryEvent[]): Admission {
  return anAdmission(events, { extracts: true });
}

/** The claim that a filter gives, of which there must be one. */
export async function claimed(
  store: Store,
  filter: ExtractionFilter,
  seconds = 300,
): Promise<ExtractionClaim> {
  const claim = await store.claimExtraction(filter, seconds);
  if (claim === undefined) throw new Error("nothing can be claimed");
  return claim;
}

/** The record of an extraction that kept nothing. */
export function aRecordOf(
  event: MemoryEvent,
  given: { readonly provider?: string; readonly drops?: DropCounts } = {},
) {
  const { provider = "scripted", drops = {} } = given;
  const by = { provider, model: "m", promptVersion: "1", at: at(1) };
  return toExtractionRecord(event, { result: EMPTY_RESULT, drops }, by);
}

/** A plan: two entities, and a claim about the first that mentions the second. */
export function aPlanOf(
  { event, revision }: Pick<ExtractionClaim, "event" | "revision">,
  given: Partial<DerivationPlan> & { readonly claim?: Partial<MemoryNode> } = {},
): DerivationPlan {
  const { claim, ...members } = given;
  const id = planIdOf({ event, revision });
  const base = { createdAt: at(1), updatedAt: at(1), ttlDays: undefined };
  const entity = (name: string): MemoryNode =>
    aNode(event, {
      ...base,
      id: uuidV5(id, name),
      nodeType: "entity",
      content: name,
      metadata: { entity_type: "person" },
    });
  const [subject, object] = [entity("Ada"), entity("Graz")];
  const stated = aNode(event, {
    ...base,
    id: uuidV5(id, "claim"),
    nodeType: "fact",
    content: "Ada lives in Graz.",
    metadata: { subject: "Ada", predicate: "lives_in", object: "Graz", polarity: "positive" },
    ...claim,
  });
  const edge = { event, now: at(1) };
  return {
    id,
    eventId: event.id,
    revision,
    nodes: [subject, object, stated],
    edges: [
      newEdge(edge, id, "has_fact", [subject.id, stated.id]),
      newEdge(edge, id, "mentions", [stated.id, object.id]),
    ],
    replacements: [],
    snapshots: [],
    vectorTexts: ["Ada", "Graz", stated.content],
    lexicalIds: [stated.id],
    ...members,
  };
}
