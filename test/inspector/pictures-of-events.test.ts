/** Pictures of what was seen, in a real browser: shown by the inspector, and harmless whatever they are. */
import { describe, expect, test } from "bun:test";
import type { KeptBlob } from "../../src/domain/node.ts";
import { anAdmission, anEvent } from "../contract/samples.ts";
import { leftOut } from "../left-out.ts";
import { type Served, serve, useBrowser } from "./place.ts";
import { look, NO_BROWSER } from "./window.ts";

useBrowser();

/** 2 x 2 pixels. */
const GIF = Uint8Array.fromBase64("R0lGODdhAgACAIAAAP8AAP///ywAAAAAAgACAAACAoRRADs=");
const KEY = "frames/0a.gif";

async function keep({ store }: Served, given: Partial<KeptBlob> = {}): Promise<void> {
  const event = anEvent({ userId: "anna" });
  const blob = { key: KEY, mediaType: "image/gif", bytes: GIF, ...given, event: event.id };
  await store.admit(anAdmission([event], { blobs: [blob] }));
}

async function serveSeen(served: Served): Promise<string> {
  const { nodeId } = await served.engine.storeWithReceipt({
    userId: "anna",
    content: "A red boat lies in the harbour.",
    role: "tool",
    metadata: {
      modality: "video_frame",
      source_file: "<b>trip</b>.mp4",
      frame_time_s: 42,
      thumbnail: KEY,
    },
  });
  return nodeId;
}

const WIDTH = `document.querySelector("main .seen img")?.naturalWidth`;

describe.skipIf(NO_BROWSER !== undefined)(`pictures of events${leftOut(NO_BROWSER)}`, () => {
  test("stand beside their memory, described by it, for a key alone", async () => {
    const served = await serve({
      auth: { userKeys: { anna: "key-anna" } },
      fill: async () => {},
    });
    const nodeId = await serveSeen(served);
    await keep(served);
    const { page, go, axe } = await look(served.url, { key: "key-anna" });
    await go(`memory/${nodeId}`);
    await page.locator("main .seen img").waitFor();
    const alt = await page.locator("main .seen img").getAttribute("alt");
    expect(alt).toBe("A red boat lies in the harbour.");
    expect(await page.evaluate(WIDTH)).toBe(2);
    expect(await page.locator(".seen figcaption").textContent()).toBe(
      'from frame 0:42 of "<b>trip</b>.mp4"',
    );
    expect(await axe()).toEqual([]);
  });

  test("that are gone leave the words", async () => {
    const served = await serve({ fill: async () => {} });
    const nodeId = await serveSeen(served);
    const { page, go } = await look(served.url);
    await go(`memory/${nodeId}`);
    await page.locator(".seen figcaption").waitFor();
    expect(await page.locator(".seen img").count()).toBe(0);
  });

  const SCRIPT = `<script>document.title = "ran"; fetch("/ran")</script>`;
  test.each([
    [
      "text/html",
      `<!doctype html><html><body>${SCRIPT}<img src=x onerror="fetch('/ran')"></body></html>`,
    ],
    [
      "image/svg+xml",
      `<svg xmlns="http://www.w3.org/2000/svg" onload="fetch('/ran')"><script>fetch("/ran")</script></svg>`,
    ],
    ["image/png", `<html><body>${SCRIPT}</body></html>`],
    ["image/gif", `GIF89a/*${SCRIPT}*/=1;fetch("/ran")`],
  ])("run nothing, opened or embedded, where they are kept as %s", async (mediaType, text) => {
    const served = await serve({ fill: async () => {} });
    const nodeId = await serveSeen(served);
    await keep(served, { mediaType, bytes: new TextEncoder().encode(text) });
    const { page, go, close } = await look(served.url, { isAlone: true });
    const asked: string[] = [];
    page.context().on("request", (request) => asked.push(new URL(request.url()).pathname));
    const path = `/v1/blobs/${encodeURIComponent(KEY)}?user_id=anna`;
    // What is only handed over is a download, and no page.
    const opened = await page.goto(`${served.url}${path}`).catch(() => null);
    expect(opened === null ? "handed over" : await page.title()).not.toBe("ran");
    await go(`memory/${nodeId}`);
    await page.locator(".seen figcaption").waitFor();
    await page.evaluate(`Promise.all(["iframe", "img", "object", "embed", "script"].map((name) =>
      new Promise((done) => {
        const one = document.createElement(name);
        one.onload = one.onerror = done;
        setTimeout(done, 500);
        try { one[name === "object" ? "data" : "src"] = ${JSON.stringify(path)}; } catch { done(); }
        document.body.append(one);
      })))`);
    expect(asked).toContain(`/v1/blobs/${encodeURIComponent(KEY)}`);
    expect(asked.filter((each) => each === "/ran")).toEqual([]);
    // What it tries is refused, which is a fault of the picture.
    await close();
  });
});
