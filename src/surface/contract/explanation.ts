import { LIMITS } from "../../domain/arguments.ts";
import { wholeOf } from "../../domain/beginning.ts";
import {
  LIFECYCLE_STATES,
  NODE_TYPES,
  QUERY_INTENTS,
  REPRESENTATION_LEVELS,
} from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { type Explanation, RECEIPT_DETAILS } from "../../domain/records/receipt.ts";
import { SECTION_NAMES } from "../../domain/records/retrieval-record.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import {
  count,
  decimal,
  instant,
  list,
  member,
  noted,
  nullable,
  omitted,
  text,
  told,
  uuid,
  view,
} from "../../lib/form.ts";
import { nextTurn } from "../../lib/pause.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { textCutter, contentLength as wholeLength } from "./core/cut-texts.ts";
import { organizerChange } from "./nodes.ts";

type Explained = Explanation["inContext"][number];
type Excluded = Explanation["notInContext"][number];
type Texted = {
  /** Its current form; undefined if it no longer exists. */
  readonly node: MemoryNode | undefined;
  /** The organizer's last change to it, in words; undefined: none. */
  readonly organizer: string | undefined;
};

/** An explanation with the texts of its memories, as far as they still exist. */
export type ToldExplanation = Omit<Explanation, "inContext" | "notInContext"> & {
  readonly inContext: readonly (Explained & Texted)[];
  readonly notInContext: readonly (Excluded & Texted)[];
};

/**
 * Reads the texts of the memories that an explanation lists, in any state.
 * @param userId undefined: of any owner
 * @param maxChars UTF-16 units of all texts; the longest are cut
 */
export async function withTexts(
  engine: MemoryEngine,
  explanation: Explanation,
  userId: string | undefined,
  maxChars: number,
): Promise<ToldExplanation> {
  const { inContext, notInContext } = explanation;
  const ids = [...new Set([...inContext, ...notInContext].map(({ nodeId }) => nodeId))];
  const texts = new Map<Uuid, Texted>();
  let room = maxChars;
  for (const [index, id] of ids.entries()) {
    const node = await engine.getNode(id, { userId, includeSuperseded: true });
    if (node === undefined) continue;
    // One at a time, so that long texts are not held together and other calls can run.
    const shown = textCutter([node], Math.floor(room / (ids.length - index)))(node);
    room -= shown.content.length;
    texts.set(id, { node: shown, organizer: await organizerChange(engine, node) });
    if (node.content.length > LIMITS.wordingChars) await nextTurn();
  }
  const withText = <T extends { readonly nodeId: Uuid }>(one: T) => ({
    ...one,
    ...(texts.get(one.nodeId) ?? { node: undefined, organizer: undefined }),
  });
  return {
    ...explanation,
    inContext: inContext.map(withText),
    notInContext: notInContext.map(withText),
  };
}

const content = told(
  noted(nullable(text), { description: "Null once the memory is gone." }),
  ({ node }: Texted) => node?.content,
);

const contentLength = told(wholeLength, ({ node }: Texted) => node && wholeOf(node).content);

const organizer = noted(omitted(text), {
  description: "What the organizer made of it last, in words. Absent: nothing.",
});

const reason = noted(
  view<Excluded["reason"]>()({
    text: noted(text, {
      description: "In plain words; about a memory it ends where the id belongs.",
    }),
    nodeId: told(nullable(uuid), ({ memory }) => memory),
  }),
  { id: "Reason" },
);

const explained = view<Explained & Texted>()({
  place: noted(count, { description: "From 1, in the order of the context." }),
  nodeId: uuid,
  content,
  contentLength,
  nodeType: told(nullable(member(NODE_TYPES)), ({ node }) => node?.nodeType),
  lifecycleState: told(nullable(member(LIFECYCLE_STATES)), ({ node }) => node?.lifecycleState),
  eventTime: told(nullable(instant), ({ node }) => node?.eventTime),
  createdAt: told(nullable(instant), ({ node }) => node?.createdAt),
  organizer,
  section: member(SECTION_NAMES),
  rank: noted(count, { description: "From 1, among the results." }),
  score: decimal,
  representation: member(REPRESENTATION_LEVELS),
  tokenCost: count,
  reasons: list(reason),
});

const excluded = view<Excluded & Texted>()({
  nodeId: uuid,
  content,
  contentLength,
  organizer,
  stage: member(["packing", "selection", "filter"]),
  code: noted(text, { description: "For example result_limit." }),
  rank: nullable(count),
  score: nullable(decimal),
  reason,
});

/** Why each record was or was not in the context of a retrieval. */
export const explanationView = noted(
  view<ToldExplanation>()({
    requestId: uuid,
    userId: text,
    query: text,
    intent: member(QUERY_INTENTS),
    referenceTime: instant,
    createdAt: instant,
    detail: noted(member(RECEIPT_DETAILS), {
      description:
        "lean: the receipt has the reasons of the first 20 results, and beyond them only what was in the context.",
    }),
    filters: noted(list(text), { description: "The restrictions of the request." }),
    searches: list(
      view<Explanation["searches"][number]>()({
        name: text,
        found: count,
        failure: nullable(text),
      }),
    ),
    notes: list(text),
    tokensUsed: count,
    tokensAvailable: count,
    inContext: list(explained),
    notInContext: list(excluded),
  }),
  { id: "Explanation" },
);
