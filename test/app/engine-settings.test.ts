import { expect, test } from "bun:test";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { loadConfig } from "../../src/config/load.ts";
import { DEFAULT_TTL_DAYS } from "../../src/domain/retention.ts";

const NOWHERE = "/nonexistent";

function settings(environment: Readonly<Record<string, string>> = {}) {
  return toEngineSettings(loadConfig({ environment, folder: NOWHERE }).config);
}

test("hands the defaults of the product to the engine", () => {
  const engine = settings();
  expect(engine.scoringVersion).toBe("011a2a9ce8e7");
  expect(engine.ttlDefaults).toEqual(DEFAULT_TTL_DAYS);
  expect(engine.packing.sessionContextScoreDecay).toBe(0.6);
  expect(engine.scoring).toEqual({
    rrfK: 60,
    rrfTieBreak: "event_time",
    nodeTypeBoost: {
      fact: 1.15,
      preference: 1.15,
      decision: 1.15,
      instruction: 1.15,
      summary: 1.1,
    },
  });
});

test("keeps memories of a type without a number for ever", () => {
  const { ttlDefaults } = settings({ SVC_ORGANIZER__DEFAULT_TTL_DAYS: '{"note":null,"task":5}' });
  expect(ttlDefaults).toEqual({ task: 5 });
});

test("falls back to the general decay when rank fusion has none of its own", () => {
  const name = "SVC_PACKING__SESSION_CONTEXT_RANK_FUSION_SCORE_DECAY";
  expect(settings({ [name]: "none" }).packing.sessionContextScoreDecay).toBe(0.85);
});

test("names other scoring settings by another version", () => {
  expect(settings({ SVC_SCORING__RRF_K: "61" }).scoringVersion).not.toBe("011a2a9ce8e7");
  const plain = { SVC_SCORING__RRF_RECENCY_BOOST: "none", SVC_SCORING__RRF_TIE_BREAK: "none" };
  expect(settings(plain).scoringVersion).toBe("f77bcdeb50a5");
});
