/** Other owners, other keys, other tabs, other clocks: what the page does then, in a real browser. */
import { describe, expect, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { type StoryPlace, serve, serveStory, useBrowser } from "./place.ts";
import type { Story } from "./story.ts";
import { holdAnswer, LOOK_AGAIN, look, NO_BROWSER, seen } from "./window.ts";

let served: StoryPlace;
let story: Story;
const KEYS = { anna: "anna-key", ben: "ben-key" };
useBrowser(async () => {
  served = await serveStory({}, async (engine) => {
    await engine.store({ userId: "ben", content: "Ben likes coffee." });
    await engine.retrieve({ userId: "ben", query: "coffee or tea?", client: "cursor" });
  });
  ({ story } = served);
});

const ROWS = `[...document.querySelectorAll(".row")].map((row) => row.querySelector("bdi")?.textContent)`;

describe.skipIf(NO_BROWSER !== undefined)(`of several owners${leftOut(NO_BROWSER)}`, () => {
  test("one is shown at a time, and every question names the one who is chosen", async () => {
    const { page, go, axe } = await look(served.url);
    await go("timeline");
    await page.getByRole("button", { name: "Owner anna 1 of 2" }).click();
    expect(await axe()).toEqual([]);
    const asked: URL[] = [];
    page.on("request", (request) => asked.push(new URL(request.url())));
    await page.getByRole("button", { name: "ben 1 memory" }).click();
    await seen(page, "Ben likes coffee.");
    expect(await page.evaluate<string[]>(ROWS)).toEqual(["Ben likes coffee."]);
    expect(new URL(page.url()).searchParams.get("owner")).toBe("ben");
    for (const [key, text] of [
      ["s", "coffee or tea?"],
      ["c", "Nothing to decide"],
      ["h", "of ben"],
      ["t", "Ben likes coffee."],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await seen(page, text);
      expect(await page.getByText("ledger").count()).toBe(0);
    }
    const named = asked.map(({ searchParams }) => searchParams.get("user_id"));
    // Before the choice the page may look at the server once more.
    const chosen = named.slice(named.indexOf("ben"));
    expect(chosen.filter((name) => name !== null && name !== "ben")).toEqual([]);
    await page.reload();
    await seen(page, "Ben likes coffee.");
    expect(await page.evaluate<string[]>(ROWS)).toEqual(["Ben likes coffee."]);
  });

  test("an answer for one is not shown where another has been chosen meanwhile", async () => {
    const { page, go, settled } = await look(served.url);
    await go("timeline?owner=anna");
    const answer = await holdAnswer(page, "**/v1/nodes/browse*");
    await page.getByRole("checkbox", { name: "new" }).check();
    await page.getByRole("button", { name: "Owner anna 1 of 2" }).click();
    await page.getByRole("button", { name: "ben 1 memory" }).click();
    await page.getByRole("heading", { level: 1, name: "1 memory" }).waitFor();
    await seen(page, "Ben likes coffee.");
    const late = page.waitForResponse("**/v1/nodes/browse*");
    answer();
    await (await late).finished();
    await settled();
    expect(await page.evaluate<string[]>(ROWS)).toEqual(["Ben likes coffee."]);
  });

  test("a key of one sees no other: no choice, no memory by its id, no receipt", async () => {
    const bound = await serveStory({ auth: { userKeys: KEYS } }, (engine) =>
      engine.store({ userId: "ben", content: "Ben's." }),
    );
    const { page, go, axe } = await look(bound.url, { key: KEYS.ben });
    const told: string[] = [];
    page.on("response", async (response) => {
      if (response.url().includes("/v1/")) told.push(await response.text().catch(() => ""));
    });
    for (const path of [`memory/${story.ids.tea}`, `search/${story.requestId}`]) {
      await go(`${path}?owner=anna`);
      await seen(page, "It was forgotten, or belongs to another owner.");
      expect(await axe()).toEqual([]);
    }
    await go("timeline?owner=anna");
    expect(await page.evaluate<string[]>(ROWS)).toEqual(["Ben's."]);
    expect(await page.locator(".owner-name").textContent()).toContain("ben");
    expect(await page.getByRole("button", { name: "Owner" }).count()).toBe(0);
    expect(told.filter((text) => /ledger|anna/i.test(text))).toEqual([]);
  });

  test("what one key has shown is gone with another key", async () => {
    const bound = await serve({
      auth: { userKeys: KEYS },
      fill: async (engine) => {
        for (const userId of ["anna", "ben"]) {
          await engine.store({ userId, content: `Of ${userId} alone.` });
        }
      },
    });
    const { page, go } = await look(bound.url);
    await page.goto(`${bound.url}/inspect/timeline`);
    const field = page.getByLabel("Key", { exact: true });
    await field.fill(KEYS.anna);
    await field.press("Enter");
    await seen(page, "Of anna alone.");
    await page.evaluate(`sessionStorage.setItem("svc.key", "ben-key")`);
    await go("timeline");
    expect(await page.evaluate<string[]>(ROWS)).toEqual(["Of ben alone."]);
    await page.evaluate(`sessionStorage.setItem("svc.key", "no-key")`);
    await page.goto(`${bound.url}/inspect/timeline`);
    await seen(page, "The server does not know this key.");
    expect(await page.getByText("alone.").count()).toBe(0);
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`of two tabs${leftOut(NO_BROWSER)}`, () => {
  test("the second is refused what the first has made impossible, and shows what is so now", async () => {
    const { page } = await look(served.url, { isAlone: true });
    const { flag } = story.ids;
    const other = await page.context().newPage();
    const address = `${served.url}/inspect/memory/${flag}`;
    for (const tab of [page, other]) {
      await tab.goto(address);
      await tab.getByRole("button", { name: "Correct…" }).click();
    }
    const write = async (tab: typeof page, text: string): Promise<void> => {
      await tab.getByRole("textbox", { name: "What is true" }).fill(text);
      await tab.getByRole("button", { name: "Replace it" }).click();
    };
    await write(page, "The flag is on everywhere.");
    await page.getByRole("heading", { level: 1, name: "The flag is on everywhere." }).waitFor();
    await write(other, "The flag is off everywhere.");
    await seen(other, "Not changed.");
    await other.keyboard.press("Escape");
    await seen(other, "It was replaced by");
    const { nodes } = await served.engine.browse({ userId: "anna", contains: "everywhere" });
    expect(nodes.map(({ content }) => content)).toEqual(["The flag is on everywhere."]);
  });

  test("each shows within moments what the other or an assistant has changed", async () => {
    const { page, go } = await look(served.url);
    await go("timeline");
    await served.engine.store({ userId: "anna", content: "Told by an assistant just now." });
    await page.evaluate(LOOK_AGAIN);
    await seen(page, "Told by an assistant just now.");
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`the clock${leftOut(NO_BROWSER)}`, () => {
  test.each([
    ["Pacific/Auckland", "Monday, 23 November 2026", "23:15"],
    ["America/Los_Angeles", "Sunday, 22 November 2026", "02:15"],
  ])("of %s decides the days and times that are shown", async (zone, day, time) => {
    const { page, go } = await look(served.url, { zone });
    await go("timeline?owner=anna&state=tentative");
    const row = page.locator(".place", { hasText: "Milan reviews the rollback script" });
    expect(await row.locator("time").textContent()).toBe(time);
    expect(await row.locator("time").getAttribute("datetime")).toContain("2026-11-22T10:15:00");
    expect(await page.getByText(day, { exact: false }).count()).toBeGreaterThan(0);
  });

  test("that is set back or ahead by years changes no date and loses no row", async () => {
    for (const now of ["2001-01-01T00:00:00Z", "2099-12-31T23:59:59Z"]) {
      const { page, go, faults, close } = await look(served.url, { now });
      await go("timeline?owner=anna&state=contested");
      expect(await page.locator("h1").textContent()).toBe("2 memories since 10 Sept 2026");
      await go(`memory/${story.ids.thursday}`);
      await seen(page, "true from 10 Sept 2026, no end");
      expect(faults).toEqual([]);
      await close();
    }
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`without JavaScript${leftOut(NO_BROWSER)}`, () => {
  test("the page says so, and its links answer", async () => {
    const { page } = await look(served.url, { javaScript: false });
    await page.goto(`${served.url}/inspect/timeline`);
    await page.getByRole("heading", { level: 1, name: "This page needs JavaScript" }).waitFor();
    const links = await page.locator("main a").all();
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) {
      const answer = await page.request.get(`${served.url}${await link.getAttribute("href")}`);
      expect([await link.textContent(), answer.status()]).toEqual([await link.textContent(), 200]);
    }
  });
});
