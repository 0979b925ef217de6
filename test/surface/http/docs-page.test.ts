/** The page at `/docs`: what it may load, what it shows, and that its examples are accepted. */
import { beforeAll, describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { docsPage, exampleOf } from "../../../src/surface/http/docs-page.ts";
import { DOCUMENT } from "./fuzz/document.ts";
import { appOf } from "./serving.ts";

type Attributes = Readonly<Record<string, string>>;
type Tag = { readonly name: string; readonly attributes: Attributes };

let page: Response;
let text: string;
const tags: Tag[] = [];

const SIGNS: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&#39;": "'",
};
const unescaped = (markup: string): string =>
  markup.replace(/&[#\w]+;/g, (sign) => SIGNS[sign] ?? sign);

const named = (name: string): Attributes[] =>
  tags.filter((tag) => tag.name === name).map(({ attributes }) => attributes);

beforeAll(async () => {
  page = await appOf().request("/docs");
  text = await page.text();
  const reader = new HTMLRewriter().on("*", {
    element: ({ tagName, attributes }) => {
      tags.push({ name: tagName, attributes: Object.fromEntries(attributes) });
    },
  });
  await reader.transform(new Response(text)).text();
});

describe("what the page may load", () => {
  test("is its one style, by its hash, and no script", () => {
    const policy = page.headers.get("content-security-policy") ?? "";
    const hashOf = (name: string): string => {
      const [, inner = ""] = new RegExp(`<${name}>(.*)</${name}>`, "s").exec(text) ?? [];
      return new Bun.CryptoHasher("sha256").update(inner).digest("base64");
    };
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `style-src 'sha256-${hashOf("style")}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect([named("style").length, named("script").length]).toEqual([1, 0]);
  });

  test("is nothing of another server, and no attribute runs or styles anything", () => {
    expect(text).not.toMatch(/https?:\/\//);
    const names = new Set(tags.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...names].filter((name) => /^(src|style|on.*|action)$/.test(name))).toEqual([]);
    expect(named("a").map(({ href }) => href)).toEqual(["openapi.json"]);
  });
});

describe("the listing", () => {
  test("has every route", () => {
    for (const { path } of DOCUMENT.operations) expect(text).toContain(`>${path}</span>`);
  });

  test("has every identifier once", () => {
    const ids = tags.flatMap(({ attributes }) => attributes["id"] ?? []);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  test("shows texts as they are", () => {
    const hostile = `<script>alert("1 & 2")</script>'`;
    const info = { title: hostile, version: "1", description: hostile };
    const shown = docsPage({ info, tags: [], paths: {}, components: { schemas: {} } });
    expect(shown).not.toContain("<script>");
    const read: string[] = [];
    const reader = new HTMLRewriter().on("title, h1", {
      text: ({ text: part }) => void read.push(part),
    });
    reader.transform(shown);
    expect(unescaped(read.join(""))).toStartWith(hostile);
  });
});

describe("an example call", () => {
  const calls = (): readonly string[] =>
    [...text.matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, call = ""]) => unescaped(call));

  test("is shown for each operation, with its key unless it needs none", () => {
    const shown = calls().map((call) =>
      /-X (\w+) "\$SVC_URL([^"?]*)/.exec(call)?.slice(1).join(" "),
    );
    const wanted = DOCUMENT.operations.map(({ method, path }) => `${method} ${path}`);
    const filled = (call: string): RegExp => new RegExp(`^${call.replace(/\{\w+\}/g, "[^/]+")}$`);
    expect(shown).toHaveLength(wanted.length);
    expect(wanted.filter((call) => !shown.some((one) => filled(call).test(one ?? "")))).toEqual([]);
    expect(calls().filter((call) => !call.includes("$SVC_KEY"))).toEqual([
      'curl -X GET "$SVC_URL/v1/health"',
    ]);
  });
});

describe("an example body", () => {
  const withBody = DOCUMENT.operations.flatMap(({ body, ...operation }) =>
    body === undefined
      ? []
      : { ...operation, example: exampleOf(body.schema, DOCUMENT.schemas), body },
  );

  test.each(withBody)("of $id is what its schema allows", ({ body, example }) => {
    const ajv = new Ajv2020({ strict: false });
    addFormats(ajv);
    ajv.addSchema(DOCUMENT.raw, "api");
    const valid = ajv.compile({ $ref: `api${String(body.schema["$ref"])}` });
    expect([valid(example), valid.errors]).toEqual([true, null]);
  });
});
