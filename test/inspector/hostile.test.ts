/** What a memory says is text, whatever it says. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { endAll, look, NO_BROWSER, serve } from "./place.ts";

setDefaultTimeout(120_000);
afterAll(endAll);

const TAGS = [
  "script",
  "img src=x onerror",
  "svg onload",
  "iframe srcdoc",
  "object data",
  "embed src",
  "style",
  "link rel=stylesheet href",
  "base href",
  "meta http-equiv=refresh content",
  "form action",
  "math href",
  "video src onerror",
  "audio src onerror",
  "details open ontoggle",
  "input autofocus onfocus",
  "body onload",
  "template",
  "marquee onstart",
  "a href",
];
const CODES = [
  "alert(1)",
  "javascript:alert(1)",
  "//evil.example/x",
  "data:text/html,<script>alert(1)</script>",
  "</script><script>alert(1)</script>",
];
const SIGNS = [
  "\u202e",
  "\u2066",
  "\u200b",
  "\u2060",
  "\ufeff",
  "\u00ad",
  "\u{e0041}",
  "\u001b[31m",
  "\u0007",
  "\u0000",
  "\u2028",
  "\u061c",
];
const LINKS = [
  "https://evil.example/",
  "javascript:alert(1)",
  "[x](https://evil.example)",
  "![x](https://evil.example/p.png)",
  "{{7*7}}",
  "$\u007balert(1)}",
  "%3Cscript%3E",
  "&lt;script&gt;",
  "]]><script>",
  "--><script>alert(1)</script>",
];
const HOSTILE: readonly string[] = [
  ...TAGS.flatMap((tag) => CODES.map((code) => `<${tag}="${code}">${code}</${tag.split(" ")[0]}>`)),
  ...TAGS.flatMap((tag) => LINKS.slice(0, 3).map((link) => `"'><${tag}='${link}'>`)),
  ...SIGNS.map((sign) => `before${sign.repeat(2)}after ${sign.codePointAt(0)}`),
  ...LINKS.map((link) => `see ${link} now`),
  ...Array.from(
    { length: 18 },
    (_, index) => `${"\u0301".repeat(60)} Zalgo ${index} ${"A".repeat(500)}`,
  ),
];

describe.skipIf(NO_BROWSER !== undefined)(`hostile memories${leftOut(NO_BROWSER)}`, () => {
  test("of 200 kinds are shown as text, as are hostile owners and a memory of a megabyte", async () => {
    expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(200);
    const owner = `"><img src=x onerror=alert(1)>\u202e`;
    const served = await serve({
      fill: async (engine) => {
        for (const [index, content] of HOSTILE.entries()) {
          await engine.store({
            userId: owner,
            content,
            metadata: { [content.slice(0, 40)]: content, index },
          });
        }
        await engine.store({
          userId: owner,
          content: `<script>alert(1)</script>${"x".repeat(1_000_000)}`,
        });
      },
    });
    const { page, go, faults, context } = await look(served.url);
    await go("");
    const shown = new Set<string>();
    const total = HOSTILE.length + 1;
    for (let top = 0; shown.size < total && top < total * 60; top += 700) {
      await page.evaluate(`scrollTo(0, ${top})`);
      for (let tries = 0; tries < 100; tries += 1) {
        if (await page.evaluate(`document.querySelector("[aria-busy=true]") === null`)) break;
        await Bun.sleep(10);
      }
      await Bun.sleep(30);
      const places = await page.evaluate<string[]>(
        `[...document.querySelectorAll(".place")].filter((one) => one.querySelector("a.row bdi")).map((one) => one.getAttribute("aria-posinset"))`,
      );
      for (const place of places) shown.add(place);
      expect(await page.evaluate(`document.querySelectorAll(".row").length <= 60`)).toBe(true);
    }
    expect(shown.size).toBe(total);
    const made = `document.querySelectorAll("main script, main img, main iframe, main object, main embed, main style, main base, main form[action], main video, main audio, main marquee, main a[href^=javascript], main a[href*=evil]").length`;
    expect(await page.evaluate(made)).toBe(0);
    await page.evaluate("scrollTo(0, 0)");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByText("Show all").waitFor();
    expect(await page.evaluate(made)).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});
