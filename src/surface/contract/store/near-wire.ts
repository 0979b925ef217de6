import { LIFECYCLE_STATES } from "../../../domain/enums.ts";
import type { NearMemory } from "../../../engine/write/api.ts";
import { flag, instant, member, noted, text, told, unit, uuid, view } from "../../../lib/form.ts";

/** Characters of a near memory's text that an answer to a store repeats. */
const NEAR_TEXT_MAX = 2000;

/** A memory that a new one may replace or repeat, in the same form on every surface; the similarity to four decimals. */
export const nearView = noted(
  view<NearMemory>()({
    nodeId: told(uuid, ({ node }) => node.id),
    content: told(
      noted(text, { description: "Its text, the first 2,000 characters." }),
      // Without half of a surrogate pair at the end.
      ({ node }) => node.content.slice(0, NEAR_TEXT_MAX).replace(/[\ud800-\udbff]$/, ""),
    ),
    lifecycleState: told(member(LIFECYCLE_STATES), ({ node }) => node.lifecycleState),
    createdAt: told(instant, ({ node }) => node.createdAt),
    similarity: told(
      noted(unit, { description: "Cosine of the two texts." }),
      ({ similarity }) => Math.round(similarity * 10_000) / 10_000,
    ),
    identical: noted(flag, {
      description: "The same text: reinforce that memory instead of storing it again.",
    }),
  }),
  { id: "NearMemory" },
);
