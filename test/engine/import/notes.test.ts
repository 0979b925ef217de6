import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { useEngines } from "../engines.ts";
import { folderOf } from "./samples.ts";

setDefaultTimeout(120_000);

const { open } = useEngines();
const userId = "anna";

const LONG = [
  "---\ntitle: Garden\npermalink: garden\ncreated: 2025-04-01T08:00:00Z\n---\n",
  "\nIntro with [[Tools]].\r\n\n# Beds\n\n",
  `${"The left bed gets compost every spring. ".repeat(30)}\n\n`,
  "## Tomatoes\n\n```\n# not a heading\n```\n- [variety] Sungold ripens first #red (2024)\n- [ ] water them\n- depends_on [[Tools]]\n",
  `\n# Paths\n\n${"Gravel lies between the beds. ".repeat(400)}`,
].join("");

const VAULT = {
  "Garden.md": LONG,
  "sub/Tools.md": "A spade.\n",
  "CLAUDE.md": "Be brief.",
  "x.ts": "1",
};

describe("a folder of notes", () => {
  test("is cut by headings, which name each part, and can be put together again", async () => {
    const { engine } = await open();
    const folder = folderOf(VAULT);
    const report = await engine.importSource({ source: folder, userId });
    expect(report.sources).toMatchObject([{ source: "notes", files: 2, lossless: true }]);
    expect(report.leftOut).toEqual({ "files of no known kind": 2 });

    const events = await engine.getEvents({ userId, sessionId: "document:Garden.md", limit: 100 });
    const about = (one: (typeof events)[number]) =>
      one.metadata?.["import"] as Record<string, never>;
    const parts = events
      .filter((one) => about(one)["position"] !== undefined)
      .sort((one, other) => Number(about(one)["position"]) - Number(about(other)["position"]));
    expect(parts.map(({ content }) => content).join("")).toBe(
      readFileSync(join(folder, "Garden.md"), "utf8"),
    );
    const tomatoes = parts.find(({ content }) => content.includes("Sungold"));
    expect(about(tomatoes as never)).toMatchObject({
      file: "Garden.md",
      headings: ["Beds", "Tomatoes"],
    });
    expect(tomatoes).toMatchObject({ role: "tool", eventTime: "2025-04-01T08:00:00.000000Z" });

    const nodes = await engine.queryNodes({ userId, limit: 100 });
    expect(new Set(nodes.map(({ sourceType }) => sourceType))).toEqual(
      new Set(["external_document"]),
    );
    const facts = nodes.filter(({ nodeType }) => nodeType === "fact").map(({ content }) => content);
    expect(facts).toEqual(["Sungold ripens first #red (2024)"]);
    const { edges } = await engine.getEdges({ userId });
    const types = edges.map(
      ({ edgeType, metadata }) => `${edgeType} ${String(metadata?.["relation_type"] ?? "-")}`,
    );
    expect(types.sort()).toEqual(["has_fact -", "relates_to -", "relates_to depends_on"]);
    const found = await engine.retrieve({ query: "Which tomatoes ripen first?", userId });
    expect(found.results[0]?.node.content).toContain("Sungold");
  });

  test("a changed file replaces its parts, and retires those that it no longer has", async () => {
    const { engine } = await open();
    const folder = folderOf(VAULT);
    await engine.importSource({ source: folder, userId });
    const again = await engine.importSource({ source: folder, userId });
    expect(again).toMatchObject({ importId: undefined, retired: 0 });

    const changed = LONG.replace("every spring. ", "every autumn. ").replace(
      /\n# Paths[\s\S]*/,
      "",
    );
    writeFileSync(join(folder, "Garden.md"), changed);
    const report = await engine.importSource({ source: folder, userId });
    expect(report.records["document"]).toMatchObject({ changed: 1, new: 0 });
    expect(report.retired).toBeGreaterThan(0);
    const texts = (await engine.queryNodes({ userId, limit: 100 })).map(({ content }) => content);
    expect(texts.some((text) => text.includes("Gravel"))).toBe(false);
    expect(texts.filter((text) => text.includes("left bed"))).toHaveLength(1);

    // A file that is gone says nothing about its notes.
    rmSync(join(folder, "sub/Tools.md"));
    await engine.importSource({ source: folder, userId });
    const left = (await engine.queryNodes({ userId, limit: 100 })).map(({ content }) => content);
    expect(left).toContain("sub/Tools.md:\nA spade.\n");
  });

  test("of basic-memory itself can be written again, with its facts and links", async () => {
    const { engine } = await open();
    const folder = join(import.meta.dir, "real/basic-memory");
    const report = await engine.importSource({ source: folder, userId });
    expect(report.sources).toMatchObject([{ source: "notes", files: 2, lossless: true }]);
    for (const file of ["drinks/Coffee brewing.md", "people/Anna Berger.md"]) {
      const events = await engine.getEvents({ userId, sessionId: `document:${file}` });
      const [first, ...others] = events.filter(
        ({ metadata }) => Object(metadata?.["import"])["position"] !== undefined,
      );
      expect(others).toEqual([]);
      const { front_matter: front } = Object(first?.metadata?.["import"]);
      expect(front.tags).toEqual(file.startsWith("drinks") ? ["coffee", "brewing"] : undefined);
      expect(first?.content).toBe(readFileSync(join(folder, file), "utf8"));
    }
    const nodes = await engine.queryNodes({ userId, limit: 100 });
    const facts = nodes.filter(({ nodeType }) => nodeType === "fact");
    expect(facts.map(({ content }) => content).sort()).toEqual([
      "Cannot eat hazelnuts",
      "Light roasts have more acidity #beans",
      "Pour over gives more flavour #brewing (every morning)",
      "Works at the harbour since 2019 #work",
    ]);
    const { edges } = await engine.getEdges({ userId });
    const links = edges.filter(({ edgeType }) => edgeType === "relates_to");
    expect(links.map(({ metadata }) => metadata?.["relation_type"] ?? "-").sort()).toEqual([
      "-",
      "relates_to",
    ]);
  });

  test("instructions of assistants come in when they are named", async () => {
    const { engine } = await open();
    const source = join(folderOf(VAULT), "CLAUDE.md");
    const report = await engine.importSource({ source, userId });
    expect(report.records).toMatchObject({ document: { new: 1 } });
  });
});
