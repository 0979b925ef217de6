import { describe, expect, test } from "bun:test";
import { refusal } from "../../adapters/language-model/provider-server.ts";
import { until } from "../../until.ts";
import { claimsOf, useExtracting } from "./extracting.ts";

const { extracting, start, open } = useExtracting();
const message = (content: string) => ({ content, userId: "ada", sessionId: "s" });

describe("a message that is waited for", () => {
  test("leaves its claims, its record and a complete job", async () => {
    const { engine, provider } = await extracting();
    const id = await engine.ingest({ ...message("I live in Lisbon."), waitForExtraction: true });
    expect(await claimsOf(engine)).toEqual(["I live_in Lisbon"]);
    expect(await engine.extractionStatus(id, "ada")).toMatchObject({
      status: "complete",
      phase: "complete",
      attempts: 1,
    });
    expect(await engine.getExtraction(id, "ada")).toMatchObject({
      provider: "openai",
      model: "openai/test-model",
      batchId: expect.any(String),
    });
    const { results } = await engine.retrieve({ userId: "ada", query: "Lisbon" });
    expect(results.map(({ node }) => node.nodeType).sort()).toContain("fact");
    expect(provider.asked).toHaveLength(1);
  });

  test("takes the messages with it that were queued before", async () => {
    const { engine, provider } = await extracting();
    await engine.ingest(message("I live in Lisbon."));
    await engine.ingest({
      ...message("Anna likes nothing. Anna like tea."),
      waitForExtraction: true,
    });
    expect(provider.asked.map(({ turns }) => turns.length)).toEqual([2]);
    expect(await claimsOf(engine)).toEqual(["Anna like tea", "I live_in Lisbon"]);
  });

  test("is kept and found where nothing can be extracted", async () => {
    const { engine } = await extracting({
      rules: [{ when: /Lisbon/, reply: () => refusal(500) }],
    });
    const failure = await engine
      .ingest({ ...message("I live in Lisbon."), waitForExtraction: true })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "extraction_failed",
      reasonCode: "InternalServerError",
    });
    const { results } = await engine.retrieve({ userId: "ada", query: "Lisbon" });
    expect(results.map(({ node }) => node.content)).toEqual(["I live in Lisbon."]);
  });
});

describe("messages that nobody waits for", () => {
  test("are extracted together a little later", async () => {
    const { engine, provider } = await extracting({}, { delayMs: 2000 });
    // Admitted in one commit, so that all of them wait when the time begins.
    await Promise.all(
      ["Lisbon", "Porto", "Faro"].map((place) => engine.ingest(message(`I live in ${place}.`))),
    );
    expect(provider.asked).toHaveLength(0);
    await until(async () => (await claimsOf(engine)).length === 3);
    expect(provider.asked.map(({ turns }) => turns.length)).toEqual([3]);
  });

  test("are indexed as they are, behind the call, without a question", async () => {
    const { engine } = await extracting({ rules: [{ when: /Lisbon/, reply: () => refusal(500) }] });
    const id = await engine.ingest(message("I live in Lisbon."));
    await until(async () => (await engine.processingStatus(id, "ada"))?.status === "complete");
    expect(await engine.getNode(id, { userId: "ada" })).toMatchObject({ nodeType: "note" });
  });

  test("are extracted when the engine is closed", async () => {
    const { engine, pack, provider } = await extracting();
    await engine.ingest(message("I live in Lisbon."));
    await engine.close();
    const again = await extracting(provider, {}, { pack });
    expect(await claimsOf(again.engine)).toEqual(["I live_in Lisbon"]);
    expect(provider.asked).toHaveLength(1);
  });

  test("stay queued when the engine of a dead provider is closed, and nothing is asked at the next opening", async () => {
    const provider = start({ rules: [{ when: /Lisbon/, reply: () => refusal(500) }] });
    const { engine, pack } = await extracting(provider);
    const id = await engine.ingest(message("I live in Lisbon."));
    await engine.close();
    const again = await extracting(provider, {}, { pack });
    expect(await again.engine.extractionStatus(id, "ada")).toMatchObject({
      status: "pending",
      lastError: "InternalServerError",
    });
    expect(provider.asked).toHaveLength(1);
  });

  test("are sent one by one, each at once, without batches", async () => {
    const { engine, provider } = await extracting({}, { batchTargetTokens: 0 });
    await engine.ingest(message("I live in Lisbon."));
    await engine.ingest(message("I live in Porto."));
    await until(async () => (await claimsOf(engine)).length === 2);
    expect(provider.asked.map(({ isBatch }) => isBatch)).toEqual([false, false]);
  });
});

describe("a batch", () => {
  test("is extracted whole, in order, in few requests", async () => {
    const { engine, provider } = await extracting();
    const words = Array.from({ length: 33 }, () => "well").join(" ");
    const messages = Array.from({ length: 100 }, (_, index) => ({
      content: `I own lamp${index}. ${words}`,
      role: "user",
    }));
    const ids = await engine.ingestBatch({
      messages,
      userId: "ada",
      sessionId: "s",
      waitForExtraction: true,
    });
    expect(ids).toHaveLength(100);
    expect(await claimsOf(engine)).toHaveLength(100);
    expect(provider.asked.length).toBeLessThanOrEqual(3);
  });

  test("is refused whole for one message that is none", async () => {
    const { engine } = await extracting();
    const messages = [
      { content: "I live in Lisbon.", role: "user" },
      { content: "x", role: "assistant", firstPersonOwner: true },
    ];
    const failure = await engine
      .ingestBatch({ messages, userId: "ada" })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "invalid_speaker",
      field: "messages[1].first_person_owner",
    });
    expect((await engine.stats("ada")).eventCount).toBe(0);
  });

  test("is stored where extraction is off", async () => {
    const { engine } = await open();
    const messages = [{ content: "I live in Lisbon.", role: "user" }];
    const [id = ""] = await engine.ingestBatch({ messages, userId: "ada" });
    expect(await engine.getNode(id)).toMatchObject({ content: "I live in Lisbon." });
    expect(await engine.extractionStatus(id, "ada")).toBeUndefined();
  });
});
