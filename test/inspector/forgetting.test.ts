/** What goes and what is gone, and erasing a memory for good, in a real browser. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Uuid } from "../../src/lib/uuid.ts";
import { aNode, anEvent, at } from "../contract/samples.ts";
import { leftOut } from "../left-out.ts";
import { until } from "../until.ts";
import { type GoingName, type GoingPlace, goingText, serveGoing } from "./going-story.ts";
import { type ServeOptions, useBrowser } from "./place.ts";
import { type Looked, look, NO_BROWSER, seen } from "./window.ts";

useBrowser();

const listOf = ({ page }: Looked, title: string) => page.locator("section", { hasText: title });
const rowsOf = async (looked: Looked, title: string): Promise<readonly string[]> =>
  await listOf(looked, title).locator(".going a").allTextContents();
const isThere = async ({ engine, ids }: GoingPlace, name: GoingName): Promise<boolean> =>
  (await engine.getNode(ids[name], { includeSuperseded: true })) !== undefined;

/** A memory that rests on the messages of two others. */
async function alsoOn({ engine, store, ids }: GoingPlace, ...names: GoingName[]): Promise<Uuid> {
  const nodes = await Promise.all(
    names.map((name) => engine.getNode(ids[name], { includeSuperseded: true })),
  );
  const refs = nodes.flatMap((one) => one?.evidenceRefs ?? []);
  const event = await engine.getEvent(refs[0] ?? "", "anna");
  const node = aNode(event ?? anEvent(), {
    ...{ nodeType: "fact", content: "The bicycle is locked.", evidenceRefs: refs },
  });
  await store.addNodes([{ node, vector: new Float32Array(384).fill(0.05), at: at(2) }]);
  return node.id;
}

async function begin(
  options: Omit<ServeOptions, "fill"> = {},
  key?: string,
): Promise<{ readonly place: GoingPlace; readonly looked: Looked }> {
  const place = await serveGoing(options);
  return { place, looked: await look(place.url, key === undefined ? {} : { key }) };
}

describe.skipIf(NO_BROWSER !== undefined)(`forgetting${leftOut(NO_BROWSER)}`, () => {
  test("shows what ends within 30 days, what is archived, and what is gone, without its text", async () => {
    const { place, looked } = await begin();
    const { page, go } = looked;
    await go("timeline");
    for (const key of ["g", "f"]) await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: "Forgetting" }).waitFor();
    await seen(page, "1 memory, 1 message");
    expect(await rowsOf(looked, "Ending within 30 days")).toEqual([
      goingText("fair"),
      goingText("guest"),
    ]);
    expect(await page.locator("section:first-of-type .going time").allTextContents()).toEqual([
      "25 Nov 2026",
      "1 Dec 2026",
    ]);
    expect(await rowsOf(looked, "no longer found")).toEqual([goingText("lock"), goingText("bike")]);
    await page.getByRole("link", { name: "1 memory, 1 message" }).click();
    await page.getByRole("heading", { level: 1, name: "Forgotten for good" }).waitFor();
    const [known] = await place.engine.listForgettings("anna");
    await seen(page, known?.receiptSha256 ?? "no hash");
    await seen(page, "claude-code");
    await seen(page, "It was given once");
    expect(await page.getByText("Doctor Weiss").count()).toBe(0);
  });

  test("shows what fades by the settings, and keeps one of them", async () => {
    const { looked } = await begin({ fadeAfterDays: { fact: 15 } });
    const { go, axe } = looked;
    await go("forgetting");
    const keep = listOf(looked, "Faded").getByRole("button", { name: /^Keep/ });
    await keep.waitFor();
    expect(await rowsOf(looked, "Faded")).toEqual([goingText("guest")]);
    expect(await axe()).toEqual([]);
    await keep.click();
    await keep.waitFor({ state: "detached" });
  });

  test("keeps a memory by a key, and it ends no more", async () => {
    const { place, looked } = await begin();
    const { page, go } = looked;
    await go("forgetting");
    for (const key of ["j", "p"]) await page.keyboard.press(key);
    await seen(page, "Pinned: a candidate for every question, and kept.");
    await page.getByRole("link", { name: goingText("fair") }).waitFor({ state: "detached" });
    expect(await rowsOf(looked, "Ending within 30 days")).toEqual([goingText("guest")]);
    expect((await place.engine.getNode(place.ids.fair))?.pinned).toBe(true);
  });

  test("erases by keys what the preview shows, and its receipt is a file that holds", async () => {
    const { place, looked } = await begin();
    const { page, go, axe } = looked;
    await go(`memory/${place.ids.bank}`);
    await page.keyboard.press("f");
    await seen(page, "What goes: 1 memory, 1 message");
    expect(await page.locator("dialog .preview li").allTextContents()).toEqual([
      `${goingText("bank")}fact: rests on nothing but what goes`,
      `${goingText("bank")}The user said it`,
      `${goingText("before")}was replaced by one that goes; it stays retired`,
    ]);
    expect(await axe()).toEqual([]);
    const erase = page.getByRole("button", { name: "Erase it" });
    const field = page.getByRole("textbox", { name: /nobody can undo/ });
    await field.focus();
    await page.keyboard.type("forge");
    expect(await erase.isDisabled()).toBe(true);
    await page.keyboard.press("Enter");
    expect(await isThere(place, "bank")).toBe(true);
    await page.keyboard.type("t");
    await until(async () => await erase.isEnabled());
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Forgotten for good" }).waitFor();
    const [known] = await place.engine.listForgettings("anna");
    expect(page.url()).toEndWith(`/inspect/forgetting/${known?.forgetId}`);
    expect(known?.memories).toEqual([place.ids.bank]);
    expect(await isThere(place, "bank")).toBe(false);
    expect(await isThere(place, "before")).toBe(true);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save it as a file" }).press("Enter"),
    ]);
    expect(download.suggestedFilename()).toBe(`forget-${known?.forgetId}.json`);
    const receipt: unknown = JSON.parse(readFileSync(await download.path(), "utf8"));
    const verified = await place.engine.verifyForgetting(receipt, goingText("bank"));
    expect(verified.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(await axe()).toEqual([]);
    await page.goBack();
    await seen(page, "There is no such memory");
    expect(await page.getByText("Finch and Sons").count()).toBe(0);
  });

  test("erases nothing when something has changed since the preview, and shows what would go now", async () => {
    const { place, looked } = await begin();
    const { page, go } = looked;
    await go("forgetting");
    await page.getByRole("link", { name: goingText("lock") }).focus();
    await page.keyboard.press("f");
    await seen(page, "What goes: 1 memory, 1 message");
    await page.getByRole("textbox").fill("forget");
    const both = await alsoOn(place, "lock", "bike");
    await page.getByRole("button", { name: "Erase it" }).click();
    await seen(page, "Nothing was erased.");
    await seen(page, "What goes: 2 memories, 1 message");
    await seen(page, "rests on other messages, too, and may repeat what goes");
    expect(await page.getByRole("textbox").inputValue()).toBe("");
    expect(await isThere(place, "lock")).toBe(true);
    await page.getByLabel("Keep memories that rest on other messages, too").check();
    await seen(page, "What goes: 1 memory, 1 message");
    await page.getByRole("textbox").fill("FORGET");
    await page.getByRole("button", { name: "Erase it" }).click();
    await page.getByRole("heading", { level: 1, name: "Forgotten for good" }).waitFor();
    expect(await isThere(place, "lock")).toBe(false);
    expect((await place.engine.getNode(both))?.content).toBe("The bicycle is locked.");
  });

  test("is an owner's own: another owner's memories and forgettings are not found", async () => {
    const auth = { userKeys: { anna: "anna-key", ben: "ben-key" } };
    const { place, looked } = await begin({ auth }, "ben-key");
    const { page, go } = looked;
    const [known] = await place.engine.listForgettings("anna");
    await go("forgetting?owner=anna");
    await seen(page, "Nothing was forgotten.");
    expect(await page.locator(".going li").count()).toBe(0);
    for (const path of [`forgetting/${known?.forgetId}`, `memory/${place.ids.bank}?do=forget`]) {
      await go(path);
      await seen(page, "There is no such memory");
      expect(await page.locator("dialog[open]").count()).toBe(0);
    }
  });
});
