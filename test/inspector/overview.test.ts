/** What is known at a glance, in a real browser. */
import { describe, expect, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { type Served, serve, useBrowser } from "./place.ts";
import { look, NO_BROWSER, seen } from "./window.ts";

let served: Served;
useBrowser(async () => {
  served = await serve({
    fill: async (engine) => {
      for (const content of [
        "Never book me anything before 9:30.",
        "I prefer green tea.",
        "My sister Carla lives in Bath.",
        "It rained.",
      ]) {
        await engine.store({ userId: "anna", content });
      }
    },
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`the overview${leftOut(NO_BROWSER)}`, () => {
  test("is the first view, part by part, and opens each memory by keys", async () => {
    const { page, go, axe } = await look(served.url);
    await go("");
    await seen(page, "Never book me anything before 9:30.");
    expect(await page.locator("main .sect h2").allTextContents()).toEqual([
      "What assistants are told in every session",
      "Preferences",
      "People and things",
    ]);
    expect(await axe()).toEqual([]);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Never book me anything" }).waitFor();
  });

  test("lends its names to people and things, where nothing was extracted", async () => {
    const { page, go } = await look(served.url);
    await go("things");
    await seen(page, "My sister Carla lives in Bath.");
    expect(await page.locator(".fact strong").allTextContents()).toEqual(["Carla"]);
  });
});
