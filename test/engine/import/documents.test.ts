import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { useEngines } from "../engines.ts";
import { fileOf, folderOf, OFFICE, pdfOf, zipOf } from "./samples.ts";

setDefaultTimeout(300_000);

const { open } = useEngines();
const userId = "anna";
const OFFICES = Object.fromEntries(
  Object.entries(OFFICE).map(([kind, files]) => [`an.${kind}`, readFileSync(zipOf(files))]),
);

describe("documents", () => {
  test("of PDF come in by page, and a changed page replaces the former one", async () => {
    const { engine } = await open();
    const folder = folderOf({ "lease.pdf": pdfOf("The rent is 900 euros.", "Pets are allowed.") });
    const report = await engine.importSource({ source: folder, userId });
    expect(report.records).toMatchObject({ document: { new: 2 } });
    expect(report.sources).toMatchObject([{ files: 1, conversations: 0 }]);
    const events = await engine.getEvents({ userId, sessionId: "document:lease.pdf" });
    const pets = events.find(({ content }) => content.includes("Pets"));
    expect(pets?.metadata?.["import"]).toMatchObject({ file: "lease.pdf", page: 2 });
    const [node] = (await engine.getEventNodes(pets?.id ?? "", userId)) ?? [];
    expect(node?.sourceType).toBe("external_document");

    writeFileSync(join(folder, "lease.pdf"), pdfOf("The rent is 950 euros."));
    const next = await engine.importSource({ source: folder, userId });
    expect(next).toMatchObject({ records: { document: { changed: 1 } }, retired: 1 });
    const texts = (await engine.queryNodes({ userId })).map(({ content }) => content.trim());
    expect(texts).toEqual(["lease.pdf, page 1:\nThe rent is 950 euros."]);
  });

  test("and those of Office are found by page and by heading, which they keep", async () => {
    const { engine } = await open();
    const pages = [
      "Welcome to the office.",
      "The pension starts at sixty five.",
      "Lunch is at noon.",
    ];
    const section = (name: string, text: string) => `# ${name}\n\n${`${text} `.repeat(40)}\n\n`;
    const garden = section("Tomatoes", "They want a warm wall.") + section("Gravel", "Rake it.");
    const files = { "handbook.pdf": pdfOf(...pages), "garden.md": garden };
    await engine.importSource({ source: folderOf(files), userId });
    for (const [query, says] of [
      ["handbook.pdf page 2", "pension"],
      ["page 3 of handbook.pdf", "Lunch"],
      ["garden.md, Gravel", "Rake it."],
    ] as const) {
      const { results } = await engine.retrieve({ query, userId });
      expect([query, results[0]?.node.content]).toEqual([query, expect.stringContaining(says)]);
    }
    await engine.importSource({ source: folderOf(OFFICES), userId });
    const costs = await engine.retrieve({ query: "Costs", userId });
    expect(costs.results[0]?.node.content).toContain("Rent\t1200");
    const events = await engine.getEvents({ userId });
    for (const [says, about] of [
      ["Lentil soup & bread.", { file: "an.docx" }],
      ["Ship in May", { page: 1, headings: ["Plan"] }],
      ["Rent\t1200", { page: 1, headings: ["Costs"] }],
    ] as const) {
      const event = events.find(({ content }) => content.includes(says));
      expect(event?.metadata?.["import"]).toMatchObject(about);
    }
  });

  test("that cannot be read are named, and the others come in", async () => {
    const { engine } = await open();
    const broken = "%PDF-1.7 and nothing of it";
    const folder = folderOf({ "a.pdf": broken, "b.pdf": pdfOf("Fine."), "c.md": "Also." });
    const report = await engine.importSource({ source: folder, userId });
    expect(report.unreadable).toMatchObject([{ file: "a.pdf", as: "PDF document" }]);
    expect(report.records).toMatchObject({ document: { new: 2 } });
    const alone = engine.importSource({ source: fileOf(broken), userId });
    await expect(alone).rejects.toThrow("it is a PDF document, but");
  });
});
