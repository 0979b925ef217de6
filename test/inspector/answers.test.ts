/** The views of a question, of a memory and of contradictions, in a real browser. */
import { describe, expect, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { until } from "../until.ts";
import { type StoryPlace, serve, serveStory, useBrowser } from "./place.ts";
import { QUESTION, type Story } from "./story.ts";
import { LOOK_AGAIN, look, NO_BROWSER, seen, write } from "./window.ts";

let served: StoryPlace;
let story: Story;
useBrowser(async () => {
  served = await serveStory();
  ({ story } = served);
});

const asked = (): string => `search/${story.requestId}`;

describe.skipIf(NO_BROWSER !== undefined)(`the inspector${leftOut(NO_BROWSER)}`, () => {
  test("computes the checksum and the scores of a receipt again, and asks it again word for word", async () => {
    const { page, go } = await look(served.url);
    await go(asked());
    await seen(page, "✓ checksum holds, scores computed again are equal");
    await seen(page, "word for word as it was sent");
    const told = await served.engine.explain(story.requestId, "anna");
    const scores = told?.inContext
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ score }) => score.toFixed(3));
    expect(await page.locator(".hit .score b").allTextContents()).toEqual(scores ?? []);
    const lost = Map.groupBy(told?.notInContext ?? [], ({ stage }) => stage);
    const [rules = 0, limits = 0, unpacked = 0] = (["filter", "selection", "packing"] as const).map(
      (stage) => lost.get(stage)?.length ?? 0,
    );
    expect(rules).toBeGreaterThan(0);
    const found = (told?.inContext.length ?? 0) + (told?.notInContext.length ?? 0);
    expect([unpacked, await page.locator(".funnel .n").allTextContents()]).toEqual([
      0,
      [`${found}found`, `${found - rules}allowed−${rules}`, `8chosen−${limits}`, "8packed"],
    ]);
  });

  test("says of a lean receipt that it is lean, and asks it again word for word", async () => {
    const other = await serveStory({ receiptDetail: "lean" });
    const { page, go } = await look(other.url);
    await go(`search/${other.story.requestId}`);
    await seen(page, "checksum holds, scores cannot be computed again from a lean receipt");
    await seen(page, "word for word as it was sent");
    await seen(page, "The receipt is lean");
    const told = await other.engine.explain(other.story.requestId, "anna");
    const reasons = await page.locator(".hit .score .why").allTextContents();
    const first = told?.inContext.find(({ rank }) => rank === 1);
    expect(reasons[0]).toBe(first?.reasons.map(({ text }) => text).join("; "));
  });

  test("says that a context is another one, and what changed in it, once a memory of it is gone", async () => {
    const other = await serveStory({}, async (engine, { ids }) => {
      await engine.archive(ids.oncall, { actorId: "anna" });
    });
    const { page, go } = await look(other.url);
    await go(`search/${other.story.requestId}`);
    await seen(page, "asked again now, it is another text");
    expect(await page.getByText("word for word as it was sent").count()).toBe(0);
  });

  test("asks a question that leaves no receipt and stands in no address and no title", async () => {
    const { page, go } = await look(served.url);
    await go("search");
    const before = await served.engine.listRetrievals({ userId: "anna" });
    await page.keyboard.press("/");
    await page.locator("input[data-question]:focus").waitFor();
    await page.keyboard.type(QUESTION);
    await page.keyboard.press("Enter");
    await seen(page, "word for word as an assistant would get it");
    expect((await page.locator(".hit").allTextContents()).length).toBeGreaterThan(3);
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/inspect/search");
    expect(await page.title()).not.toContain("ledger");
    expect(await served.engine.listRetrievals({ userId: "anna" })).toEqual(before);
  });

  test("says of what was known on an earlier day what has become of it since", async () => {
    const { page, go } = await look(served.url);
    await go("search");
    await page.getByLabel("known by").fill("2026-09-01");
    await page.locator("input[data-question]").fill(QUESTION);
    await page.keyboard.press("Enter");
    const tuesday = page.locator(".hit", { hasText: "deploys every Tuesday" });
    await seen(tuesday, "replaced since");
    expect(await page.locator(".hit", { hasText: "since" }).count()).toBe(1);
  });

  test("shows a long answer by one call, its first rows at once and all of them after", async () => {
    const notes = Array.from({ length: 60 }, (_, at) => `Ledger run ${at} deploys on day ${at}.`);
    const other = await serve({
      fill: async (engine, at) => {
        at("2026-11-20T08:00:00Z");
        for (const content of notes) {
          await engine.storeWithReceipt({ userId: "anna", content, role: "user" });
        }
      },
    });
    const { page, go, settled } = await look(other.url);
    await go("search");
    const calls: string[] = [];
    page.on("request", (one) => calls.push(`${one.method()} ${new URL(one.url()).pathname}`));
    const answered = page.waitForResponse("**/v1/retrieve");
    await page.keyboard.press("/");
    await page.locator("input[data-question]:focus").waitFor();
    await page.keyboard.type(QUESTION);
    await page.keyboard.press("Enter");
    const shown = (await (await answered).json()).explanation.in_context.length;
    expect(shown).toBeGreaterThan(20);
    const last = shown - 1;
    for (const rows of [".hit", ".ln"]) await page.locator(rows).nth(last).waitFor();
    await seen(page, "✓ checksum holds, scores computed again are equal");
    expect(await page.locator(".hit .rank").allTextContents()).toEqual(
      Array.from({ length: shown }, (_, at) => `${at + 1}`),
    );
    expect(calls.filter((call) => call.startsWith("POST"))).toEqual(["POST /v1/retrieve"]);

    const kept = await other.engine.retrieve({ userId: "anna", query: QUESTION });
    await go(`search/${kept.metadata.requestId}`);
    await page.locator(".hit").nth(last).waitFor();
    await page.evaluate(`(() => {
      window.fewest = Infinity;
      const count = () => { fewest = Math.min(fewest, document.querySelectorAll(".hit").length); };
      new MutationObserver(count).observe(document, { childList: true, subtree: true });
    })()`);
    await other.engine.storeWithReceipt({ userId: "anna", content: "Other news.", role: "user" });
    const again = page.waitForResponse("**/explanation*");
    await page.evaluate(LOOK_AGAIN);
    await again;
    await settled();
    expect(await page.evaluate<number>("fewest")).toBeGreaterThan(last);
  });

  test("corrects a memory by keys: the new text replaces the old one, which stays in the chain", async () => {
    const looked = await look(served.url);
    const { page } = looked;
    const name = "The feature flag is on everywhere.";
    await write(looked, [`memory/${story.ids.flag}`, "e", name]);
    await page.locator(".diff ins", { hasText: "everywhere." }).waitFor();
    await page.getByRole("button", { name: "Replace it" }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await seen(page, "It replaced");
    const before = await served.engine.getNode(story.ids.flag, { includeSuperseded: true });
    expect(before?.lifecycleState).toBe("superseded");
  });

  test("archives at once, and brings it back when that is undone", async () => {
    const { page, go } = await look(served.url);
    const state = async (): Promise<string | undefined> =>
      (await served.engine.getNode(story.ids.tea, { includeSuperseded: true }))?.lifecycleState;
    await go(`memory/${story.ids.tea}`);
    await page.keyboard.press("x");
    await seen(page, "Archived “");
    expect(await state()).toBe("archived");
    await page.keyboard.press("z");
    await seen(page, "Restored. It can be found again.");
    expect(await state()).toBe("tentative");
    await page.getByRole("button", { name: "Archive" }).click();
    await page.goto("about:blank");
    await until(async () => (await state()) === "archived");
  });

  test("settles a contradiction by a key", async () => {
    const { page, go } = await look(served.url);
    await go("conflicts");
    expect(await page.locator(".side .text").allTextContents()).toHaveLength(2);
    await page.keyboard.press("1");
    await seen(page, "Nothing to decide");
    const kept = await served.engine.getNode(story.ids.thursday);
    const other = await served.engine.getNode(story.ids.wednesday, { includeSuperseded: true });
    expect([kept?.lifecycleState, other?.lifecycleState]).toEqual(["stable", "deprecated"]);
  });
});
