import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { CHATGPT, fileOf, folderOf, pdfOf } from "../../engine/import/samples.ts";
import { createWordDesk, type Desk } from "./run-svc.ts";

setDefaultTimeout(180_000);

let desk: Desk;
beforeAll(() => {
  desk = createWordDesk();
});
afterAll(() => desk.remove());

test("an export is shown, imported, found, and taken back", async () => {
  await desk.store("a.pack", "ada", "The garden gate is green.");
  const source = fileOf(JSON.stringify(CHATGPT));
  const dry = await desk.run(["import", source, "a.pack", "--dry-run"]);
  expect(dry.stdout).toMatch(/ChatGPT export .* 1 +1 +2023-11-14/);
  expect(dry.stdout).toMatch(/^said +2 +2 /m);
  expect(dry.stderr).toContain("Nothing was written.");
  const done = await desk.run(["import", source, "a.pack", "--format", "json"]);
  const report = JSON.parse(done.stdout);
  expect(report.records.said).toMatchObject({ seen: 2, new: 2 });
  const found = await desk.run(["search", "a.pack", "Where did I move?"]);
  expect(found.stdout).toContain("I moved to Lisbon.");
  const undone = await desk.run([
    "import",
    "--undo",
    report.import_id,
    "a.pack",
    "--format",
    "json",
  ]);
  expect(JSON.parse(undone.stdout)).toMatchObject({ events: 3, memories: 3 });
  const next = await desk.run(["import", source, "a.pack"]);
  expect(next.stderr).toContain("comes in with --again");
});

test("a folder with something that cannot be read imports the rest, and exits with 1", async () => {
  await desk.store("b.pack", "ada", "The garden gate is green.");
  const folder = folderOf({ "lease.pdf": pdfOf("Pets are allowed."), "broken.pdf": "%PDF-1.7" });
  const { code, stdout } = await desk.run(["import", folder, "--db-path", "b.pack"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^broken.pdf +PDF document/m);
  expect((await desk.run(["search", "b.pack", "pets"])).stdout).toContain("Pets are allowed.");
});
