import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { exclusionReason, filterEpistemic } from "../../../src/engine/retrieve/filter.ts";
import { aNode, anEvent } from "../../contract/samples.ts";

describe("the epistemic filter", () => {
  const CASES: readonly [Partial<MemoryNode>, string | undefined][] = [
    [{ epistemicType: "observed" }, undefined],
    [{ epistemicType: "asserted" }, undefined],
    [{ epistemicType: "inferred" }, undefined],
    [{ epistemicType: "hypothetical" }, "epistemic_filtered:hypothetical"],
    [{ epistemicType: "deprecated" }, "epistemic_filtered:deprecated"],
    [{ epistemicType: "unverified", confidence: 0.3 }, undefined],
    [{ epistemicType: "unverified", confidence: 0.2 }, "unverified_below_threshold:0.20<=0.30"],
    [{ epistemicType: "unverified", confidence: 0.299 }, "unverified_below_threshold:0.30<=0.30"],
    [{ epistemicType: "conditional" }, "condition_filtered:unknown"],
    [
      { epistemicType: "conditional", metadata: { condition_state: "maybe" } },
      "condition_filtered:unknown",
    ],
    [
      { epistemicType: "conditional", metadata: { condition_state: "false" } },
      "condition_filtered:false",
    ],
    [
      { epistemicType: "conditional", metadata: { condition_state: "expired" } },
      "condition_filtered:expired",
    ],
    [{ epistemicType: "conditional", metadata: { condition_state: "true" } }, undefined],
  ];

  test.each(CASES)("of %j leaves out for %p", (given, reason) => {
    const node = aNode(anEvent(), given);

    expect(exclusionReason(node, { mode: "default", unverifiedThreshold: 0.3 })).toBe(
      reason as string,
    );
    expect(exclusionReason(node, { mode: "explicit", unverifiedThreshold: 0.3 })).toBeUndefined();
  });

  test("keeps the order of the rest and records what it left out", () => {
    const candidates = CASES.slice(0, 5).map(([given]) => ({ node: aNode(anEvent(), given) }));

    const { kept, excluded } = filterEpistemic(candidates, {
      mode: "default",
      unverifiedThreshold: 0.3,
    });

    expect(kept).toEqual(candidates.slice(0, 3));
    expect(excluded).toEqual([
      {
        nodeId: candidates[3]?.node.id as never,
        reason: "epistemic_filtered:hypothetical",
        compositeScore: undefined,
      },
      {
        nodeId: candidates[4]?.node.id as never,
        reason: "epistemic_filtered:deprecated",
        compositeScore: undefined,
      },
    ]);
  });
});
