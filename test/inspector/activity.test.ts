/** What assistants asked and changed, in a real browser. */
import { describe, expect, test } from "bun:test";
import { joined } from "../../src/page/views/joined.ts";
import { REAL_MODEL } from "../engine/engines.ts";
import { leftOut } from "../left-out.ts";
import { type StoryPlace, serve, serveStory, useBrowser } from "./place.ts";
import type { Story } from "./story.ts";
import { look, NO_BROWSER, seen } from "./window.ts";

let served: StoryPlace;
let story: Story;
let isDown = false;
const embedder = {
  ...REAL_MODEL,
  embedQuery: async (text: string) => {
    if (isDown) throw new Error("the model is away");
    return await REAL_MODEL.embedQuery(text);
  },
};
useBrowser(async () => {
  served = await serveStory({ embedder }, async (engine, { ids }) => {
    await engine.pin(ids.checks, false, { actorId: "anna" });
    isDown = true;
    await engine.retrieve({ userId: "anna", query: "what failed?", client: "codex" });
    isDown = false;
  });
  ({ story } = served);
});

const entry = (at: number) => ({
  id: at,
  at: `2026-11-22T00:00:00.${String(at).padStart(6, "0")}Z`,
});
const moments = (entries: readonly { id: number }[]): readonly number[] =>
  entries.map(({ id }) => id);

describe("two lists that are newest first", () => {
  test("are one, as far back as both have been read, and the next page begins with the rest", () => {
    const long = { entries: [9, 7, 5, 5].map(entry), hasMore: true };
    const short = { entries: [8, 5, 3].map(entry), hasMore: false };
    const { entries, next } = joined([long, short]);
    expect(moments(entries)).toEqual([9, 8, 7]);
    expect(next).toBe("2026-11-22T00:00:00.000006Z");
  });

  test("end where neither has more, and a page of one moment is shown as it is", () => {
    const whole = { entries: [2, 1].map(entry), hasMore: false };
    expect(joined([whole, whole]).next).toBeUndefined();
    const { entries, next } = joined([{ entries: [4, 4].map(entry), hasMore: true }, whole]);
    expect([moments(entries), next]).toEqual([[4, 4], "2026-11-22T00:00:00.000004Z"]);
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`the activity${leftOut(NO_BROWSER)}`, () => {
  test("shows questions, new memories and changes by day, with their failures, and leads to receipt and memory", async () => {
    const { page, go, axe } = await look(served.url);
    await go("activity");
    expect(await page.locator("h1").textContent()).toBe(
      "5 questions, 21 new memories, and 5 changes",
    );
    expect((await page.locator(".happened li").allTextContents()).slice(0, 3)).toEqual([
      "16:03codexaskedwhat failed?the search by meaning failed5 in the context",
      "16:03annareleasedBefore each deploy of the ledger, run `bun test` and wait for the green check of the migration job.",
      "16:03claude-codeaskedWhen does the ledger service deploy?8 in the context",
    ]);
    expect((await page.locator("main .head").allTextContents()).slice(0, 2)).toEqual([
      "Sunday, 22 November 20261 failed",
      "Saturday, 21 November 2026",
    ]);
    expect(await axe()).toEqual([]);
    for (const key of ["j", "j", "j", "k", "j"]) await page.keyboard.press(key);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/inspect/search/${story.requestId}*`);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Before each deploy of the ledger" }).first().click();
    await page.waitForURL(`**/inspect/memory/${story.ids.checks}*`);
  });

  test("is shown of one program, and of one kind, and the address keeps that", async () => {
    const { page, go, settled } = await look(served.url);
    await go("activity");
    await page.getByRole("link", { name: "codex" }).click();
    await page.getByRole("heading", { level: 1, name: "2 questions and 1 change" }).waitFor();
    await page.getByRole("link", { name: "failures" }).click();
    await page.getByRole("heading", { level: 1, name: "1 question" }).waitFor();
    expect(new URL(page.url()).search).toBe("?who=codex&show=failures");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "1 question" }).waitFor();
    await page.getByRole("link", { name: "changes" }).click();
    await seen(page.locator(".happened li"), "contradicted");
    await page.getByRole("link", { name: "everybody" }).click();
    const { operations } = await served.engine.listChanges({ userId: "anna" });
    await page.getByRole("heading", { level: 1, name: `${operations.length} changes` }).waitFor();
    await settled();
    expect(await page.locator(".happened li").count()).toBe(operations.length);
  });

  test("is shown page by page, without losing or repeating anything", async () => {
    const { url } = await serve({
      fill: async (engine, at) => {
        // A question of 90 days ago is no longer told.
        at("2026-11-20T12:00:00Z");
        const { nodeId } = await engine.storeWithReceipt({ userId: "anna", content: "Tea." });
        for (let times = 0; times < 230; times += 1) {
          await engine.pin(nodeId, times % 2 === 0, { actorId: `caller ${times}` });
        }
        await engine.retrieve({ userId: "anna", query: "what does Anna drink?" });
      },
    });
    const { page, go } = await look(url);
    await go("activity");
    const first = await page.locator(".happened .who").allTextContents();
    await page.getByRole("link", { name: "Older" }).click();
    await page.getByRole("link", { name: "Newest" }).waitFor();
    await page.locator(".happened .who", { hasText: /^caller 0$/ }).waitFor();
    const all = [...first, ...(await page.locator(".happened .who").allTextContents())];
    const callers = Array.from({ length: 230 }, (_, index) => `caller ${229 - index}`);
    expect(all).toEqual(["unnamed", ...callers, ""]);
  });

  test("stands beside a memory: the answers it was used in, newest first, each with its receipt", async () => {
    const { page, go, axe } = await look(served.url);
    await go(`memory/${story.ids.thursday}`);
    await page.getByRole("heading", { name: "Used in 5 answers" }).waitFor();
    const uses = await served.engine.nodeRetrievals(story.ids.thursday, { userId: "anna" });
    expect(await page.locator(".used p").allTextContents()).toEqual(
      uses?.retrievals.map(({ query }) => query) ?? [],
    );
    expect(await axe()).toEqual([]);
    await page.getByRole("link", { name: "When does the ledger service deploy?" }).click();
    await page.waitForURL(`**/inspect/search/${story.requestId}*`);
  });
});
