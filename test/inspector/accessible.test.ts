/** Nobody is left out: every view and state in every look, for axe-core, and its tasks by the keyboard alone. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { tree, zipOf } from "../engine/import/samples.ts";
import { leftOut } from "../left-out.ts";
import {
  addressOf,
  GALLERY,
  type Gallery,
  openGallery,
  steady,
  VIEW_NAMES,
  type ViewName,
} from "./gallery.ts";
import { endAll } from "./place.ts";
import { type Looked, look, NO_BROWSER, seen } from "./window.ts";

setDefaultTimeout(60_000);

let gallery: Gallery;
const windows = new Map<string, Looked>();
beforeAll(async () => {
  if (NO_BROWSER === undefined) gallery = await openGallery();
});
afterAll(endAll);

/** A view in the window of its server. */
async function open(name: ViewName): Promise<Looked> {
  const { url, path } = addressOf(gallery, name);
  const looked = windows.get(url) ?? (await look(url));
  if (!windows.has(url)) await steady(looked.page);
  windows.set(url, looked);
  await looked.page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
  await looked.page.setViewportSize(SIZES.usual);
  await looked.go(path);
  await looked.page.evaluate(UNFOLD);
  await looked.settled();
  return looked;
}

/** What is hidden until it is unfolded. */
const UNFOLD = `for (const one of document.querySelectorAll("main details")) one.open = true;
  for (const one of document.querySelectorAll("main td button")) one.click();`;
const SIZES = {
  usual: { width: 1440, height: 900 },
  /** A telephone. */
  narrow: { width: 320, height: 640 },
  wide: { width: 1920, height: 1080 },
  /** What is left of 1280 by 800 where everything is twice as large. */
  doubled: { width: 640, height: 400 },
} as const;
const FITS = "document.documentElement.scrollWidth <= innerWidth";

/**
 * What axe finds in every look. Sizes change no colour and colours no size, so that each is tried once. A state of a view, which shares
 * its styles, is tried in the light, in the dark and on a telephone.
 */
async function everyLook(
  { page, axe }: Looked,
  of: "view" | "state" = "view",
): Promise<readonly string[]> {
  const found: string[] = [];
  const note = async (look: string, rules: Parameters<Looked["axe"]>[0]): Promise<void> => {
    found.push(...(await axe(rules)).map((text) => `${look}: ${text}`));
    if (!(await page.evaluate<boolean>(FITS))) found.push(`${look}: it scrolls sideways`);
  };
  await note("light", "all");
  await page.emulateMedia({ colorScheme: "dark" });
  await note("dark", "colours");
  if (of === "view") {
    await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
    await note("forced colours", "colours");
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
  // What is there is the same in every size but on a telephone; where it lies is not.
  for (const size of of === "view"
    ? (["narrow", "wide", "doubled"] as const)
    : (["narrow"] as const)) {
    await page.setViewportSize(SIZES[size]);
    await note(size, size === "narrow" ? "sizes" : "places");
  }
  await page.setViewportSize(SIZES.usual);
  return found;
}

/** Presses keys until a text, or a dialog, is there. */
const press =
  (keys: readonly string[], text?: string) =>
  async ({ page }: Looked): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
    await (text === undefined ? page.locator("dialog[open]").waitFor() : seen(page, text));
  };

const STATES: readonly (readonly [string, ViewName, (looked: Looked) => Promise<void>])[] = [
  ["the list of keys", "timeline", press(["?"])],
  ["the way to anything", "timeline", press(["Control+k"])],
  ["what is selected and would be archived", "timeline", press(["j", " ", "j", " ", "x"])],
  ["what the organizer would change", "health", press(["o"], "It would make")],
  ["what a forgetting erases", "forgetting", press(["j", "f"], "What goes:")],
  ["a memory that does not exist", "memory", ({ go }) => go(`memory/${NO_ID}`)],
  ["JSON", "memory", ({ page }) => page.getByRole("button", { name: "JSON" }).first().click()],
  [
    "what is undone",
    "memory",
    async (looked) => {
      // It is archived in the end; nothing else needs it.
      await looked.go(`memory/${gallery.story.ids.notes}`);
      await press(["x"], "Archived “")(looked);
    },
  ],
  [
    "a list that a filter empties",
    "timeline",
    async (looked) => {
      await looked.page.getByLabel("Containing").fill("no such text");
      await press(["Enter"], "No memory fits these filters")(looked);
    },
  ],
  [
    "a list that could not be read",
    "activity",
    async ({ page }) => {
      const json = { code: "internal", detail: "the disk is tired" };
      await page.route("**/v1/retrievals*", (route) => route.fulfill({ status: 500, json }));
      await page.reload();
      await seen(page, "the disk is tired");
      await page.unroute("**/v1/retrievals*");
    },
  ],
  [
    "what a file would bring in",
    "timeline",
    async ({ page }) => {
      await page.keyboard.press("i");
      const secret = `token ghp_${"a1B2c3D4e5".repeat(4)}`;
      const nodes = [{ id: "u", role: "user", text: `I moved to Lisbon. ${secret}` }];
      const chats = JSON.stringify([tree("c", nodes)]);
      const path = zipOf({ "a.json": chats, "b.json": `[{"mapping": {}}, {"mapp` });
      await page.locator("input[type=file]").setInputFiles(path);
      await seen(page, "Cannot be read");
    },
  ],
  [
    "sums of amounts",
    "claims",
    async ({ go, page }) => {
      await go("claims?kind=sum");
      await page.evaluate(UNFOLD);
    },
  ],
  [
    "what is known of a forgetting",
    "forgetting",
    async ({ page }) => {
      await page.getByRole("link", { name: "1 memory, 1 message" }).click();
      await page.getByRole("heading", { level: 1, name: "Forgotten for good" }).waitFor();
    },
  ],
];
const NO_ID = "019a7c1e-ffff-7000-8000-00000000ffff";

describe.skipIf(NO_BROWSER !== undefined)(`nobody is left out${leftOut(NO_BROWSER)}`, () => {
  test.each(VIEW_NAMES)("of the view %s: light, dark, forced colours, every size", async (name) => {
    const looked = await open(name);
    expect(await everyLook(looked)).toEqual([]);
    expect(looked.faults).toEqual([]);
  });

  test.each(STATES)("of %s", async (_, name, begin) => {
    const looked = await open(name);
    await begin(looked);
    expect(await everyLook(looked, "state")).toEqual([]);
    await looked.page.keyboard.press("Escape");
    await looked.page.keyboard.press("z");
  });

  test("of any view of the page: each is in the gallery", async () => {
    const { page } = await open("timeline");
    const links = await page.locator(".nav a").all();
    const paths = await Promise.all(links.map((link) => link.getAttribute("href")));
    const known = VIEW_NAMES.map((name) => GALLERY[name].path(gallery).split("/")[0]);
    const views = paths.map((path) => new URL(path ?? "", "http://x").pathname.split("/")[2]);
    expect(views.filter((view) => !known.includes(view ?? ""))).toEqual([]);
  });

  test("of finding, understanding and correcting: all of it goes by keyboard alone", async () => {
    const { page, go } = await open("timeline");
    const focused = `document.activeElement === document.body ? "" : document.activeElement.innerText`;
    const tabTo = async (text: string): Promise<void> => {
      for (let presses = 0; presses < 80; presses += 1) {
        if ((await page.evaluate<string>(focused)).includes(text)) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`the focus does not come to ${text}`);
    };
    // What was learned yesterday?
    await seen(page, "Yesterday");
    for (const key of ["j", "j"]) await page.keyboard.press(key);
    await page.locator(":focus", { hasText: "The new export writes 1.2 million" }).waitFor();
    // Why did an answer hold one memory and not another?
    for (const key of ["g", "s"]) await page.keyboard.press(key);
    await page.getByRole("link", { name: "When does the ledger service deploy?" }).waitFor();
    await tabTo("When does the ledger service deploy?");
    await page.keyboard.press("Enter");
    await seen(page, "8 memories reached the assistant.");
    await tabTo("and others are better");
    await page.keyboard.press("Enter");
    await seen(page, "Perhaps the ledger will move to Postgres 18");
    // Who says so?
    await go(`search/${gallery.story.requestId}`);
    await seen(page, "8 memories reached the assistant.");
    await tabTo("The feature flag ledger.new_export");
    await page.keyboard.press("Enter");
    await seen(page, "The user said it");
    // That is wrong.
    await page.keyboard.press("e");
    await page.getByRole("textbox", { name: "What is true" }).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("The feature flag ledger.new_export is on everywhere.");
    await tabTo("Replace it");
    await page.keyboard.press("Enter");
    await seen(page, "Corrected. The old text stays in the history.");
    // It is said before the new memory is on the screen, and a key means what is there.
    await page.getByRole("heading", { level: 1, name: "is on everywhere." }).waitFor();
    await page.locator("dialog[open]").waitFor({ state: "detached" });
    await page.keyboard.press("p");
    await seen(page, "Pinned:");
    // And which of two is true?
    for (const key of ["g", "c"]) await page.keyboard.press(key);
    await seen(page, "Keep this one");
    await page.keyboard.press("2");
    await seen(page, "Settled.");
  });
});
