import { expect, test } from "bun:test";
import fc from "fast-check";
import { reinforced } from "../../src/domain/feedback.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { BARE_NODE, EVENT_ID } from "../surface/fixtures.ts";

const AT = asInstant("2026-05-06T07:08:09.000010Z");

test("one step adds 0.15 to the boost and 0.05 to the confidence, and nothing else changes", () => {
  expect(reinforced(BARE_NODE, undefined, AT)).toEqual({
    ...BARE_NODE,
    reinforcementBoost: 0.15,
    confidenceBase: 0.85,
    confidence: 0.85,
    salience: 0.65,
    lastReinforcedAt: AT,
    updatedAt: AT,
  });
});

test("no step leaves the noise of binary fractions", () => {
  let node = BARE_NODE;
  const seen: number[] = [];
  for (let step = 0; step < 4; step += 1) {
    node = reinforced(node, undefined, AT);
    seen.push(node.confidence, node.reinforcementBoost, node.salience);
  }
  expect(seen).toEqual([0.85, 0.15, 0.65, 0.9, 0.3, 0.8, 0.95, 0.45, 0.95, 0.95, 0.5, 1]);
});

test("evidence is appended each time it is given", () => {
  const twice = reinforced(reinforced(BARE_NODE, EVENT_ID, AT), EVENT_ID, AT);
  expect(twice.evidenceRefs).toEqual([...BARE_NODE.evidenceRefs, EVENT_ID, EVENT_ID]);
});

test("many steps end at a boost of 0.5 and a confidence of 0.95", () => {
  let node = BARE_NODE;
  for (let step = 0; step < 20; step += 1) node = reinforced(node, undefined, AT);
  expect([node.reinforcementBoost, node.confidenceBase, node.confidence, node.salience]).toEqual([
    0.5, 0.95, 0.95, 1,
  ]);
});

const unit = fc.double({ min: 0, max: 1, noNaN: true });

test("nothing falls, nothing passes its cap unless it was beyond it already", () => {
  fc.assert(
    fc.property(unit, unit, unit, (confidenceBase, salienceBase, reinforcementBoost) => {
      const before = { ...BARE_NODE, confidenceBase, salienceBase, reinforcementBoost };
      const after = reinforced(before, undefined, AT);
      expect(after.confidenceBase).toBeGreaterThanOrEqual(confidenceBase);
      expect(after.confidenceBase).toBeLessThanOrEqual(Math.max(0.95, confidenceBase));
      expect(after.reinforcementBoost).toBeGreaterThanOrEqual(reinforcementBoost);
      expect(after.reinforcementBoost).toBeLessThanOrEqual(Math.max(0.5, reinforcementBoost));
      expect(after.salienceBase).toBe(salienceBase);
      expect(after.salience).toBeCloseTo(Math.min(1, salienceBase + after.reinforcementBoost), 11);
      expect(after.confidence).toBe(after.confidenceBase);
    }),
  );
});
