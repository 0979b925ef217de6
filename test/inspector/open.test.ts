/** The page as `svc open` and `svc serve` of the built program offer it, in a real browser. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { type Lacking, leftOut } from "../left-out.ts";
import { createDesk, type Desk } from "../surface/cli/run-svc.ts";
import { endAll } from "./place.ts";
import { type Story, tellStory } from "./story.ts";
import { gone, LOOK_AGAIN, look, NO_BROWSER, seen } from "./window.ts";

setDefaultTimeout(60_000);

/** From source the program has no page. */
const LACKING: Lacking =
  NO_BROWSER ?? (process.env["TEST_PROGRAM"] === undefined ? "it takes TEST_PROGRAM" : undefined);

let desk: Desk;
let story: Story;
beforeAll(async () => {
  if (LACKING !== undefined) return;
  desk = createDesk();
  for (const pack of ["memory.pack", "lost.pack"]) await desk.run(["init", pack, "--plain"]);
  const engine = await desk.engine("memory.pack");
  story = await tellStory(engine, () => {});
  await engine.close();
  await desk.store("lost.pack", "anna", "Anna prefers tea.");
});
afterAll(async () => {
  await endAll();
  desk?.remove();
});

/** Starts the program and waits until it has said where it serves. */
async function start(args: readonly string[], said: RegExp) {
  const child = desk.start(args, { DISPLAY: "", WAYLAND_DISPLAY: "" });
  let text = "";
  const found = Promise.withResolvers<string>();
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      text += decoder.decode(chunk, { stream: true });
      const [, match] = said.exec(text) ?? [];
      if (match !== undefined) found.resolve(match);
    }
    found.reject(new Error(`it ended:\n${text}`));
  })();
  const address = await found.promise;
  const end = async (signal: "SIGINT" | "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await child.exited;
  };
  return { address, origin: new URL(address).origin, end, said: () => text };
}

const LINK = /^ {2}(http:\S+#code=\S+)$/m;
const LISTENS = /(http:\/\/127\.0\.0\.1:\d+)/;

describe.skipIf(LACKING !== undefined)(`the page of svc open${leftOut(LACKING)}`, () => {
  test("has its key in one tab only, and is locked where its link is used twice", async () => {
    const opened = await start(["open", "memory.pack", "--no-browser"], LINK);
    const { page, close, faults } = await look(opened.origin, { isAlone: true });
    await page.goto(opened.address);
    await seen(page.locator("main"), /Nothing is remembered yet|Overview/);
    expect(page.url()).not.toContain("code");
    expect(await page.evaluate("document.cookie + localStorage.length")).toBe("0");
    await page.goto(`${opened.origin}/inspect/memory/${story.ids.tea}?owner=anna`);
    await page.getByRole("heading", { level: 1, name: "Anna prefers green tea" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Anna prefers green tea" }).waitFor();

    const second = await page.context().newPage();
    await second.goto(`${opened.origin}/inspect/`);
    await seen(second, "Open the link that `svc open` printed");
    expect(await second.getByLabel("Key").count()).toBe(0);
    await second.goto("about:blank");
    await second.goto(opened.address);
    await seen(second, "The link was not accepted:");
    await page.evaluate(LOOK_AGAIN);
    await seen(page, "Another window has used the link of svc open.");
    expect(opened.said()).toContain("second");
    expect(faults).toEqual([]);
    await close();
    await opened.end("SIGINT");
  });

  test("offers no change with --read-only, in any view and by no key", async () => {
    const opened = await start(["open", "memory.pack", "--no-browser", "--read-only"], LINK);
    const { page, go, settled, close } = await look(opened.origin);
    await page.goto(opened.address);
    // Its code is exchanged for a key before the page goes elsewhere.
    await seen(page, "read-only: nothing can be changed here");
    const changes: string[] = [];
    page.on("request", (request) => {
      if (!/^(GET|HEAD)$/.test(request.method())) changes.push(new URL(request.url()).pathname);
    });
    const { thursday } = story.ids;
    for (const view of ["", "search", `memory/${thursday}`, "conflicts", "forgetting", "health"]) {
      await go(`${view}?owner=anna`);
      await seen(page, "read-only: nothing can be changed here");
      await page.keyboard.press("j");
      for (const key of ["m", "+", "p", "x", "e", "u", "!", "1", "2", "3", " ", "w", "o", "f"]) {
        await page.keyboard.press(key);
      }
      await settled();
      expect(await page.getByRole("button", { name: OFFERS }).count()).toBe(0);
      expect(await page.locator("dialog[open]").count()).toBe(0);
    }
    // Looking is no change.
    const READS = /^\/v1\/(retrieve|nodes\/batch|assertions|quantities)/;
    expect(changes.filter((path) => !READS.test(path))).toEqual([]);
    await close();
    await opened.end("SIGINT");
  });
});

/** Names of buttons that change something. */
const OFFERS =
  /^(Remember|Correct|Make stable|Reinforce|Pin|Release|Archive|Keep|Replace|Contradict|Forget|Do it now|Show what it would change)/;

describe.skipIf(LACKING !== undefined)(`the page of svc serve${leftOut(LACKING)}`, () => {
  test("stays readable while the server is away, and goes on by itself once another is there", async () => {
    const serve = ["serve", "--db-path", "memory.pack", "--port"];
    const first = await start([...serve, "0"], LISTENS);
    const { page, go, axe, close } = await look(first.origin);
    await go(`memory/${story.ids.tea}?owner=anna`);
    const archive = page.getByRole("button", { name: "Archive" });
    await archive.waitFor();
    await first.end("SIGKILL");
    await page.evaluate(LOOK_AGAIN);
    await seen(page, "svc does not answer");
    await page.getByRole("heading", { level: 1, name: "Anna prefers green tea" }).waitFor();
    expect(await archive.count()).toBe(0);
    expect(await axe()).toEqual([]);
    const second = await start([...serve, new URL(first.origin).port], LISTENS);
    await page.getByRole("button", { name: "Try now" }).click();
    await archive.waitFor();
    await gone(page, "svc does not answer");
    await second.end("SIGINT");
    await close();
  });

  test("says that the pack is gone, and which command helps", async () => {
    const serving = await start(["serve", "--db-path", "lost.pack", "--port", "0"], LISTENS);
    const { page, go, close } = await look(serving.origin);
    await go("health?owner=anna");
    await page.getByRole("heading", { level: 1, name: "Nothing is wrong" }).waitFor();
    const path = join(desk.folder, "lost.pack");
    renameSync(path, join(desk.folder, "elsewhere.pack"));
    await page.keyboard.press("d");
    await page.getByRole("heading", { level: 1, name: "1 thing is wrong" }).waitFor();
    expect(await page.locator(".todo .cmd code").allTextContents()).toEqual([`svc init ${path}`]);
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.locator("a.row").first().click();
    await page.getByRole("button", { name: "Pin" }).click();
    await seen(page, "Not changed.");
    await close();
    await serving.end("SIGINT");
  });
});
