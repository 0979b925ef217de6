import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DECAY_PROFILES, EPISTEMIC_TYPES } from "../../src/domain/enums.ts";
import { decayed } from "../../src/domain/fading.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import { aNode, anEvent, at } from "../contract/samples.ts";

const DAY = 86_400;

function after(days: number, given: Partial<MemoryNode>) {
  const node = aNode(anEvent(), { salienceBase: 0.5, confidenceBase: 0.8, ...given });
  return decayed({ ...node, lastReinforcedAt: at(0) }, at(days * DAY));
}

describe("decay", () => {
  test.each([
    {
      name: "an asserted memory of medium decay",
      given: { decayProfile: "medium", epistemicType: "asserted" },
      salience: 0.2482926519,
      confidence: 0.5637504718,
    },
    {
      name: "a reinforced observation of slow decay",
      given: { decayProfile: "slow", epistemicType: "observed", reinforcementBoost: 0.3 },
      salience: 0.4287877254,
      confidence: 0.8,
    },
    {
      name: "an inference of fast decay",
      given: { decayProfile: "fast", epistemicType: "inferred" },
      salience: 0.0431467932,
      confidence: 0.2350061603,
    },
    {
      name: "a hypothesis of rapid decay",
      given: { decayProfile: "rapid", epistemicType: "hypothetical" },
      salience: 0.000455941,
      confidence: 0.0241579067,
    },
  ] as const)("of $name after 35 days", ({ given, salience, confidence }) => {
    const value = after(35, given);

    expect(value.salience).toBeCloseTo(salience, 10);
    expect(value.confidence).toBeCloseTo(confidence, 10);
  });

  test.each([
    { name: "a pinned memory", given: { pinned: true } },
    { name: "a permanent one", given: { decayProfile: "permanent" } },
    { name: "an archived one", given: { lifecycleState: "archived" } },
    { name: "a deprecated one", given: { lifecycleState: "deprecated" } },
  ] as const)("leaves $name at its bases, without its boost", ({ given }) => {
    expect(after(400, { ...given, reinforcementBoost: 0.3 })).toEqual({
      salience: 0.5,
      confidence: 0.8,
    });
  });

  test("spares the confidence of an observation for 180 days", () => {
    const observed = { epistemicType: "observed", decayProfile: "medium" } as const;

    expect(after(179.999, observed).confidence).toBe(0.8);
    expect(after(180, observed).confidence).toBeCloseTo(0.8 * Math.exp(-1.8), 12);
  });

  test.each([0.000_001, 0.123_457, 0.999_999])(
    "ends that at exactly 180 days, for a reinforcement %d s past the second",
    (seconds) => {
      const node = aNode(anEvent(), { epistemicType: "observed", confidenceBase: 0.8 });
      const observed = { ...node, lastReinforcedAt: at(seconds) };

      expect(decayed(observed, at(180 * DAY + seconds - 0.000_001)).confidence).toBe(0.8);
      expect(decayed(observed, at(180 * DAY + seconds)).confidence).toBeCloseTo(0.132_239, 6);
    },
  );

  test("lets the boost of a reinforcement fade at a rate of its own, whatever the profile", () => {
    for (const decayProfile of ["slow", "medium", "fast", "rapid"] as const) {
      const with0 = after(7, { decayProfile, salienceBase: 0.3 }).salience;
      const with3 = after(7, { decayProfile, salienceBase: 0.3, reinforcementBoost: 0.3 }).salience;

      expect(with3 - with0).toBeCloseTo(0.3 * Math.exp(-0.7), 12);
    }
  });

  test("goes on for superseded and contested memories", () => {
    for (const lifecycleState of ["superseded", "contested"] as const) {
      expect(after(35, { lifecycleState }).salience).toBeCloseTo(0.2482926519, 10);
    }
  });

  test("counts a moment before the last reinforcement as the reinforcement itself", () => {
    expect(after(-10, { reinforcementBoost: 0.2 })).toEqual({ salience: 0.7, confidence: 0.8 });
  });

  test("keeps salience and confidence at 1 at most", () => {
    expect(after(1, { salienceBase: 0.9, reinforcementBoost: 3 }).salience).toBe(1);
  });

  test("never rises with time and stays within 0 and 1", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const node = fc.record({
      salienceBase: share,
      confidenceBase: share,
      reinforcementBoost: fc.double({ min: 0, max: 2, noNaN: true }),
      decayProfile: fc.constantFrom(...DECAY_PROFILES),
      epistemicType: fc.constantFrom(...EPISTEMIC_TYPES),
      pinned: fc.boolean(),
    });
    const days = fc.double({ min: 0, max: 5000, noNaN: true });
    fc.assert(
      fc.property(node, days, days, (given, one, other) => {
        const early = after(Math.min(one, other), given);
        const late = after(Math.max(one, other), given);

        expect(late.salience).toBeLessThanOrEqual(early.salience);
        expect(late.confidence).toBeLessThanOrEqual(early.confidence);
        for (const value of [...Object.values(early), ...Object.values(late)]) {
          expect(value >= 0 && value <= 1).toBe(true);
        }
      }),
      { seed: 11 },
    );
  });
});
