/** People and things, and claims, in a real browser. */
import { describe, expect, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { type Served, serve, useBrowser } from "./place.ts";
import { serveThings, type ThingsPlace } from "./things-story.ts";
import { gone, look, NO_BROWSER, seen } from "./window.ts";

let served: ThingsPlace;
useBrowser(async () => {
  served = await serveThings();
});

/** More things than a page shows, and no claim. */
const serveMany = (): Promise<Served> =>
  serve({
    fill: async (engine) => {
      for (let index = 0; index < 60; index += 1) {
        await engine.store({ userId: "anna", content: `thing ${index}`, nodeType: "entity" });
      }
    },
  });

describe.skipIf(NO_BROWSER !== undefined)(`people and things${leftOut(NO_BROWSER)}`, () => {
  test("come with the most memories first, found by a part of the name, opened by keys", async () => {
    const { page, go, settled } = await look(served.url);
    await go("things");
    expect(await page.locator(".thing .name").allTextContents()).toEqual([
      "Milan Novak",
      "ledger service",
      "Linz",
    ]);
    expect(await page.locator(".thing .many b").allTextContents()).toEqual(["3", "2", "1"]);
    await page.keyboard.press("f");
    await page.keyboard.type("LEDGER");
    await page.keyboard.press("Enter");
    await gone(page, "Milan Novak");
    // Nothing is in its place while the answer is on its way, and no row to go to.
    await settled();
    expect(new URL(page.url()).search).toBe("");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "ledger service" }).waitFor();
  });

  test("show what is known now, what is contested and what was before, and open each memory", async () => {
    const { page, go } = await look(served.url);
    await go(`things/${served.nodes.milan.id}`);
    const sections = async (): Promise<readonly string[]> =>
      await page.evaluate<string[]>(
        `[...document.querySelectorAll("article .sect")].flatMap((one) => [one.querySelector("h2").firstChild.textContent, ...[...one.querySelectorAll(".fact .text")].map((text) => text.textContent)])`,
      );
    expect((await sections()).slice(0, 5)).toEqual([
      "What is contested",
      "Milan Novak lives in Graz.",
      "Milan Novak lives in Linz.",
      "What is known now",
      "Milan Novak looks after the ledger service.",
    ]);
    await go(`things/${served.nodes.ledger.id}`);
    expect((await sections()).slice(0, 5)).toEqual([
      "What is known now",
      "Milan Novak looks after the ledger service.",
      "The ledger service deploys on Thursday.",
      "What was before",
      "The ledger service deploys on Tuesday.",
    ]);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/inspect\/memory\//);
  });

  test("count what is claimed about them, with what was looked at", async () => {
    const { page, go } = await look(served.url);
    await go(`things/${served.nodes.ledger.id}`);
    await page.getByText("deploys on", { exact: true }).click();
    await seen(page, "one claim holds now");
    const claimed = page.locator(".claimed");
    expect(await claimed.locator("p").first().textContent()).toBe(
      "one claim holds now Thursday 1 claim",
    );
    expect(await claimed.getByText("of 8 memories looked at claim this.").textContent()).toBe(
      "2 of 8 memories looked at claim this.",
    );
  });

  test("draw their neighbourhood once, as a list and as a picture of a part of the program of its own", async () => {
    const { page, go } = await look(served.url);
    const scripts: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith(".js")) scripts.push(new URL(request.url()).pathname);
    });
    await go("things");
    expect(scripts.filter((name) => name.includes("graph"))).toEqual([]);
    await go(`things/${served.nodes.milan.id}`);
    await page.locator(".graph svg rect").first().waitFor({ state: "attached" });
    expect(scripts.filter((name) => name.includes("graph"))).toHaveLength(1);
    expect((await page.locator(".around li").allTextContents()).toSorted()).toEqual([
      "has factMilan Novak lives in Graz.",
      "has factMilan Novak lives in Linz.",
      "has factMilan Novak looks after the ledger service.",
      "two steps awayLinz",
      "two steps awayledger service",
    ]);
    const places = `[...document.querySelectorAll(".graph a > *")].map((one) => one.outerHTML)`;
    const before = await page.evaluate<string[]>(places);
    expect(before).toHaveLength(6);
    await page.locator(".graph a").last().click();
    await page.waitForURL(/\/inspect\/(things|memory)\//);
  });

  test("of more than one page are gone through by links that a reload keeps", async () => {
    const { url } = await serveMany();
    const { page, go, settled } = await look(url);
    await go("things");
    const first = await page.locator(".thing .name").allTextContents();
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("link", { name: "First page" }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: "First page" }).waitFor();
    await settled();
    const second = await page.locator(".thing .name").allTextContents();
    expect([first.length, second.length]).toEqual([50, 10]);
    expect(new Set([...first, ...second]).size).toBe(60);
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`claims${leftOut(NO_BROWSER)}`, () => {
  test("are counted in groups, with what each number covers and the memories behind it", async () => {
    const { page, go } = await look(served.url);
    await go("claims?by=subject");
    await page.getByRole("heading", { level: 2, name: "7 claims in 3 groups" }).waitFor();
    expect(await page.locator(".claims tbody td").allTextContents()).toEqual([
      ...["I", "3 of 7", "3", "", "Show 3 memories"],
      ...["ledger service", "1 of 7", "1", "", "Show 1 memory"],
      ...["Milan Novak", "3 of 7", "3", "", "Show 3 memories"],
    ]);
    await page.getByLabel("subject", { exact: true }).first().fill("milan NOVAK");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 2, name: "3 claims in 1 group" }).waitFor();
    expect(await page.locator(".exclusions dl > div").allTextContents()).toEqual(["other claims4"]);
    expect(new URL(page.url()).search).toBe("?by=subject");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await seen(page, "all 3", { exact: true });
    await page.getByRole("link", { name: "Milan Novak lives in Graz." }).click();
    await page.getByRole("heading", { level: 1, name: "Milan Novak lives in Graz." }).waitFor();
  });

  test("are summed exactly, by fields and by a question, and say which amounts are none", async () => {
    const { page, go } = await look(served.url);
    await go("claims");
    await page.getByText("How much", { exact: true }).click();
    await page.getByRole("heading", { level: 2, name: "2 amounts in 1 group" }).waitFor();
    expect((await page.locator(".claims tbody td").allTextContents()).slice(0, 8)).toEqual([
      ...["I", "spent", "EUR", "34.50", "4.50", "30", "2 of 2", "2"],
    ]);
    expect(await page.locator(".exclusions dl > div").allTextContents()).toEqual([
      "without an amount4",
      "amount not as their text has it1",
    ]);
    await page.getByLabel("Question").fill("How much did I spend?");
    await page.keyboard.press("Enter");
    await seen(page, "understood as");
    await page.getByRole("cell", { name: "34.50" }).waitFor();
    await page.getByLabel("Question").fill("How much did I spend last week?");
    await page.keyboard.press("Enter");
    await seen(page, "This question is not understood");
    expect(page.url()).not.toContain("spend");
  });

  test("about a thing are a step away from it", async () => {
    const { page, go } = await look(served.url);
    await go(`things/${served.nodes.ledger.id}`);
    await page.getByRole("button", { name: "Claims about it" }).click();
    await page.getByRole("heading", { level: 2, name: "1 claim in 1 group" }).waitFor();
    expect(page.url()).toEndWith("/inspect/claims");
  });

  test("that are none say what a memory needs to be one", async () => {
    const { url } = await serveMany();
    const { page, go } = await look(url);
    await go("claims");
    await seen(page, "No claim fits");
    await seen(page, "with this in its metadata");
  });
});
