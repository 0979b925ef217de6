import { describe, expect, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { until } from "../until.ts";
import { type Served, serve, useBrowser } from "./place.ts";
import { holdAnswer, look, NO_BROWSER, seen } from "./window.ts";

let served: Served;
useBrowser(async () => {
  served = await serve();
});

const ROWS = `[...document.querySelectorAll(".row")].map((row) => row.querySelector("bdi")?.textContent)`;

describe.skipIf(NO_BROWSER !== undefined)(`the timeline${leftOut(NO_BROWSER)}`, () => {
  test("shows the newest memories first, under their days", async () => {
    const { page, go } = await look(served.url);
    await go("timeline");
    expect((await page.evaluate<string[]>(ROWS)).slice(0, 2)).toEqual([
      "Milan reviews the rollback script on Monday; until then nobody changes it.",
      "The new export writes 1.2 million rows in 38 seconds on staging.",
    ]);
    expect(await page.locator("h1").textContent()).toBe("21 memories since 1 Mar 2026");
    expect(await page.locator(".place .day").first().textContent()).toBe(
      "TodaySunday, 22 November 20261",
    );
  });

  test("is filtered by what it counts, and the address keeps the filter", async () => {
    const { page, go } = await look(served.url);
    await go("timeline");
    await page.getByRole("checkbox", { name: "contested" }).check();
    await page.getByRole("heading", { level: 1, name: "2 memories" }).waitFor();
    expect(new URL(page.url()).search).toBe("?state=contested");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "2 memories" }).waitFor();
    expect(await page.getByRole("checkbox", { name: "new" }).isVisible()).toBe(true);
  });

  test("says what each filter leaves out where nothing is left", async () => {
    const { page, go } = await look(served.url);
    await go("timeline?state=stable&type=task");
    await seen(page, "No memory fits these filters");
    await page.getByRole("button", { name: "without this state" }).click();
    await page.getByRole("heading", { level: 1, name: "2 memories" }).waitFor();
  });

  test("shows the newest memories before all are counted", async () => {
    const { page } = await look(served.url);
    const count = await holdAnswer(page, "**/v1/timeline*");
    await page.goto(`${served.url}/inspect/timeline`);
    await page.locator("a.row").first().waitFor();
    expect((await page.evaluate<string[]>(ROWS))[0]).toBe(
      "Milan reviews the rollback script on Monday; until then nobody changes it.",
    );
    expect(await page.locator(".day .of").first().isVisible()).toBe(false);
    expect(await page.locator("h1").textContent()).toBe("Timeline ");
    count();
    await page.getByRole("heading", { level: 1, name: "21 memories since" }).waitFor();
    expect(await page.locator(".day .of").first().isVisible()).toBe(true);
  });

  test("keeps rows beyond the screen for a small step, and none after a leap", async () => {
    const { page, go } = await look(served.url, { height: 300 });
    await go("timeline");
    const rows = page.locator(".place");
    const first = page.locator(".place[aria-posinset='1']");
    expect(await rows.count()).toBeGreaterThan(7);
    await page.evaluate("scrollTo(0, document.body.scrollHeight / 2)");
    await first.waitFor({ state: "detached" });
    expect(await rows.count()).toBeLessThanOrEqual(8);
    await page.evaluate("scrollBy(0, 10)");
    await until(async () => (await rows.count()) > 8);
  });

  test("is gone through by keys, and each row opens", async () => {
    const { page, go } = await look(served.url);
    await go("timeline");
    for (const key of ["j", "j", "j", "k"]) await page.keyboard.press(key);
    await page.locator("[data-row='1']:focus").waitFor();
    await page.keyboard.press("End");
    await page.locator("[data-row='20']:focus").waitFor();
    await page.keyboard.press("Home");
    await page.locator("[data-row='0']:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/inspect\/memory\//);
  });
});
