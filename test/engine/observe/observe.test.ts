import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { ObservationError, SvcError } from "../../../src/domain/errors.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { refusal } from "../../adapters/language-model/provider-server.ts";
import type { Script } from "../../adapters/language-model/scripted-provider.ts";
import { DEFAULT_SETTINGS, expectInvalid, useEngines } from "../engines.ts";
import { claimsOf, modelOf, useExtracting } from "../extract/extracting.ts";
import { type Film, TAKEN, useObserving } from "./observing.ts";

setDefaultTimeout(120_000);

const { observing } = useObserving();
const { open } = useEngines();

const USER = { userId: "ada" } as const;
const DOG = "A photo of a brown dog on a beach.";
const WALK = { "walk.mp4": ['A gate reads "EXIT 4".', null, "A bridge.", "A brown dog."] };

async function failure(call: Promise<unknown>): Promise<SvcError> {
  const error = await call.catch((reason: unknown) => reason);
  if (error instanceof SvcError) return error;
  throw new Error(`nothing of ours was thrown: ${String(error)}`);
}

async function observationFailure(call: Promise<unknown>): Promise<ObservationError> {
  const error = await failure(call);
  if (error instanceof ObservationError) return error;
  throw error;
}

describe("a photo", () => {
  test("becomes one event with its description, its time and where it is from", async () => {
    const { engine, store, asked } = await observing({ "dog.jpg": [DOG] });
    const [id, ...more] = await engine.observe({
      ...USER,
      source: "dog.jpg",
      metadata: { trip: 1 },
    });
    expect([more, asked]).toEqual([[], [DOG]]);
    const sha256 = sha256Hex(JSON.stringify([DOG]));
    expect(await engine.getEvent(id ?? "", "ada")).toMatchObject({
      role: "tool",
      content: DOG,
      scope: "personal",
      sessionId: "photo:dog.jpg",
      eventTime: TAKEN,
      metadata: {
        trip: 1,
        modality: "photo",
        source_file: "dog.jpg",
        source_path: "/photos/dog.jpg",
        source_sha256: sha256,
        frame_index: 0,
        frame_time_s: null,
        frame_sha256: sha256,
        thumbnail: `frames/${sha256}.jpg`,
        vision_model: "ollama/eyes",
        describe_prompt_version: 2,
        capture_clock: "exif",
      },
    });
    expect(await store.countEvents(ALL_OWNERS)).toBe(1);
  });

  test("is found by the words of its description, as what was observed", async () => {
    const { engine } = await observing({ "dog.jpg": [DOG] });
    const [id] = await engine.observe({ ...USER, source: "dog.jpg" });
    const { results } = await engine.retrieve({ ...USER, query: "which dog was on the beach?" });
    expect(results[0]?.node).toMatchObject({
      content: DOG,
      evidenceRefs: [id],
      sourceType: "tool_output",
      metadata: { source_file: "dog.jpg" },
    });
  });

  test("is observed once, until the scope is another one", async () => {
    const { engine, asked, closed } = await observing({ "dog.jpg": [DOG] });
    const [id] = await engine.observe({ ...USER, source: "dog.jpg" });
    expect(await engine.observe({ ...USER, source: "dog.jpg" })).toEqual([]);
    // It is not even opened again.
    expect(closed).toEqual(["dog.jpg"]);
    const again = await engine.observeSource({ ...USER, source: "dog.jpg" });
    expect(again).toMatchObject({ alreadyObserved: 1, described: 0, admitted: 0, eventIds: [] });
    expect(again.observations[0]).toMatchObject({ status: "already_observed", eventId: id });
    expect(asked).toHaveLength(1);
    expect(await engine.observe({ ...USER, source: "dog.jpg", scope: "project" })).toHaveLength(1);
    expect(await engine.observe({ userId: "tom", source: "dog.jpg" })).toHaveLength(1);
    expect(asked).toHaveLength(3);
  });

  test("takes what the caller says of time, name and session", async () => {
    const { engine } = await observing({ "dog.jpg": [DOG] });
    const report = await engine.observeSource({
      ...USER,
      source: new TextEncoder().encode("dog.jpg"),
      sourceName: "Rex",
      sessionId: "holiday",
      capturedAt: "2020-01-01T00:00:00+01:00",
    });
    expect(report).toMatchObject({
      source: "Rex",
      capturedAt: "2019-12-31T23:00:00.000000Z",
      captureClock: "given",
    });
    const event = await engine.getEvent(report.eventIds[0] ?? "", "ada");
    expect(event).toMatchObject({
      sessionId: "holiday",
      eventTime: "2019-12-31T23:00:00.000000Z",
      metadata: { source_file: "Rex", capture_clock: "given" },
    });
  });

  test("that was forgotten stays forgotten, and is not described again", async () => {
    const { engine, asked } = await observing({ "dog.jpg": [DOG] });
    const [id = ""] = await engine.observe({ ...USER, source: "dog.jpg" });
    const { confirm } = await engine.forget({ ...USER, ids: [id] });
    await engine.forget({ ...USER, ids: [id], confirm });
    expect(await engine.observe({ ...USER, source: "dog.jpg" })).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  test("stays observed when its owner gets another name, and is not that of the next owner of the name", async () => {
    const { engine, asked } = await observing({ "dog.jpg": [DOG] });
    const [id] = await engine.observe({ ...USER, source: "dog.jpg" });
    await engine.moveOwner({ from: "ada", into: "eva", isJoin: false, actorId: "test" });
    expect(await engine.observe({ userId: "eva", source: "dog.jpg" })).toEqual([]);
    const [other] = await engine.observe({ ...USER, source: "dog.jpg" });
    expect(other).not.toBe(id);
    expect(await engine.observe({ ...USER, source: "dog.jpg" })).toEqual([]);
    expect(asked).toHaveLength(2);
  });
});

describe("a video", () => {
  test("becomes an event for each frame that was kept, at its own time", async () => {
    const { engine, closed } = await observing(WALK);
    const report = await engine.observeSource({ ...USER, source: "walk.mp4" });
    expect(report).toMatchObject({
      ...{ source: "walk.mp4", kind: "video", sourcePath: "/photos/walk.mp4" },
      ...{ capturedAt: TAKEN, captureClock: "container", visionModel: "ollama/eyes" },
      ...{ describePromptVersion: 2, extract: false, frames: 4, keyframes: 3, described: 3 },
      ...{ repeatsDropped: 0, alreadyObserved: 0, admitted: 3, failed: 0 },
    });
    expect(
      report.keyframeLog.map(({ index, timeS, change, kept, reason }) => [
        index,
        timeS,
        change,
        kept,
        reason,
      ]),
    ).toEqual([
      [0, 0, undefined, true, "first"],
      [1, 1, 0.75, false, undefined],
      [2, 2, 0.75, true, "change"],
      [3, 3, 0.75, true, "change"],
    ]);
    const events = await Promise.all(report.eventIds.map((id) => engine.getEvent(id, "ada")));
    expect(
      events.map((event) => [event?.content, event?.eventTime, event?.metadata?.["frame_time_s"]]),
    ).toEqual([
      ['A gate reads "EXIT 4".', "2026-03-01T10:00:00.000000Z", 0],
      ["A bridge.", "2026-03-01T10:00:02.000000Z", 2],
      ["A brown dog.", "2026-03-01T10:00:03.000000Z", 3],
    ]);
    expect(new Set(events.map((event) => event?.sessionId))).toEqual(new Set(["video:walk.mp4"]));
    expect(closed).toEqual(["walk.mp4"]);
  });

  test("drops a frame that quotes the same and says almost the same as the one before", async () => {
    const same = 'The board reads "Total 12-50" in a hall.';
    const { engine, store } = await observing({
      "board.mp4": [
        same,
        "The board reads “total 12 50.” in a hall.",
        'The board reads "Total 13-50" in a hall.',
        'Many people stand and read "Total 13-50" outside of an old station.',
      ],
    });
    const { observations, repeatsDropped, admitted } = await engine.observeSource({
      ...USER,
      source: "board.mp4",
    });
    expect({ repeatsDropped, admitted }).toEqual({ repeatsDropped: 1, admitted: 3 });
    expect(observations.map(({ status }) => status)).toEqual([
      "admitted",
      "repeat",
      "admitted",
      "admitted",
    ]);
    const [first, second, third, fourth] = observations;
    expect([first?.similarity, third?.similarity]).toEqual([undefined, undefined]);
    expect(second?.similarity).toBeGreaterThanOrEqual(0.93);
    expect(fourth?.similarity).toBeLessThan(0.93);
    expect(second).toMatchObject({ eventId: undefined, description: expect.any(String) });
    expect(await store.countEvents(ALL_OWNERS)).toBe(3);
  });

  test("goes on where it ended, comparing with what is stored", async () => {
    let isBroken = true;
    const film = { "a.mp4": ["A red door.", "A blue door.", "A blue door.", "A garden."] };
    const { engine, asked } = await observing(film, {
      describing: (shown) => (isBroken && asked.length === 2 ? refusal(500) : shown),
    });
    const { report, message } = await observationFailure(
      engine.observe({ ...USER, source: "a.mp4" }),
    );
    expect(message).toContain("a.mp4: ended before its time, with 1 of 4 frames stored");
    expect(report).toMatchObject({ admitted: 1, failed: 1, keyframes: 4 });
    expect(report.observations.map(({ status }) => status)).toEqual(["admitted", "failed"]);
    expect(report.observations[1]?.error).toStartWith("VisionError: ollama (eyes) has a problem");
    isBroken = false;
    const rest = await engine.observeSource({ ...USER, source: "a.mp4" });
    expect(rest.observations.map(({ status }) => status)).toEqual([
      "already_observed",
      "admitted",
      "repeat",
      "admitted",
    ]);
    const last = await engine.observeSource({ ...USER, source: "a.mp4" });
    expect(last).toMatchObject({ alreadyObserved: 3, repeatsDropped: 1, admitted: 0 });
  });
});

describe("is refused, and nothing is read, asked or stored,", () => {
  test("without a vision model", async () => {
    const { engine } = await open();
    const error = await failure(engine.observe({ ...USER, source: "dog.jpg" }));
    expect([error.code, error.name]).toEqual(["vision_disabled", "VisionDisabledError"]);
    expect(error.message).toContain("SVC_VISION__ENABLED=true");
    expect(error.message).toContain("SVC_VISION__MODEL");
  });

  test.each([
    ["user_id", { userId: " " }],
    ["source", { source: "" }],
    ["source", { source: new Uint8Array() }],
    ["source", { source: "a\0.jpg" }],
    ["captured_at", { capturedAt: "2026-03-01T10:00:00" }],
    ["source_name", { sourceName: " " }],
    // SAFETY: what a caller without types may pass.
    ["scope", { scope: "nowhere" as never }],
    ["metadata", { metadata: [] as never }],
    ["metadata.x", { metadata: { x: Number.NaN } }],
    ["source", { source: 5 as never }],
  ])("with a wrong %s", async (field, wrong) => {
    const { engine, asked, closed } = await observing({ "dog.jpg": [DOG] });
    await expectInvalid(engine.observe({ ...USER, source: "dog.jpg", ...wrong }), { field });
    expect([asked, closed]).toEqual([[], []]);
  });
});

describe("a frame that cannot be stored", () => {
  test("is told, the others are stored, and the call fails at its end", async () => {
    const { engine, store } = await observing(WALK);
    const call = engine.observe({ ...USER, source: "walk.mp4", metadata: { svc_role_v1: "x" } });
    const error = await observationFailure(call);
    expect(error.report).toMatchObject({ described: 3, admitted: 0, failed: 3, eventIds: [] });
    expect(error.message).toContain("3 of 3 frames could not be stored");
    expect(error.message).toContain("svc_role_v1");
    const told = await engine.observeSource({
      ...USER,
      source: "walk.mp4",
      metadata: { svc_role_v1: "x" },
    });
    expect(told.failed).toBe(3);
    expect(await store.countEvents(ALL_OWNERS)).toBe(0);
  });

  test("ends the call where the pack is in trouble: the next one would fail as well", async () => {
    const { engine, asked } = await observing(WALK, {
      alter: (store) => ({
        admit: async (admission) => {
          if (asked.length > 1) throw new SvcError("disk_full", "there is no room", {});
          await store.admit(admission);
        },
      }),
    });
    const { report, cause } = await observationFailure(
      engine.observeSource({ ...USER, source: "walk.mp4" }),
    );
    expect(report).toMatchObject({ admitted: 1, failed: 1, described: 2 });
    expect(cause).toMatchObject({ code: "disk_full" });
    expect(asked).toHaveLength(2);
  });

  test("ends the call with what was done, also where nobody can tell whether it was observed", async () => {
    const { engine, asked } = await observing(WALK, {
      alter: (store) => ({
        event: async (id, owner) => {
          if (asked.length > 0) throw new SvcError("storage_failed", "the disk is gone", {});
          return await store.event(id, owner);
        },
      }),
    });
    const call = engine.observeSource({ ...USER, source: "walk.mp4" });
    const { report, cause } = await observationFailure(call);
    expect(report).toMatchObject({ admitted: 1, failed: 0, keyframes: 3 });
    expect(cause).toMatchObject({ code: "storage_failed" });
  });

  test("whose keys of origin the caller sets is stored with the true ones", async () => {
    const { engine } = await observing({ "dog.jpg": [DOG] });
    const metadata = { source_file: "cat.jpg", thumbnail: "x", vision_model: "me", mine: true };
    const [id = ""] = await engine.observe({ ...USER, source: "dog.jpg", metadata });
    const event = await engine.getEvent(id, "ada");
    expect(event?.metadata).toMatchObject({
      source_file: "dog.jpg",
      vision_model: "ollama/eyes",
      mine: true,
    });
  });
});

test("one call runs at a time, in their order", async () => {
  let inside = 0;
  let most = 0;
  const { engine, asked } = await observing(
    { "a.jpg": ["One."], "b.jpg": ["Two."], "c.jpg": ["Three."] },
    {
      describing: async (shown) => {
        inside += 1;
        most = Math.max(most, inside);
        await Bun.sleep(20);
        inside -= 1;
        return shown;
      },
    },
  );
  const calls = ["a.jpg", "missing.jpg", "b.jpg", "c.jpg"].map((source) =>
    engine.observe({ ...USER, source }),
  );
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  expect([asked, most]).toEqual([["One.", "Two.", "Three."], 1]);
});

describe("a call that is given up", () => {
  test("ends with the caller's reason while the model is silent; what was stored stays", async () => {
    const gone = new AbortController();
    const { engine, store, closed } = await observing(WALK, {
      describing: (shown) => (shown === "A bridge." ? new Promise<string>(() => {}) : shown),
    });
    const seen: string[] = [];
    const call = engine.observe({
      ...USER,
      source: "walk.mp4",
      signal: gone.signal,
      onFrame: ({ status }, done, keyframes) => {
        seen.push(`${status} ${done}/${keyframes}`);
        gone.abort(new Error("enough"));
      },
    });
    expect(await call.catch((error: unknown) => error)).toEqual(new Error("enough"));
    expect([seen, closed]).toEqual([["admitted 1/3"], ["walk.mp4"]]);
    expect(await store.countEvents(ALL_OWNERS)).toBe(1);
  });

  test("by closing the engine ends as well, and so does one that waits for its turn", async () => {
    const asking = Promise.withResolvers<void>();
    const { engine } = await observing(WALK, {
      describing: () => {
        asking.resolve();
        return new Promise<string>(() => {});
      },
    });
    const calls = [1, 2].map(() => failure(engine.observe({ ...USER, source: "walk.mp4" })));
    await asking.promise;
    await engine.close();
    expect((await Promise.all(calls)).map(({ code }) => code)).toEqual([
      "engine_closed",
      "engine_closed",
    ]);
  });
});

test("two engines on one pack that observe the same video store each frame once", async () => {
  const { engine, pack, store } = await observing(WALK);
  const other = await observing(WALK, { pack });
  const reports = await Promise.all(
    [engine, other.engine].map((one) => one.observeSource({ ...USER, source: "walk.mp4" })),
  );
  const statuses = reports.flatMap(({ observations }) => observations.map(({ status }) => status));
  expect(statuses.filter((status) => status === "admitted")).toHaveLength(3);
  expect(statuses.filter((status) => status === "already_observed")).toHaveLength(3);
  expect(await store.countEvents(ALL_OWNERS)).toBe(3);
});

setDefaultTimeout(120_000);
const { start } = useExtracting();
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
