import { expect, setDefaultTimeout, test } from "bun:test";
import { refusal } from "../../adapters/language-model/provider-server.ts";
import type { Script } from "../../adapters/language-model/scripted-provider.ts";
import { DEFAULT_SETTINGS } from "../engines.ts";
import { claimsOf, modelOf, useExtracting } from "../extract/extracting.ts";
import { type Film, useObserving } from "./observing.ts";

setDefaultTimeout(120_000);

const { observing } = useObserving();
const { start } = useExtracting();

const USER = { userId: "ada" } as const;
const SIGN: Film = { "sign.jpg": ["A photo of a sign. Clara moved to Faro."] };
const SIGNS: Film = { "signs.mp4": ["Clara moved to Faro.", "Clara moved to Porto."] };

/** An engine that observes and extracts. @param extract false: descriptions are kept as notes */
async function both(film: Film, script: Script, { extract = true, delays = [0, 0, 0] } = {}) {
  const provider = start(script);
  const opened = await observing(film, {
    observation: { extract, extractionRetryDelaysMs: delays },
    settings: { extraction: { ...DEFAULT_SETTINGS.extraction, maxRetries: 0 } },
    models: { extractionModel: modelOf(provider) },
  });
  return { ...opened, provider };
}

test("claims are extracted from a description before the call returns", async () => {
  const { engine } = await both(SIGN, {});
  const report = await engine.observeSource({ ...USER, source: "sign.jpg" });
  expect(report).toMatchObject({ extract: true, admitted: 1 });
  expect(report.observations[0]?.extraction).toBe("complete");
  expect(await claimsOf(engine)).toEqual(["Clara moved_to Faro"]);
});

test("nothing is extracted, and no model asked, where the setting is off", async () => {
  const { engine, provider } = await both(SIGN, {}, { extract: false });
  const report = await engine.observeSource({ ...USER, source: "sign.jpg" });
  expect(report).toMatchObject({ extract: false, admitted: 1 });
  expect(report.observations[0]?.extraction).toBeUndefined();
  expect([provider.asked, await claimsOf(engine)]).toEqual([[], []]);
});

test("an extraction that fails is tried again before the next frame", async () => {
  let tries = 0;
  const reply = () => {
    tries += 1;
    return tries < 3 ? refusal(500) : undefined;
  };
  const { engine } = await both(SIGNS, { rules: [{ when: /Faro/, reply }] });
  const report = await engine.observeSource({ ...USER, source: "signs.mp4" });
  expect(report.observations.map(({ extraction }) => extraction)).toEqual(["complete", "complete"]);
  expect(tries).toBe(3);
  expect(await claimsOf(engine)).toEqual(["Clara moved_to Faro", "Clara moved_to Porto"]);
});

test("a frame whose extraction keeps failing is admitted, tells the state, and the next one follows", async () => {
  const { engine } = await both(SIGNS, { rules: [{ when: /Faro/, reply: () => refusal(500) }] });
  const report = await engine.observeSource({ ...USER, source: "signs.mp4" });
  expect(report).toMatchObject({ admitted: 2, failed: 0 });
  expect(report.observations.map(({ extraction }) => extraction)).toEqual(["failed", "complete"]);
  expect(await claimsOf(engine)).toEqual(["Clara moved_to Porto"]);
});

test("without delays it is not tried again", async () => {
  const rules = [{ when: /Faro/, reply: () => refusal(500) }];
  const { engine, provider } = await both(SIGN, { rules }, { delays: [] });
  const report = await engine.observeSource({ ...USER, source: "sign.jpg" });
  expect(report.observations[0]?.extraction).toBe("pending");
  expect(provider.asked).toHaveLength(1);
});

test("a call that is given up during a pause ends with the reason", async () => {
  const gone = new AbortController();
  const asked = Promise.withResolvers<void>();
  const reply = () => {
    asked.resolve();
    return refusal(500);
  };
  const { engine } = await both(
    SIGN,
    { rules: [{ when: /Faro/, reply }] },
    { delays: [3_600_000] },
  );
  const call = engine.observe({ ...USER, source: "sign.jpg", signal: gone.signal });
  await asked.promise;
  gone.abort(new Error("enough"));
  expect(await call.catch((error: unknown) => error)).toEqual(new Error("enough"));
  expect(await engine.observe({ ...USER, source: "sign.jpg" })).toEqual([]);
});
