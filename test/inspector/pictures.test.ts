/**
 * Every view looks as it did, in light and dark. `PICTURES=write bun test test/inspector/pictures.test.ts` makes the pictures
 * again; the documentation shows them. Another Chromium draws letters in another way, so that only its layout is compared.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { whyNoFonts } from "../../scripts/check/test-programs.ts";
import { type Lacking, leftOut } from "../left-out.ts";
import {
  addressOf,
  type Gallery,
  openGallery,
  STEADY_TIMES,
  steady,
  VIEW_NAMES,
} from "./gallery.ts";
import { endAll, ROOT } from "./place.ts";
import { smallPng } from "./small-png.ts";
import { browserVersion, type Looked, look, NO_BROWSER } from "./window.ts";

setDefaultTimeout(60_000);

const FOLDER = join(ROOT, "docs/pictures");
const MADE_WITH = join(FOLDER, "made-with.json");
const isWriting = process.env["PICTURES"] === "write";
/** A share of the pixels that may differ. */
const LIMIT = 0.001;
/** Pixels by which a part may lie elsewhere in another Chromium. */
const PLAY = 3;

/** What a part is, then its left and upper edge, width and height. */
type Part = readonly [string, ...number[]];
type Known = {
  readonly chromium: string;
  readonly layout: Readonly<Record<string, readonly Part[]>>;
};
const known: Known = existsSync(MADE_WITH)
  ? JSON.parse(readFileSync(MADE_WITH, "utf8"))
  : { chromium: "", layout: {} };

const LACKING: Lacking = NO_BROWSER ?? whyNoFonts();
const version = LACKING === undefined ? await browserVersion() : "";
const isSame = isWriting || version === known.chromium;
const OTHER: Lacking =
  LACKING ??
  (isSame ? undefined : `the pictures are of Chromium ${known.chromium}, this is ${version}`);

let gallery: Gallery;
const looked = new Map<string, Looked>();
const seen: Record<string, readonly Part[]> = {};
let compared = 0;
beforeAll(async () => {
  if (LACKING === undefined) gallery = await openGallery();
});
afterAll(async () => {
  await endAll();
  if (!isWriting) return;
  const views = Object.entries(seen).map(([name, parts]) => {
    return `    ${JSON.stringify(name)}: [\n${parts.map((part) => `      ${JSON.stringify(part)}`).join(",\n")}\n    ]`;
  });
  const json = `{\n  "chromium": ${JSON.stringify(version)},\n  "layout": {\n${views.join(",\n")}\n  }\n}\n`;
  writeFileSync(MADE_WITH, json);
});

const LAYOUT = `[...document.querySelectorAll("header, main, aside, h1, h2, main .btn")].slice(0, 40).map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return [one.localName, ...[x, y, width, height].map(Math.round)];
})`;

/** One window for each server. */
async function windowOf(url: string): Promise<Looked> {
  const open = looked.get(url) ?? (await look(url));
  if (!looked.has(url)) await steady(open.page);
  looked.set(url, open);
  return open;
}

describe.skipIf(LACKING !== undefined)(`the view${leftOut(LACKING)}`, () => {
  test.each(VIEW_NAMES)("%s lies as it did, and looks so in light and dark", async (name) => {
    const { url, path } = addressOf(gallery, name);
    const { page, go } = await windowOf(url);
    await page.emulateMedia({ colorScheme: "light" });
    await go(path);
    if (name === "memory") await page.waitForSelector(".versus");
    if (name === "thing") await page.waitForSelector(".graph svg rect", { state: "attached" });
    await page.evaluate(STEADY_TIMES);
    seen[name] = await page.evaluate<readonly Part[]>(LAYOUT);
    if (!isWriting) compareLayout(name, seen[name]);
    if (!isSame) return;
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      const picture = PNG.sync.read(await page.screenshot());
      const file = join(FOLDER, `${name}-${scheme}.png`);
      if (isWriting) {
        mkdirSync(FOLDER, { recursive: true });
        writeFileSync(file, smallPng(picture));
      }
      expect([name, scheme, differenceTo(file, picture)]).toEqual([name, scheme, true]);
      compared += 1;
    }
  });

  test.skipIf(OTHER !== undefined)(`is compared as a picture${leftOut(OTHER)}`, () => {
    expect(compared).toBe(2 * VIEW_NAMES.length);
  });
});

function compareLayout(name: string, now: readonly Part[]): void {
  const before = known.layout[name] ?? [];
  expect(now.map(([kind]) => kind)).toEqual(before.map(([kind]) => kind));
  const moved = now.filter(([, ...box], index) =>
    box.some((value, side) => Math.abs(value - Number(before[index]?.[side + 1])) > PLAY),
  );
  expect(moved).toEqual([]);
}

/** @returns whether it is as good as the same, else the share that differs */
function differenceTo(file: string, now: PNG): true | number {
  const { width, height, data } = PNG.sync.read(readFileSync(file));
  if (now.width !== width || now.height !== height) return 1;
  const count = pixelmatch(now.data, data, undefined, width, height, { threshold: 0.1 });
  return count <= LIMIT * width * height || count / (width * height);
}
