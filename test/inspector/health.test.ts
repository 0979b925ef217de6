/** Whether the memory works, and what helps, in a real browser. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { endAllServers, startServer } from "../../scripts/bench/server.ts";
import { commandsIn } from "../../src/page/views/commands.ts";
import { wordEmbedder } from "../engine/engines.ts";
import { type Lacking, leftOut } from "../left-out.ts";
import { type Served, serve, serveStory, useBrowser } from "./place.ts";
import { look, NO_BROWSER, seen } from "./window.ts";

let served: Served;
useBrowser(async () => {
  served = await serveStory({ auth: { apiKey: KEY } }, async (engine) => {
    await engine.store({ userId: "ben", content: "Ben likes coffee." });
    for (const content of ["The key is under the mat.", "The key is under the mat."]) {
      await engine.store({ userId: "ben", nodeType: "fact", content, ...WHEN });
    }
  });
});

const WHEN = { validFrom: "2026-11-01T08:00:00Z", eventTime: "2026-11-01T08:00:00Z" };
const KEY = "operator-key";
test("the commands of a finding are found in it, with paths that hold anything", () => {
  expect(commandsIn("every page is sound")).toEqual([]);
  expect(commandsIn("is missing; make a pack with: svc init /tmp/m.pack")).toEqual([
    "svc init /tmp/m.pack",
  ]);
  expect(commandsIn("1 lacks a vector; run: svc rebuild 'my; pack'; or not")).toEqual([
    "svc rebuild 'my; pack'",
  ]);
  expect(commandsIn("run: svc compact 'Anna'\\''s: svc x'")).toEqual([
    "svc compact 'Anna'\\''s: svc x'",
  ]);
});

describe.skipIf(NO_BROWSER !== undefined)(`the health${leftOut(NO_BROWSER)}`, () => {
  test("is what svc doctor finds, with the command that helps", async () => {
    const { path } = Object(served.pack.layout);
    const { page, go, axe } = await look(served.url, { key: KEY });
    chmodSync(path, 0o666);
    await go("health?owner=anna");
    await page.getByRole("heading", { level: 1, name: "1 thing needs attention" }).waitFor();
    expect(await page.locator(".todo .cmd code").allTextContents()).toEqual([`chmod go-w ${path}`]);
    await seen(page, /^It costs 0 tokens of a model, .*ms a store/);
    await page.getByText("checks passed").click();
    await seen(page, "every page is sound");
    expect(await axe()).toEqual([]);
    chmodSync(path, 0o600);
    await page.keyboard.press("d");
    await page.getByRole("heading", { level: 1, name: "Nothing is wrong" }).waitFor();
  });

  test("counts what the owner has and what the pack has, and each state leads to its memories", async () => {
    const { page, go } = await look(served.url, { key: KEY });
    await go("health?owner=anna");
    const own = (await served.engine.stats("anna")).details;
    expect(await page.locator(".tally a").allTextContents()).toEqual(
      (["tentative", "stable", "contested", "superseded"] as const).map((state) =>
        String(own?.states[state] ?? 0),
      ),
    );
    const whole = await served.engine.stats();
    expect(await page.locator(".counts tbody td:last-child").allTextContents()).toEqual([
      String(whole.nodeCount),
      String(whole.eventCount),
      String(whole.details?.receipts),
    ]);
    await page.locator(".tally li", { hasText: "replaced" }).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "1 memory" }).waitFor();
  });

  test("shows what the organizer would change, and changes it only after that", async () => {
    const { page, go, axe } = await look(served.url, { key: KEY });
    const twins = async (): Promise<number> =>
      (await served.engine.browse({ userId: "ben", contains: "under the mat" })).nodes.length;
    await go("health?owner=ben");
    await page.keyboard.press("o");
    await seen(page, "It would make 1 change:");
    expect(await page.locator(".would a").allTextContents()).toEqual(["The key is under the mat."]);
    expect(await twins()).toBe(2);
    expect(await axe()).toEqual([]);
    await page.getByRole("button", { name: "Change them" }).click();
    await seen(page, "Organized: 1 change.");
    expect(await twins()).toBe(1);
    await page.keyboard.press("o");
    await seen(page, "It would change nothing.");
  });

  test("tells what waits to be indexed, and does it by a key", async () => {
    let isDown = true;
    const words = wordEmbedder();
    const { url, engine } = await serve({
      embedder: {
        ...words,
        embedDocument: async (text) => {
          if (isDown) throw new Error("the model is away");
          return await words.embedDocument(text);
        },
      },
      fill: async (engine) => {
        const call = engine.store({ userId: "anna", content: "Anna prefers tea." });
        await call.catch(() => {});
      },
    });
    const { page, go, axe } = await look(url);
    await go("health");
    await seen(page, "1 text is not indexed yet; 1 of them failed before.");
    expect(await axe()).toEqual([]);
    isDown = false;
    await page.keyboard.press("w");
    await seen(page, "1 done, 0 left.");
    await seen(page, "No text waits to be indexed");
    expect((await engine.stats("anna")).details?.jobs).toEqual({ pending: 0, failed: 0 });
  });

  test("shows an owner's key what is the owner's, and how the pack is examined", async () => {
    const { url } = await serve({ auth: { userKeys: { anna: "anna-key" } } });
    const { page, go, axe } = await look(url, { key: "anna-key" });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await go("health");
    await seen(page, "Your key is that of one owner");
    expect(await page.getByRole("button", { name: "Examine" }).count()).toBe(0);
    await page.keyboard.press("d");
    expect(await page.locator(".counts thead th").allTextContents()).toEqual(["of anna"]);
    expect(asked.filter((one) => /doctor|owners/.test(one))).toEqual([]);
    expect(await axe()).toEqual([]);
  });
});

const PROGRAM = process.env["TEST_PROGRAM"];
/** From source the program has no page, and then no server of databases need be started. */
const NO_PAGE: Lacking =
  NO_BROWSER ?? (PROGRAM === undefined ? "it takes TEST_PROGRAM" : undefined);
const databases = NO_PAGE === undefined ? await import("../postgres/databases.ts") : undefined;
const LACKING: Lacking = NO_PAGE ?? databases?.NO_POSTGRES;

describe.skipIf(LACKING !== undefined)(`the health of a database${leftOut(LACKING)}`, () => {
  test("is what svc doctor finds, too", async () => {
    const name = (await databases?.makeDatabase()) ?? "";
    const folder = mkdtempSync(join(tmpdir(), "svc-health-"));
    await using _ended = {
      [Symbol.asyncDispose]: async () => {
        await endAllServers();
        await databases?.dropDatabase(name);
        rmSync(folder, { recursive: true, force: true });
      },
    };
    const server = await startServer({
      pack: join(folder, "server"),
      command: [resolve(PROGRAM ?? "")],
      args: ["serve", "--port", "0"],
      environment: { SVC_DATABASE_URL: databases?.databaseUrl(name) ?? "" },
    });
    const { page, go } = await look(server.url);
    await go("health");
    await page.getByRole("heading", { level: 1, name: "Nothing is wrong" }).waitFor();
    await page.getByText("checks passed").click();
    await seen(page, /^\d+ tables of version \d+$/);
    await seen(page, "pgvector", { exact: true });
    await server.end("SIGTERM");
  });
});
