/** Bringing in a file and taking it back, in a real browser. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { CHATGPT, fileOf, zipOf } from "../engine/import/samples.ts";
import { leftOut } from "../left-out.ts";
import { until } from "../until.ts";
import { serveStory, useBrowser } from "./place.ts";
import { gone, type Looked, look, NO_BROWSER, seen } from "./window.ts";

useBrowser();

const chats = (): string => zipOf({ "conversations.json": JSON.stringify(CHATGPT) }, "chats.zip");

async function begin() {
  const place = await serveStory();
  const looked = await look(place.url);
  await looked.go("timeline");
  const { events: before } = await place.engine.storeCounts("anna");
  const added = async () => (await place.engine.storeCounts("anna")).events - before;
  return { ...place, looked, added };
}

/** Drops a file on the page, as a person does with a pointer. */
async function drop({ page }: Looked, path: string): Promise<void> {
  const bytes = [...readFileSync(path)];
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(${JSON.stringify(bytes)})], "dropped"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }`);
}

describe.skipIf(NO_BROWSER !== undefined)(`a file${leftOut(NO_BROWSER)}`, () => {
  test("is shown, brought in and taken back by keys alone", async () => {
    const { looked, engine, added } = await begin();
    const { page } = looked;
    await page.keyboard.press("n");
    await page.getByRole("button", { name: "Or bring in a file" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Bring in a file" });
    await dialog.getByLabel(/drop it on this page/).setInputFiles(chats());
    await seen(dialog, "It would bring in 3 memories. Nothing is written yet.");
    await seen(dialog, "ChatGPT export");
    expect(await dialog.locator("dd").allTextContents()).toContain("2 new");
    await seen(dialog.getByRole("list", { name: "The first of it" }), "I moved to Lisbon.");
    expect(await added()).toBe(0);
    await dialog.getByRole("button", { name: "Import it" }).press("Enter");
    await seen(dialog, "Imported 3 memories.");
    expect(await added()).toBe(3);
    const found = await engine.queryNodes({ userId: "anna" });
    expect(found.map(({ content }) => content)).toContain("My cat is Momo.");
    await dialog.getByRole("button", { name: /^Undo/ }).press("Enter");
    await seen(page, "Taken back: 3 memories erased.");
    const left = await engine.queryNodes({ userId: "anna" });
    expect(left.map(({ content }) => content)).not.toContain("My cat is Momo.");
    await page.keyboard.press("i");
    await dialog.getByLabel(/drop it on this page/).setInputFiles(chats());
    await seen(dialog, "There is nothing new in it.");
    expect(await dialog.getByRole("button", { name: "Import it" }).isDisabled()).toBe(true);
  });

  test("that is dropped says what of it cannot be read, and one of no known kind what it is", async () => {
    const { looked, added } = await begin();
    const { page } = looked;
    const cut = JSON.stringify(CHATGPT).slice(0, -20);
    await drop(looked, zipOf({ "good.json": JSON.stringify(CHATGPT), "cut.json": cut }));
    const dialog = page.getByRole("dialog", { name: "Bring in a file" });
    await seen(dialog.getByRole("list", { name: "Cannot be read: 1" }), "cut.json");
    await drop(looked, fileOf(`{"what": "ever"}`));
    await seen(dialog.getByRole("alert"), "JSON of a program that is not known");
    expect(await dialog.getByRole("button", { name: "Import it" }).isDisabled()).toBe(true);
    await gone(dialog, "ChatGPT export");
    expect(await added()).toBe(0);
  });

  test("goes on coming in when its dialog is closed, and can be taken back then", async () => {
    const { looked, added } = await begin();
    const { page } = looked;
    await page.keyboard.press("i");
    await page.locator("input[type=file]").setInputFiles(chats());
    await seen(page, "It would bring in 3 memories.");
    const { promise: held, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/v1/import?**dry_run=false**", async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole("button", { name: "Import it" }).press("Enter");
    await page.getByRole("progressbar", { name: "Written" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog[open]").waitFor({ state: "detached" });
    answer();
    await seen(page, "Imported 3 memories.");
    await page.keyboard.press("z");
    await seen(page, "Taken back: 3 memories erased.");
    await until(async () => (await added()) === 0);
  });
});
