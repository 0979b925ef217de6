/** Changes of two memories, and changes that meet those of an assistant, in a real browser. */
import { describe, expect, test } from "bun:test";
import type { Uuid } from "../../src/lib/uuid.ts";
import { leftOut } from "../left-out.ts";
import { until } from "../until.ts";
import { type Served, serve, useBrowser } from "./place.ts";
import { type Looked, look, loseAnswer, middleOf, NO_BROWSER, seen, write } from "./window.ts";

useBrowser();

const NAMES = ["linz", "graz", "wien", "tea"] as const;
const TEXTS: Readonly<Record<(typeof NAMES)[number], string>> = {
  linz: "Milan Novak lives in Linz.",
  graz: "Milan Novak lives in Graz.",
  wien: "Milan Novak lives in Vienna.",
  tea: "Anna drinks tea.",
};
/** What is written in their place. */
const WELS = "Milan Novak lives in Wels.";
type Place = Served & { readonly ids: Readonly<Record<(typeof NAMES)[number], Uuid>> };

async function begin(contested = false): Promise<Place> {
  const ids: Partial<Record<(typeof NAMES)[number], Uuid>> = {};
  const served = await serve({
    fill: async (engine, at) => {
      at("2026-11-20T08:00:00Z");
      for (const name of NAMES) {
        const { nodeId } = await engine.storeWithReceipt({ userId: "anna", content: TEXTS[name] });
        ids[name] = nodeId;
      }
    },
  });
  // SAFETY: every name has been stored.
  const all = ids as Place["ids"];
  if (contested) await served.engine.contradict(all.linz, all.graz, { actorId: "codex" });
  return { ...served, ids: all };
}

const statesOf = async ({ engine, ids }: Place): Promise<readonly (string | undefined)[]> =>
  await Promise.all(
    (["linz", "graz"] as const).map(
      async (name) =>
        (await engine.getNode(ids[name], { includeSuperseded: true }))?.lifecycleState,
    ),
  );

/** The names of the calls that change something, in the order in which they were sent. */
function callNames({ page }: Looked): readonly (readonly [string, string | undefined])[] {
  const names: (readonly [string, string | undefined])[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    const changes = /^\/v1\/(store|supersedences|contradictions.*|nodes\/.*\/archive)$/;
    if (request.method() === "GET" || !changes.test(pathname)) return;
    names.push([pathname, request.headers()["idempotency-key"]]);
  });
  return names;
}

describe.skipIf(NO_BROWSER !== undefined)(`a sentence of one's own${leftOut(NO_BROWSER)}`, () => {
  test("is remembered from any view by a key, on a phone by a button beside a folded menu", async () => {
    const { engine, url } = await begin();
    const { page, go, axe, settled } = await look(url, { width: 390, height: 800 });
    await go("health");
    const menu = page.getByRole("navigation", { name: "Views" });
    expect(await menu.isVisible()).toBe(false);
    const button = await middleOf(page.getByRole("button", { name: "Remember…" }));
    expect(await middleOf(page.getByText("☰ Health"))).toBe(button);
    await page.keyboard.press("n");
    await page.getByRole("textbox").fill("The spare key hangs behind the fuse box.");
    expect(await axe()).toEqual([]);
    await page.getByRole("button", { name: "Remember", exact: true }).press("Enter");
    await seen(page, "Remembered.");
    await page.getByText("☰ Health").click();
    await menu.getByRole("link", { name: "Timeline" }).click();
    await settled();
    expect(await menu.isVisible()).toBe(false);
    await seen(page, "The spare key hangs behind the fuse box.");
    const [newest] = (await engine.browse({ userId: "anna", limit: 1 })).nodes;
    expect([newest?.content, newest?.sourceType]).toEqual([
      "The spare key hangs behind the fuse box.",
      "user_stated",
    ]);
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`two memories${leftOut(NO_BROWSER)}`, () => {
  test("are made one by keys: the other is searched for, and what happens is said before", async () => {
    const place = await begin();
    const looked = await look(place.url);
    const { page, go, axe } = looked;
    await go(`memory/${place.ids.linz}`);
    await page.keyboard.press("u");
    await page.getByRole("radio").first().waitFor();
    expect(await page.getByRole("radio", { name: TEXTS.linz }).count()).toBe(0);
    await page.getByLabel("Search for the other memory").fill("lives in Graz");
    await page.keyboard.press("Enter");
    // What is found takes the place of what was there, with its focus.
    await looked.settled();
    const other = page.getByRole("radio", { name: TEXTS.graz });
    await other.focus();
    await page.keyboard.press("Space");
    await looked.settled();
    expect(await page.locator(".happens").textContent()).toBe(
      `${TEXTS.linz} will no longer be found; it stays in the history, replaced by ${TEXTS.graz}`,
    );
    expect(await axe()).toEqual([]);
    await page.getByRole("button", { name: "Replace it" }).press("Enter");
    await page.getByRole("heading", { level: 1, name: TEXTS.graz }).waitFor();
    expect(await statesOf(place)).toEqual(["superseded", "tentative"]);
  });

  test("are noted to contradict each other", async () => {
    const place = await begin();
    const { page, go } = await look(place.url);
    await go(`memory/${place.ids.linz}`);
    await page.keyboard.press("!");
    await page.getByRole("radio", { name: TEXTS.graz }).check();
    await page.getByRole("button", { name: "Mark both as contested" }).click();
    await seen(page, "Two memories cannot both be true");
    expect(await statesOf(place)).toEqual(["contested", "contested"]);
  });

  test("that an assistant changed meanwhile are not changed, and what was chosen stays", async () => {
    const place = await begin();
    const { page, go } = await look(place.url);
    await go(`memory/${place.ids.linz}`);
    await page.keyboard.press("u");
    const other = page.getByRole("radio", { name: TEXTS.graz });
    await other.check();
    await place.engine.supersede(place.ids.linz, place.ids.wien, { actorId: "codex" });
    await page.getByRole("button", { name: "Replace it" }).click();
    await seen(page, "Not changed.");
    expect(await page.getByText("Nothing was written.").isVisible()).toBe(true);
    expect(await other.isChecked()).toBe(true);
  });

  test("of which neither is right give way to a text that is written", async () => {
    const place = await begin(true);
    const looked = await look(place.url);
    const { page, axe } = looked;
    const names = callNames(looked);
    await write(looked, ["conflicts", "3", WELS]);
    expect(await axe()).toEqual([]);
    await page.getByRole("button", { name: "Write it" }).click();
    await seen(page, "Nothing to decide");
    expect(await statesOf(place)).toEqual(["superseded", "deprecated"]);
    const found = await place.engine.browse({ userId: "anna", limit: 1 });
    expect(found.nodes[0]?.content).toBe(WELS);
    expect(names.map(([path]) => path)).toEqual([
      "/v1/store",
      "/v1/contradictions/resolve",
      "/v1/supersedences",
    ]);
    expect(names.every(([, name]) => /^[0-9a-f]{32}$/.test(name ?? ""))).toBe(true);
  });

  test("that an assistant settled meanwhile are shown as they are, before a text replaces what is held", async () => {
    const place = await begin(true);
    const looked = await look(place.url);
    const { page } = looked;
    const field = await write(looked, ["conflicts", "3", WELS]);
    await place.engine.resolveContradiction(place.ids.graz, place.ids.linz, { actorId: "codex" });
    await page.getByRole("button", { name: "Write it" }).click();
    await seen(page, "they are deprecated, stable now");
    expect(await field.inputValue()).toBe(WELS);
    expect((await place.engine.browse({ userId: "anna" })).nodes).toHaveLength(3);
    await page.getByRole("button", { name: "Write it" }).click();
    await until(async () => (await statesOf(place))[1] === "superseded");
    expect(await statesOf(place)).toEqual(["deprecated", "superseded"]);
  });

  test("are written over once, however often the answer is lost", async () => {
    const place = await begin(true);
    const looked = await look(place.url);
    const { page } = looked;
    const names = callNames(looked);
    await write(looked, ["conflicts", "3", WELS]);
    await loseAnswer(page, "**/v1/store");
    await page.getByRole("button", { name: "Write it" }).click();
    await seen(page, "Not changed.");
    await page.getByRole("button", { name: "Write it" }).click();
    await until(async () => (await statesOf(place))[0] === "superseded");
    expect((await place.engine.browse({ userId: "anna", contains: "Wels" })).nodes).toHaveLength(1);
    const stores = names.filter(([path]) => path === "/v1/store").map(([, name]) => name);
    expect(stores).toHaveLength(2);
    expect(new Set(stores).size).toBe(1);
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`a correction${leftOut(NO_BROWSER)}`, () => {
  test("of a memory that was replaced meanwhile is offered for the one that replaced it", async () => {
    const place = await begin();
    const looked = await look(place.url);
    const { page } = looked;
    const field = await write(looked, [`memory/${place.ids.linz}`, "e", WELS]);
    await place.engine.supersede(place.ids.linz, place.ids.graz, { actorId: "codex" });
    await page.getByRole("button", { name: "Replace it" }).click();
    await seen(page, "This memory is replaced now.");
    await page.getByRole("button", { name: "Correct that one instead" }).click();
    expect(await field.inputValue()).toBe(WELS);
    await page.getByRole("button", { name: "Replace it" }).click();
    await page.getByRole("heading", { level: 1, name: WELS }).waitFor();
    expect(await statesOf(place)).toEqual(["superseded", "superseded"]);
  });

  test("whose answer is lost is made once", async () => {
    const place = await begin();
    const looked = await look(place.url);
    const { page } = looked;
    await write(looked, [`memory/${place.ids.linz}`, "e", WELS]);
    await loseAnswer(page, "**/v1/store");
    await page.getByRole("button", { name: "Replace it" }).click();
    await seen(page, "Not changed.");
    await page.getByRole("button", { name: "Replace it" }).click();
    await page.getByRole("heading", { level: 1, name: WELS }).waitFor();
    expect((await place.engine.browse({ userId: "anna", contains: "Wels" })).nodes).toHaveLength(1);
  });
});

/** A memory of so many notes. */
function notes(count: number): Promise<Served> {
  return serve({
    fill: async (engine) => {
      for (let index = 0; index < count; index += 1) {
        await engine.store({ userId: "anna", content: `note ${index}` });
      }
    },
  });
}

describe.skipIf(NO_BROWSER !== undefined)(`archiving${leftOut(NO_BROWSER)}`, () => {
  test("of many is finished when the page is left while it is sent", async () => {
    const COUNT = 40;
    const place = await notes(COUNT);
    const { page, go } = await look(place.url);
    await go("timeline");
    for (let index = 0; index < COUNT; index += 1) {
      await page.keyboard.press("j");
      await page.keyboard.press("Space");
    }
    await seen(page, `${COUNT} memories selected`);
    await page.keyboard.press("x");
    await page.locator("dialog[open]").waitFor();
    expect(await page.locator(".preview li").count()).toBe(COUNT);
    const isSent = page.waitForRequest("**/v1/nodes/*/archive");
    await page.locator("dialog").getByRole("button", { name: "Archive" }).click();
    await isSent;
    await page.goto("about:blank");
    const left = async (): Promise<number> =>
      (await place.engine.browse({ userId: "anna", limit: 100 })).nodes.length;
    await until(async () => (await left()) === 0);
  });

  test("of a range takes the rows between two, by Shift and keys or by Shift and a click", async () => {
    const { page, go } = await look((await notes(6)).url);
    await go("timeline");
    await page.keyboard.press("j");
    for (const key of ["Shift+J", "Shift+J", "Shift+K"]) await page.keyboard.press(key);
    await seen(page, "3 memories selected");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("Home");
    await page.locator("[data-row='0']:focus").waitFor();
    await page.getByText("note 1", { exact: true }).click({ modifiers: ["Shift"] });
    await seen(page, "5 memories selected");
    expect(new URL(page.url()).pathname).toBe("/inspect/timeline");
    await page.keyboard.press("x");
    await page.locator("dialog[open]").waitFor();
    const going = await page.locator(".preview li").allInnerTexts();
    expect(going).toEqual(["note 5", "note 4", "note 3", "note 2", "note 1"]);
  });
});
