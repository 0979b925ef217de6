/** Pictures over HTTP: who gets them, and that nothing in them runs. */
import { describe, expect, test } from "bun:test";
import { type KeptBlob, parseBlobs } from "../../../src/domain/node.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();
const KEY = "frames/0a.jpg";
const JPEG = new Uint8Array([0xff, 0xd8, 0, 1, 2, 0xff, 0xd9]);
const SCRIPT = new TextEncoder().encode("<script>alert(1)</script>");

async function put(store: Store, given: Partial<KeptBlob> = {}, userId = "ada"): Promise<void> {
  const event = anEvent({ userId });
  const blob = { key: KEY, mediaType: "image/jpeg", bytes: JPEG, ...given, event: event.id };
  await store.admit(anAdmission([event], { blobs: [blob] }));
}

describe("GET /v1/blobs/{blob_key}", () => {
  test("gives an owner the bytes, its key encoded or not, and other owners 404", async () => {
    const { app, store, ask } = await open(KEYS);
    await put(store);
    await put(store, { key: "frames/0b.jpg" }, "bob");
    const asked = { headers: { authorization: "Bearer key-a" } };
    for (const path of ["frames%2F0a.jpg", "frames/0a.jpg", "frames%2f0a%2Ejpg?user_id=ada"]) {
      const answer = await app.request(`/v1/blobs/${path}`, asked);
      expect(answer.status).toBe(200);
      expect(await answer.bytes()).toEqual(JPEG);
    }
    const missing = await ask("/v1/blobs/frames%2F0b.jpg", { key: "key-a" });
    expect(missing).toEqual({
      status: 404,
      json: { detail: "Blob 'frames/0b.jpg' not found", code: "not_found" },
    });
    expect((await ask("/v1/blobs/frames%2F0a.jpg?user_id=ada", { key: "key-b" })).status).toBe(403);
    expect((await ask("/v1/blobs/frames%2F0a.jpg")).status).toBe(401);
    expect((await ask("/v1/blobs/frames%2F0a.jpg", { method: "POST", key: "key-a" })).status).toBe(
      405,
    );
  });

  test("says that it never changes, to the browser of the one who asked", async () => {
    const { app, store } = await open();
    await put(store);
    const answer = await app.request("/v1/blobs/frames%2F0a.jpg");
    const etag = answer.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "image/jpeg",
      "content-disposition": "inline",
      "cache-control": "private, no-cache",
      vary: "authorization",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-origin",
    });
    const headers = { "if-none-match": `"other", W/${etag}` };
    const again = await app.request("/v1/blobs/frames%2F0a.jpg", { headers });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
    const head = await app.request("/v1/blobs/frames%2F0a.jpg", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("is kept by a browser for the key that asked, also where other origins may ask", async () => {
    const cors = { origins: ["https://app.example"], allowCredentials: false };
    const { app, store } = await open({}, {}, { cors });
    await put(store);
    const headers = { origin: "https://app.example" };
    const answer = await app.request("/v1/blobs/frames%2F0a.jpg", { headers });
    expect(answer.headers.get("vary")).toBe("authorization, Origin");
  });

  test.each(["text/html", "image/svg+xml", "application/xhtml+xml", "image/jpeg2"])(
    "only hands over what is kept as %s",
    async (mediaType) => {
      const { app, store } = await open();
      await put(store, { mediaType, bytes: SCRIPT });
      const { headers } = await app.request("/v1/blobs/frames%2F0a.jpg");
      expect(headers.get("content-type")).toBe("application/octet-stream");
      expect(headers.get("content-disposition")).toBe("attachment");
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; sandbox; frame-ancestors 'none'",
      );
    },
  );

  test.each([
    "..%2f..%2fetc%2fpasswd",
    "../../v1/stats/x",
    "%2e%2e%2fmemory.pack",
    "frames%2F0A.jpg",
    "frames%2F0a.jpg%2F",
    "frames/",
  ])("has nothing under %s", async (path) => {
    const { ask, store } = await open();
    await put(store);
    expect((await ask(`/v1/blobs/${path}`)).status).toBe(404);
  });

  test.each([
    ["a NUL", "frames%00"],
    ["10 kB", "a".repeat(10_240)],
    ["a blank", "frames%20"],
    ["a letter that is not ASCII", "fr%C3%A4me"],
    ["a line", "frames%0a"],
  ])("refuses a key with %s by its name", async (_, path) => {
    const { ask } = await open();
    const { status, json } = await ask(`/v1/blobs/${path}`);
    expect([status, json["code"]]).toEqual([422, "invalid_argument"]);
    expect(String(json["detail"])).toStartWith("blob_key: ");
    expect((await ask("/v1/blobs/%ff")).status).toBeOneOf([404, 422]);
  });
});

describe("getBlob", () => {
  test("gives bytes or null, of one owner or of any", async () => {
    const { engine, store } = await open();
    await put(store);
    expect(await engine.getBlob(KEY, { userId: "ada" })).toEqual(JPEG);
    expect(await engine.getBlob(KEY)).toEqual(JPEG);
    expect(await engine.getBlob(KEY, { userId: "bob" })).toBeNull();
    expect(await engine.getBlob("frames/0b.jpg", { userId: "ada" })).toBeNull();
    for (const key of ["", "a\u0000", "a b", "a".repeat(257)]) {
      expect(engine.getBlob(key)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect(engine.getBlob(KEY, { userId: " " })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });
});

describe("what is to be kept", () => {
  const settings = { blobMaxBytes: 10 };
  const blob = { key: KEY, mediaType: "image/jpeg", bytes: JPEG };
  test.each([
    [
      { bytes: new Uint8Array(11) },
      "blobs[0].bytes: has 11 bytes, at most 10 (setting blob_max_bytes)",
    ],
    [{ bytes: new Uint8Array() }, "blobs[0].bytes: is empty"],
    [{ key: "" }, "blobs[0].key: must be 1 to 256 printable ASCII characters without blanks"],
    [
      { key: "a".repeat(10_240) },
      "blobs[0].key: must be 1 to 256 printable ASCII characters without blanks",
    ],
    [
      { mediaType: "text/html; charset=utf-8" },
      "blobs[0].media_type: must be a media type such as image/jpeg",
    ],
    [{ mediaType: "" }, "blobs[0].media_type: must be a media type such as image/jpeg"],
  ])("is refused by name: %#", (given, message) => {
    expect(() => parseBlobs([{ ...blob, ...given }], settings)).toThrow(message);
    expect(parseBlobs([{ ...blob, bytes: new Uint8Array(10) }], settings)).toHaveLength(1);
    expect(parseBlobs(undefined, settings)).toEqual([]);
  });
});
