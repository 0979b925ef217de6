/** What a memory says about itself, in a real browser. */
import { describe, expect, test } from "bun:test";
import type { StoreInput } from "../../src/engine/write/api.ts";
import { leftOut } from "../left-out.ts";
import { serve, useBrowser } from "./place.ts";
import { look, middleOf, NO_BROWSER, write } from "./window.ts";

useBrowser();

const said = (content: string, speaker?: string) => ({ userId: "anna", content, speaker });

/** A memory that was stored at a moment. */
async function serveAt(moment: string, input: StoreInput) {
  let nodeId = "";
  const { url } = await serve({
    fill: async (engine, at) => {
      at(moment);
      ({ nodeId } = await engine.storeWithReceipt(input));
    },
  });
  return { url, nodeId };
}

describe.skipIf(NO_BROWSER !== undefined)(`a memory${leftOut(NO_BROWSER)}`, () => {
  test("names who said it, in its life, its facts and its conflict", async () => {
    const { url, engine } = await serve({ fill: async () => {} });
    const tom = await engine.storeWithReceipt({
      ...said("The office moves to Graz.", "Tom Berger"),
      role: "participant",
    });
    const eva = await engine.storeWithReceipt(said("The office stays in Linz.", "Eva Lang"));
    await engine.contradict(tom.nodeId, eva.nodeId, { actorId: "codex" });
    const { page, go, axe } = await look(url);
    await go(`memory/${tom.nodeId}`);
    await page.locator(".versus").waitFor();
    expect(await page.locator(".life b").first().textContent()).toBe("Tom Berger said it");
    expect(await page.locator(".facts").textContent()).toContain("said byTom Berger");
    expect(await page.locator(".side dl").first().textContent()).toContain("said byTom Berger");
    expect(await axe()).toEqual([]);
    await go("conflicts");
    expect(await page.locator(".side .tag > span").allTextContents()).toEqual(["first", "second"]);
    expect(await page.locator(".side dl").first().textContent()).toContain("said byTom Berger");
    const later = await middleOf(page.getByRole("button", { name: "Later" }));
    expect(await middleOf(page.getByRole("link", { name: "Open the memory" }))).toBe(later);
  });

  test("that was archived is brought back by a button", async () => {
    const { url, engine } = await serve({ fill: async () => {} });
    const { nodeId } = await engine.storeWithReceipt(said("The spare key is under the pot."));
    await engine.archive(nodeId);
    const { page, go, axe } = await look(url);
    await go(`memory/${nodeId}`);
    const button = page.getByRole("button", { name: "Restore" });
    await button.click();
    await page.getByRole("button", { name: "Archive" }).waitFor();
    expect(await button.count()).toBe(0);
    expect((await engine.getNode(nodeId))?.lifecycleState).toBe("tentative");
    expect(await axe()).toEqual([]);
  });

  test("is dated by when it was said, and shows beside its state when it happens", async () => {
    const input = {
      ...said("Anna has a dentist's appointment."),
      eventTime: "2026-12-04T08:30:00Z",
    };
    const { url, nodeId } = await serveAt("2026-11-20T08:00:00Z", input);
    const { page, go } = await look(url);
    await go(`memory/${nodeId}`);
    const when = page.locator(".life time").first();
    expect(await when.getAttribute("datetime")).toMatch(/^2026-11-20T08:00/);
    expect(await page.locator(".claim .meta").textContent()).toContain("happens 4 Dec 2026");
  });

  test("that is corrected keeps its pin, its times and its retention", async () => {
    const { url, engine } = await serve({ fill: async () => {} });
    const kept = {
      eventTime: "2026-12-04T08:30:00Z",
      validFrom: "2026-01-01T00:00:00Z",
      validTo: "2027-01-01T00:00:00Z",
      ttlDays: 400,
    };
    const { nodeId } = await engine.storeWithReceipt({
      ...said("The visit is at eight."),
      ...kept,
    });
    await engine.pin(nodeId, true, { actorId: "anna" });
    const looked = await look(url);
    const { page } = looked;
    await write(looked, [`memory/${nodeId}`, "e", "The visit is at nine."]);
    await page.getByRole("button", { name: "Replace it" }).click();
    await page.getByRole("heading", { level: 1, name: "The visit is at nine." }).waitFor();
    const old = await engine.getNode(nodeId, { includeSuperseded: true });
    const now = await engine.getNode(old?.supersededBy ?? nodeId);
    const { content, pinned, eventTime, validFrom, validTo, ttlDays } = now ?? {};
    expect({ content, pinned, eventTime, validFrom, validTo, ttlDays }).toEqual({
      ...{ content: "The visit is at nine.", pinned: true, ttlDays: 400 },
      eventTime: old?.eventTime,
      validFrom: old?.validFrom,
      validTo: old?.validTo,
    });
    expect(old?.eventTime).toStartWith("2026-12-04T08:30");
  });

  test("draws when it was true within a narrow window, and no date over another word", async () => {
    const { url, nodeId } = await serveAt("2026-01-01T08:00:00Z", said("Anna lives in Linz."));
    const { page, go, settled } = await look(url, { width: 400 });
    await go(`memory/${nodeId}`);
    const cut = `(() => { const axis = document.querySelector(".axis"); return axis.scrollWidth - axis.clientWidth; })()`;
    expect(await page.evaluate<number>(cut)).toBe(0);
    const boxes = `[...document.querySelectorAll(".axis .tick")].map((one) => one.getBoundingClientRect()).map(({ left, right, top }) => ({ left, right, top }))`;
    for (const width of [400, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await settled();
      type Place = { left: number; right: number; top: number };
      const places = await page.evaluate<Place[]>(boxes);
      const over = places.filter((one, index) =>
        places
          .slice(index + 1)
          .some((two) => two.top === one.top && two.left < one.right && one.left < two.right),
      );
      expect(over).toEqual([]);
    }
  });

  test("has room for the names of all views, also of the one that is shown", async () => {
    const { url } = await serve();
    const { page, go } = await look(url);
    for (const view of ["", "things", "conflicts"]) {
      await go(view);
      const cut = `[...document.querySelectorAll(".nav a > span")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`;
      expect(await page.evaluate<string[]>(cut)).toEqual([]);
    }
  });
});
