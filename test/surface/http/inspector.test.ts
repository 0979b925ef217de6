import { describe, expect, test } from "bun:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { answerFile, unpacked } from "../../../src/surface/http/inspector.ts";
import type { InspectorFile } from "../../../src/surface/http/inspector-files.ts";
import { KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();

const file = (type: string, text: string): InspectorFile => ({
  type,
  etag: `"${text.length}"`,
  gzip: gzipSync(text).toString("base64"),
});
const FILES = {
  "": file("text/html;charset=utf-8", "<p>page"),
  "a-12345678.js": file("text/javascript", "go()"),
};
const ask = (name: string, headers: Readonly<Record<string, string>> = {}): Response =>
  answerFile(FILES, name, new Headers(headers));

describe("a file of the inspector", () => {
  test("is sent compressed to those who take it, and as it is to others", async () => {
    const compressed = ask("a-12345678.js", { "accept-encoding": "br, gzip;q=0.8" });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await compressed.arrayBuffer()).toString()).toBe("go()");
    for (const encoding of ["br", "gzip;q=0", "gzip; q=0.000", ""]) {
      const plain = ask("a-12345678.js", { "accept-encoding": encoding });
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(await plain.text()).toBe("go()");
    }
  });

  test("is unpacked once, however often it is asked for", () => {
    const page = FILES["a-12345678.js"];
    expect(Buffer.from(unpacked(page)).toString()).toBe("go()");
    expect(unpacked(page)).toBe(unpacked(page));
  });

  test("is kept for ever where its name follows from its content, and asked for again where not", () => {
    expect(ask("a-12345678.js").headers.get("cache-control")).toContain("immutable");
    expect(ask("").headers.get("cache-control")).toBe("no-cache");
  });

  test("that the browser has already is not sent again", async () => {
    for (const names of ['"7"', 'W/"7"', '"x", "7"', "*"]) {
      const answer = ask("", { "if-none-match": names });
      expect([answer.status, await answer.text(), answer.headers.get("etag")]).toEqual([
        304,
        "",
        '"7"',
      ]);
    }
    expect(ask("", { "if-none-match": '"8"' }).status).toBe(200);
  });

  test("that is none is the page, whatever the name", async () => {
    for (const name of [
      "search/1",
      "memory/x",
      "constructor",
      "../../etc/passwd",
      "a-12345678.js/x",
    ]) {
      expect(await ask(name).text()).toBe("<p>page");
    }
  });

  test("forbids scripts, styles, frames, forms and hosts that are not the page's own", () => {
    for (const name of ["", "a-12345678.js"]) {
      const { headers } = ask(name);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
      );
      expect(policy).toContain(
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      );
      expect(policy).not.toContain("unsafe");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    }
  });
});

describe("/inspect/", () => {
  test("says how to build the page where the program runs from source", async () => {
    const { app } = await open();
    const answer = answerFile({}, "search", new Headers());
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("bun scripts/build.ts");
    expect((await app.request("/inspect")).headers.get("location")).toBe("/inspect/");
  });

  test("is shown without a key, since it asks for one itself, and to nobody under a foreign name or from a foreign page", async () => {
    const guarded = await open(KEYS);
    const shown = await guarded.app.request("/inspect/");
    expect(shown.headers.get("content-security-policy")).toContain("default-src 'none'");
    const { app } = await open();
    const foreign = await app.request("/inspect/", { headers: { host: "evil.example" } });
    expect(foreign.status).toBe(421);
    const page = await app.request("/inspect/", { headers: { origin: "https://evil.example" } });
    expect(page.status).toBe(403);
  });

  test("knows no other method", async () => {
    const { ask } = await open();
    const { status, json } = await ask("/inspect/", { body: {} });
    expect([status, json["code"]]).toEqual([405, "method_not_allowed"]);
  });
});
