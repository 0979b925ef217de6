/** What the page asks, how it is spoken to, and what it does when it is refused, in a real browser. */
import { describe, expect, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { until } from "../until.ts";
import { type StoryPlace, serve, serveStory, useBrowser } from "./place.ts";
import { QUESTION, type Story } from "./story.ts";
import { gone, holdAnswer, LOOK_AGAIN, look, NO_BROWSER, seen, write } from "./window.ts";

let served: StoryPlace;
let story: Story;
useBrowser(async () => {
  served = await serveStory({}, (engine) =>
    engine.store({ userId: "ben", content: "Ben likes coffee." }),
  );
  ({ story } = served);
});

describe.skipIf(NO_BROWSER !== undefined)(`the frame${leftOut(NO_BROWSER)}`, () => {
  test("asks nothing twice on the way to a view, and only about the owner who is shown", async () => {
    const { page, go } = await look(served.url);
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith("/v1/")) asked.push(pathname + search);
    });
    for (const path of ["conflicts", `memory/${story.ids.thursday}`]) {
      asked.length = 0;
      await go(path);
      expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
      expect(asked.filter((one) => one.startsWith("/v1/stats"))).toEqual([
        "/v1/stats?user_id=anna",
      ]);
    }
  });

  test("puts the focus into the question by a key, from every view", async () => {
    const { page, go } = await look(served.url);
    await go("timeline");
    await page.keyboard.press("/");
    await page.waitForURL(/\/inspect\/search/);
    await page.locator("input[data-question]:focus").waitFor();
  });

  test("has a heading of the first level where nothing is remembered", async () => {
    const { url } = await serve({ fill: async () => {} });
    const { page, axe } = await look(url);
    await page.goto(`${url}/inspect/`);
    await seen(page, "Nothing is remembered yet");
    expect(await axe()).toEqual([]);
  });

  test("does not ask for a key again because a question without one is refused late", async () => {
    const { url } = await serve({ auth: { userKeys: { anna: "anna-key" } } });
    const { page, settled } = await look(url);
    await page.goto(`${url}/inspect/timeline`);
    await page.getByLabel("Key", { exact: true }).fill("anna-key");
    const answer = await holdAnswer(page, "**/v1/caller");
    const isHeld = page.waitForRequest("**/v1/caller");
    await page.evaluate(LOOK_AGAIN);
    await isHeld;
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("heading", { level: 1, name: "memories" }).waitFor();
    const refused = page.waitForResponse((response) => response.status() === 401);
    answer();
    await (await refused).finished();
    await settled();
    expect(await page.getByLabel("Key", { exact: true }).count()).toBe(0);
  });

  test("goes on asking for a key where the same wrong one is entered again", async () => {
    const { url } = await serve({ auth: { userKeys: { anna: "anna-key" } } });
    const { page, settled } = await look(url);
    await page.goto(`${url}/inspect/`);
    const field = page.getByLabel("Key", { exact: true });
    for (let tries = 0; tries < 2; tries += 1) {
      await field.fill("no-key");
      await field.press("Enter");
      await settled();
      await seen(page, "The server does not know this key.");
    }
  });

  test("offers no change once the server comes back read-only", async () => {
    const { page, go, settled } = await look(served.url, { isAlone: true });
    await go(`memory/${story.ids.tea}`);
    const archive = page.getByRole("button", { name: "Archive" });
    await archive.waitFor();
    await page.context().setOffline(true);
    await page.evaluate(LOOK_AGAIN);
    await seen(page, "svc does not answer");
    await seen(page, "Anna prefers green tea");
    await page.route("**/v1/caller", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), read_only: true } });
    });
    await page.context().setOffline(false);
    await page.evaluate(LOOK_AGAIN);
    await seen(page, "read-only: nothing can be changed here");
    await settled();
    expect(await archive.count()).toBe(0);
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`a change${leftOut(NO_BROWSER)}`, () => {
  test("is made where the browser names no random ids, as on a network address without TLS", async () => {
    const { page, go } = await look(served.url);
    await page.addInitScript(`delete Crypto.prototype.randomUUID`);
    await go(`memory/${story.ids.tea}`);
    await page.keyboard.press("m");
    await seen(page, "Stable now.");
  });

  test("by archiving is sent once, however often its key is pressed", async () => {
    const { page, go, settled } = await look(served.url);
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/archive")) sent.push(request.url());
    });
    await go(`memory/${story.ids.notes}`);
    for (const key of ["x", "x", "x"]) await page.keyboard.press(key);
    await seen(page, "Archived “");
    await settled();
    expect(sent).toHaveLength(1);
    await page.keyboard.press("z");
    await seen(page, "Restored. It can be found again.");
  });

  test("by correcting keeps what was written when the memory was replaced meanwhile", async () => {
    const looked = await look(served.url);
    const { page } = looked;
    const { flag, postgres } = story.ids;
    const field = await write(looked, [
      `memory/${flag}`,
      "e",
      "The feature flag is on everywhere.",
    ]);
    await served.engine.supersede(flag, postgres, { actorId: "codex" });
    await page.getByRole("button", { name: "Replace it" }).click();
    await seen(page, "Not changed.");
    expect(await field.inputValue()).toBe("The feature flag is on everywhere.");
  });

  test("by correcting is not offered for a row whose memory cannot be replaced", async () => {
    const { page, go, settled } = await look(served.url);
    await go("timeline?state=contested");
    await page.keyboard.press("j");
    await page.keyboard.press("e");
    await settled();
    expect(new URL(page.url()).pathname).toBe("/inspect/timeline");
  });

  test("shows joined emoji and words as they are", async () => {
    const text = "👩‍👩‍👧 ❤️‍🔥 👩🏽‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🧑‍🚀 👁️‍🗨️ 🐻‍❄️ 1️⃣ علی‌رضا";
    const { url, engine } = await serve({ fill: async () => {} });
    const { nodeId } = await engine.storeWithReceipt({ userId: "anna", content: text });
    const { page, go } = await look(url);
    await go(`memory/${nodeId}`);
    expect(await page.locator("h1").textContent()).toBe(text);
    expect(await page.locator(".sign").count()).toBe(0);
  });

  test("names the space bar and Enter in the list of keys", async () => {
    const { page, go } = await look(served.url);
    await go("timeline");
    await page.keyboard.press("?");
    const list = page.locator(".key-list");
    await seen(list, "space", { exact: true });
    expect(await list.getByText("space", { exact: true }).count()).toBe(1);
    expect(await list.getByText("Enter", { exact: true }).count()).toBe(1);
  });

  test("shows hidden characters as signs where it compares, tells and names", async () => {
    const sign = "\u202e";
    const { url, engine } = await serve({ fill: async () => {} });
    const { nodeId } = await engine.storeWithReceipt({
      userId: `an${sign}na`,
      content: `Tea ${sign}at five`,
    });
    const looked = await look(url);
    const { page } = looked;
    await write(looked, [`memory/${nodeId}`, "e", `Tea ${sign}at six`]);
    await page.locator(".diff ins").waitFor();
    expect(await page.locator(".diff").textContent()).not.toContain(sign);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("x");
    await seen(page, "Archived “");
    expect(await page.locator(".toasts").textContent()).not.toContain(sign);
    expect(await page.locator(".owner-name").textContent()).not.toContain(sign);
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`a list${leftOut(NO_BROWSER)}`, () => {
  test("says that its rows could not be read, and reads them again", async () => {
    const { page } = await look(served.url);
    const body = JSON.stringify({ code: "internal", detail: "the disk is tired" });
    const refusal = { status: 500, contentType: "application/json", body };
    await page.route("**/v1/nodes/browse*", (route) => route.fulfill(refusal));
    await page.goto(`${served.url}/inspect/timeline`);
    await seen(page, "the disk is tired");
    const again = page.getByRole("button", { name: "Read it again" });
    const refused = page.waitForResponse("**/v1/nodes/browse*");
    await again.click();
    expect((await refused).status()).toBe(500);
    await page.unroute("**/v1/nodes/browse*");
    await until(async () => {
      // A list that moves on the screen is read again by itself.
      await again.click({ timeout: 500 }).catch(() => {});
      return (await page.locator("a.row").count()) > 0;
    });
    await gone(page, "the disk is tired");
  });

  test("by when it happened shows that time beside each row", async () => {
    const { url } = await serve({
      fill: async (engine, at) => {
        at("2026-11-02T09:12:00Z");
        await engine.store({
          userId: "anna",
          content: "The ledger was down.",
          eventTime: "2026-09-09T16:45:00Z",
        });
      },
    });
    const { page, go } = await look(url);
    await go("timeline?clock=happened");
    expect(await page.locator("a.row time").textContent()).toBe("16:45");
    await go("timeline");
    expect(await page.locator("a.row time").textContent()).toBe("09:12");
  });
});

describe.skipIf(NO_BROWSER !== undefined)(`a question${leftOut(NO_BROWSER)}`, () => {
  test("is copied as a command with its owner and its conditions", async () => {
    const { page, go } = await look(served.url);
    await go("search");
    await page.getByLabel("scope").selectOption("project");
    await page.locator("input[data-question]").fill(QUESTION);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "JSON" }).click();
    await page.evaluate(`navigator.clipboard.writeText("")`);
    await page.getByRole("button", { name: "As curl" }).click();
    const copied = async (): Promise<string> =>
      await page.evaluate<string>("navigator.clipboard.readText()");
    await until(async () => (await copied()) !== "");
    const command = await copied();
    expect(command).toContain(`"query":"${QUESTION}"`);
    expect(command).toContain(`"user_id":"anna"`);
    expect(command).toContain(`"scope":"project"`);
  });

  test("has a memory and its line in the context marked together", async () => {
    const { page, go } = await look(served.url);
    await go("search");
    const field = page.locator("input[data-question]");
    await field.fill(QUESTION);
    await field.press("Enter");
    // At one moment: rows that come below may move others under the pointer.
    const marked = (): Promise<string[]> =>
      page.evaluate(
        `[...document.querySelectorAll(".hit[aria-current=true] .text, .ln.on > :first-child")].map((one) => one.textContent)`,
      );
    const strongest = (await page.locator(".hit .text").first().textContent()) ?? "";
    for (const row of [page.locator(".hit").nth(1), page.locator(".ln", { hasText: strongest })]) {
      await row.hover();
      const text = (await row.textContent()) ?? "";
      await until(async () => {
        const [memory = "none", line = "", ...others] = await marked();
        return text.includes(memory) && line.includes(memory) && others.length === 0;
      });
    }
    await field.hover();
    await until(async () => (await marked()).length === 0);
  });

  test("keeps what is typed while the one before it is being sent", async () => {
    const { page, go, settled } = await look(served.url);
    await go("search");
    // Faster than a hand: between two events nothing is drawn.
    await page.evaluate(`(async () => {
      const field = document.querySelector("input[data-question]");
      const handled = async () => {
        for (let turn = 0; turn < 10; turn += 1) await undefined;
      };
      const type = async (text) => {
        field.value = text;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        await handled();
      };
      await type("first question");
      field.form.requestSubmit();
      await handled();
      await type("second question");
    })()`);
    await page.locator(".asked", { hasText: "first question" }).waitFor();
    await settled();
    expect(await page.locator("input[data-question]").inputValue()).toBe("second question");
  });

  test("keeps its answer when that of the one before it comes late", async () => {
    const { page, go, settled } = await look(served.url);
    await go("search");
    const answer = await holdAnswer(page, "**/v1/retrieve");
    const field = page.locator("input[data-question]");
    await field.fill("first question");
    await field.press("Enter");
    await field.fill("second question");
    await field.press("Enter");
    await page.locator(".asked", { hasText: "second question" }).waitFor();
    const late = page.waitForResponse("**/v1/retrieve");
    answer();
    await (await late).finished();
    await settled();
    expect(await page.locator(".asked").textContent()).toBe("second question");
  });
});
