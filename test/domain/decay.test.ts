import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DECAY_PROFILES, EPISTEMIC_TYPES, NODE_TYPES } from "../../src/domain/enums.ts";
import {
  decayed,
  expiredAt,
  initialTtlDays,
  ORIGINAL_TTL_DAYS,
  retentionEnd,
} from "../../src/domain/fading.ts";
import { findOscillation, reinforced } from "../../src/domain/feedback.ts";
import { keywords } from "../../src/domain/lexical-analysis.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import { asInstant, parseInstant } from "../../src/lib/instant.ts";
import { aNode, anEvent, at } from "../contract/samples.ts";
import { BARE_NODE, EVENT_ID } from "../surface/fixtures.ts";

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

describe("initialTtlDays", () => {
  test("takes the type's default, for example the specification's, when nothing is given", () => {
    expect(
      NODE_TYPES.map((type) => [type, initialTtlDays(type, undefined, ORIGINAL_TTL_DAYS)]),
    ).toEqual([
      ["entity", undefined],
      ["event", 365],
      ["fact", undefined],
      ["decision", 180],
      ["preference", undefined],
      ["task", 90],
      ["instruction", undefined],
      ["summary", 365],
      ["note", 90],
    ]);
  });

  test.each(NODE_TYPES)("keeps a %s for ever when null is given", (type) => {
    expect(initialTtlDays(type, null, ORIGINAL_TTL_DAYS)).toBeUndefined();
  });

  test.each([0, 1, 36_500])("uses %d days as given", (days) => {
    expect(NODE_TYPES.map((type) => initialTtlDays(type, days, ORIGINAL_TTL_DAYS))).toEqual(
      NODE_TYPES.map(() => days),
    );
  });

  test("takes replaced defaults, zero included", () => {
    expect(initialTtlDays("note", undefined, { note: 0 })).toBe(0);
    expect(initialTtlDays("event", undefined, { note: 0 })).toBeUndefined();
  });
});

describe("the end of retention", () => {
  const moment = (text: string) => {
    const parsed = parseInstant(text);
    if (typeof parsed === "string") throw new Error(parsed);
    return parsed.instant;
  };
  const stored = (given: object) =>
    aNode(anEvent({ timestamp: moment("2026-01-31T23:59:59.999999Z") }), given);

  test.each([
    [0, "2026-01-31T23:59:59.999999Z"],
    [1, "2026-02-01T23:59:59.999999Z"],
    [90, "2026-05-01T23:59:59.999999Z"],
    [1_000_000, "4763-12-29T23:59:59.999999Z"],
  ])("is %d days of 86,400 s after a memory was stored", (ttlDays, end) => {
    expect(retentionEnd(stored({ ttlDays }))).toBe(moment(end));
  });

  test("counts from when a memory was stored, not from when it happened or is valid", () => {
    const early = moment("2020-01-01T00:00:00Z");
    const node = stored({ ttlDays: 1, eventTime: early, validFrom: early });

    expect(retentionEnd(node)).toBe(moment("2026-02-01T23:59:59.999999Z"));
  });

  test("does not come for pinned memories, for those without a limit, and after the year 9999", () => {
    expect(retentionEnd(stored({ ttlDays: 1, pinned: true }))).toBeUndefined();
    expect(retentionEnd(stored({ ttlDays: undefined }))).toBeUndefined();
    expect(retentionEnd(stored({ ttlDays: 9_000_000 }))).toBeUndefined();
  });

  test("is over one microsecond later, not at the very moment", () => {
    const node = stored({ ttlDays: 1 });

    expect(expiredAt(moment("2026-02-01T23:59:59.999998Z"))(node)).toBe(false);
    expect(expiredAt(moment("2026-02-01T23:59:59.999999Z"))(node)).toBe(false);
    expect(expiredAt(moment("2026-02-02T00:00:00Z"))(node)).toBe(true);
  });

  test("is never over for memories that are kept for ever, nor for longer than time has lasted", () => {
    const isOver = expiredAt(moment("9999-12-31T00:00:00Z"));

    expect(isOver(stored({ ttlDays: undefined }))).toBe(false);
    expect(isOver(stored({ ttlDays: 1, pinned: true }))).toBe(false);
    expect(isOver(stored({ ttlDays: 1 }))).toBe(true);
    expect(expiredAt(moment("2026-03-01T00:00:00Z"))(stored({ ttlDays: 1_000_000 }))).toBe(false);
  });
});

describe("keywords", () => {
  test("are words of ASCII letters and digits in lower case, without stop words", () => {
    expect([...keywords("The Team switched: from PostgreSQL-16 to SQLite, very much!")]).toEqual([
      "team",
      "switched",
      "postgresql",
      "16",
      "sqlite",
    ]);
  });
});

describe("a chain of replacements", () => {
  const TO_LITE = "We switched from Postgres to SQLite";
  const TO_POSTGRES = "We switched from SQLite to Postgres";

  test("of two memories is no oscillation", () => {
    expect(findOscillation([TO_LITE, TO_LITE])).toBeUndefined();
  });

  test("that returns once costs a tenth", () => {
    expect(findOscillation([TO_LITE, TO_POSTGRES, TO_LITE])).toEqual({
      cycleCount: 1,
      penalty: 0.1,
      topic: "postgres sqlite switched",
    });
  });

  test("that goes on is no oscillation", () => {
    expect(findOscillation(["I use tea", "We like coffee", "Rome fell"])).toBeUndefined();
  });

  test("does not look at the memories in between", () => {
    expect(findOscillation(["tea", "tea", "coffee", "tea"])).toBeUndefined();
  });

  test("costs three tenths at most", () => {
    const chain = Array.from({ length: 11 }, (_, index) => (index % 2 === 0 ? "tea" : "coffee"));

    expect(findOscillation(chain)).toMatchObject({ cycleCount: 5, penalty: 0.3 });
    expect(findOscillation(chain.slice(0, 7))).toMatchObject({ cycleCount: 3, penalty: 0.3 });
    expect(findOscillation(chain.slice(0, 6))).toMatchObject({ cycleCount: 2, penalty: 0.2 });
  });

  test("is about up to five words, in order", () => {
    const text = "zebra yak xerus wolf vole urchin";

    expect(findOscillation([text, "", text])?.topic).toBe("urchin vole wolf xerus yak");
  });

  test("is about the words of the shorter text when the two nearest share none", () => {
    const chain = ["tea green", "coffee", "rome", "coffee", "tea green"];

    expect(findOscillation(chain)).toEqual({ cycleCount: 1, penalty: 0.1, topic: "rome" });
  });
});
