import { describe, expect, test } from "bun:test";
import { expiredAt } from "../../../src/domain/fading.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { exclusionReason, filterEpistemic } from "../../../src/engine/retrieve/candidates.ts";
import { aNode, anEvent, at } from "../../contract/samples.ts";

const RULES = { isExpired: expiredAt(at(0)), unverifiedThreshold: 0.3 } as const;

describe("retention", () => {
  test("that is over leaves out in default mode, and leaves out nothing in explicit mode", () => {
    const node = aNode(anEvent(), { ttlDays: 1, epistemicType: "hypothetical" });
    const end = 86_400;

    expect(
      exclusionReason(node, { ...RULES, mode: "explicit", isExpired: expiredAt(at(end)) }),
    ).toBeUndefined();
    for (const later of [end + 0.000_001, 10 * end]) {
      const rules = { ...RULES, isExpired: expiredAt(at(later)) };
      expect(exclusionReason(node, { ...rules, mode: "default" })).toBe(
        "retention_filtered:expired",
      );
      expect(exclusionReason(node, { ...rules, mode: "explicit" })).toBeUndefined();
    }
  });

  test("does not end for pinned memories and for those without a limit", () => {
    for (const given of [{ ttlDays: 1, pinned: true }, { ttlDays: undefined }]) {
      const rules = { ...RULES, mode: "default", isExpired: expiredAt(at(1e9)) } as const;

      expect(exclusionReason(aNode(anEvent(), given), rules)).toBeUndefined();
    }
  });
});

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

    expect(exclusionReason(node, { ...RULES, mode: "default" })).toBe(reason as string);
    expect(exclusionReason(node, { ...RULES, mode: "explicit" })).toBeUndefined();
  });

  test("keeps the order of the rest and records what it left out", () => {
    const candidates = CASES.slice(0, 5).map(([given]) => ({ node: aNode(anEvent(), given) }));

    const { kept, excluded } = filterEpistemic(candidates, { ...RULES, mode: "default" });

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
