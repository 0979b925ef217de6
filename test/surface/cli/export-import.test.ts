import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEWEST_DEVELOPMENT } from "../../../src/adapters/sqlite/transfer/export-records.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { CHATGPT, fileOf, folderOf, pdfOf } from "../../engine/import/samples.ts";
import { makeFormerPack } from "../../fault/former-pack.ts";
import { outcomesOf } from "./many-commands.ts";
import { createWordDesk, type Desk, SYSTEM_USER } from "./run-svc.ts";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

const TEXTS = [
  "The spare key lies under the blue flower pot",
  "Anna is allergic to peanuts",
  "Der Zug nach Zürich fährt um 9:15 ab",
  "東京タワーに行きました",
  "The spare tyre is in the boot",
];
const QUESTIONS = ["how do I get in?", "spare Zürich"];
const ENCRYPTED = {
  SVC_ENCRYPTION_ENABLED: "true",
  SVC_ENCRYPTION_KEY: `raw_key:${Buffer.alloc(32, 5).toString("base64url")}`,
};

let desk: Desk;
/** What the exported pack answers. */
let expected: readonly unknown[] = [];
const at = (...parts: string[]): string => join(desk.folder, ...parts);
beforeAll(async () => {
  desk = createWordDesk();
  await desk.run(["init", "a.pack"]);
  const engine = await desk.engine("a.pack");
  for (const content of TEXTS) {
    await engine.store({ content, userId: SYSTEM_USER, metadata: { a: [1.5] } });
  }
  await engine.close();
  // Before the exports, so that these hold the receipts of the answers.
  expected = await answers("a.pack");
  await desk.run(["export", "a.pack", "--output", "a.jsonl"]);
  await desk.run(["export", "a.pack", "--output", "vectors.jsonl", "--with-vectors"]);
});
afterAll(() => desk.remove());

/** The answers of a pack to all questions, scores included. */
async function answers(pack: string, env = {}): Promise<readonly unknown[]> {
  const engine = await desk.engine(pack, env);
  const found = [];
  for (const query of QUESTIONS) {
    const { results, bundle } = await engine.retrieve({ query, userId: SYSTEM_USER });
    expect(results.length).toBeGreaterThan(0);
    found.push({ results, context: bundle.renderedContext });
  }
  await engine.close();
  return found;
}

/** The export without its first line, whose times differ, and its last, whose hash covers the first. */
function records(text: string): readonly string[] {
  return text.split("\n").slice(1, -2);
}

/** Every name below the desk. */
function names(): readonly string[] {
  return readdirSync(desk.folder, { recursive: true, encoding: "utf8" }).sort();
}

describe("an export", () => {
  test.each([
    { name: "a pack", pack: "one.pack", file: "a.jsonl", embedded: 5, env: {} },
    { name: "a directory pack", pack: "three", file: "a.jsonl", embedded: 5, env: {} },
    {
      name: "an encrypted folder",
      pack: "five",
      file: "vectors.jsonl",
      embedded: 0,
      env: ENCRYPTED,
    },
  ])("becomes $name that gives the same export and the same answers", async (given) => {
    const { pack, file, embedded, env } = given;
    const outcome = await desk.run(["import", file, pack, "--format", "json"], { env });
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      receipt_count: QUESTIONS.length,
      event_count: 5,
      node_count: 5,
      nodes_embedded: embedded,
    });
    const again = await desk.run(["export", pack, "--with-vectors"], { env });
    expect(again).toMatchObject({ code: 0, stderr: "" });
    const original = records(readFileSync(at("vectors.jsonl"), "utf8"));
    const isVector = (line: string): boolean => line.startsWith('{"record":"vector"');
    expect(records(again.stdout).filter((line) => !isVector(line))).toEqual(
      original.filter((line) => !isVector(line)),
    );
    expect(await answers(pack, env)).toEqual(expected);
    const doctor = await desk.run(["doctor", pack, "--format", "json"], { env });
    const { checks }: { checks: { name: string; status: string }[] } = JSON.parse(doctor.stdout);
    // A key that is known from the environment alone is worth a warning of its own.
    expect(checks.filter(({ name, status }) => status !== "ok" && name !== "key")).toEqual([]);
    expect(names().filter((name) => /-wal|-shm|\.import|\.export/.test(name))).toEqual([]);
  });

  test("without the pictures that its events name is imported, and says which are missing", async () => {
    await desk.run(["init", "seen.pack", "--plain"]);
    const engine = await desk.engine("seen.pack");
    const metadata = { modality: "photo", source_file: "a.jpg", thumbnail: "frames/0a.jpg" };
    await engine.store({ content: "A lake", userId: SYSTEM_USER, metadata });
    await engine.close();
    await desk.run(["export", "seen.pack", "--output", "seen.jsonl"]);
    const args = ["import", "seen.jsonl", "unseen.pack", "--plain", "--format", "json"];
    const { code, stdout, stderr } = await desk.run(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ node_count: 1, missing_picture_count: 1 });
    expect(stderr).toBe(
      "Warning: 1 picture that events name is not in the export, the first frames/0a.jpg; everything else was imported. If they matter, export the pack again with: svc export\n",
    );
  });

  test("goes to standard output and comes from standard input", async () => {
    const { stdout } = await desk.run(["export", "a.pack", "--with-vectors"]);
    expect(records(stdout)).toEqual(records(readFileSync(at("vectors.jsonl"), "utf8")));
    const outcome = await desk.run(["import", "-", "piped.pack"], { stdin: stdout });
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
  });

  test("is a file for its owner alone, and never replaces another unasked", async () => {
    expect(statSync(at("a.jsonl")).mode & 0o777).toBe(0o600);
    const before = readFileSync(at("a.jsonl"), "utf8");
    const refused = await desk.run(["export", "a.pack", "--output", "a.jsonl", "--with-vectors"]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("--force");
    expect(readFileSync(at("a.jsonl"), "utf8")).toBe(before);
    const forced = await desk.run(["export", "a.pack", "--output", "a.jsonl", "--force"]);
    expect(forced.code).toBe(0);
    expect(records(readFileSync(at("a.jsonl"), "utf8"))).toEqual(records(before));
  });

  test("as JSON is one value with nodes, edges and events", async () => {
    const { stdout, code } = await desk.run(["export", "a.pack", "--format", "json"]);
    expect(code).toBe(0);
    const value = JSON.parse(stdout);
    expect(Object.keys(value)).toEqual([
      "exported_at",
      "db_path",
      "node_count",
      "edge_count",
      "event_count",
      "nodes",
      "edges",
      "events",
    ]);
    expect(value).toMatchObject({ db_path: at("a.pack"), node_count: 5, event_count: 5 });
    expect(value.nodes.map(({ content }: { content: string }) => content)).toEqual(TEXTS);
    expect(Object.keys(value.nodes[0])).toHaveLength(20);
    expect(Object.keys(value.events[0])).toEqual([
      "id",
      "user_id",
      "role",
      "content",
      "timestamp",
      "scope",
    ]);
  });
});

const REFUSALS: readonly { args: readonly string[]; code: number; says: string }[] = [
  { args: ["export", "missing.pack"], code: 1, says: "no such pack" },
  { args: ["export", "a.pack", "--output", "a.pack", "--force"], code: 2, says: "pack itself" },
  ...["-wal", "-shm", "-journal"].map((end) => ({
    ...{ args: ["export", "a.pack", "--output", `a.pack${end}`, "--force"], code: 2, says: "" },
  })),
  { args: ["backup", "a.pack", "a.pack-wal"], code: 2, says: "" },
  { args: ["export", "a.pack", "--output", "/dev/null", "--force"], code: 2, says: "regular file" },
  { args: ["export", "a.pack", "--output", "no/such/x.jsonl"], code: 2, says: "is no folder" },
  { args: ["export", "a.pack", "--format", "json", "--with-vectors"], code: 2, says: "jsonl only" },
  { args: ["export", "a.pack", "--format", "table"], code: 2, says: "Allowed choices" },
  { args: ["import", "a.jsonl"], code: 2, says: "missing required argument" },
  { args: ["import", "missing.jsonl", "new.pack"], code: 1, says: "no such file" },
  { args: ["import", "a.jsonl", "a.pack"], code: 2, says: "exists already" },
  { args: ["import", "a.jsonl", "full"], code: 2, says: "has other things in it" },
  { args: ["import", "cut.jsonl", "new.pack"], code: 1, says: "cut.jsonl, line 9: " },
  { args: ["import", "cut.jsonl", "new"], code: 1, says: "cut.jsonl, line 9: " },
  { args: ["import", "garbled.jsonl", "new.pack"], code: 1, says: "garbled.jsonl, line 4: " },
  { args: ["import", "newer.jsonl", "new.pack"], code: 1, says: "newer svc" },
  { args: ["import", "foreign.jsonl", "new.pack"], code: 1, says: "line 1: it is not the first" },
  { args: ["import", "empty.jsonl", "new.pack"], code: 1, says: "the file is empty" },
  { args: ["import", "a.pack", "new.pack"], code: 1, says: "a.pack, line 1: " },
];

test("what cannot be done is refused for its reason, and changes nothing", async () => {
  const lines = readFileSync(at("a.jsonl"), "utf8").split("\n");
  mkdirSync(at("full"), { recursive: true });
  writeFileSync(at("full", "note.txt"), "mine");
  writeFileSync(at("cut.jsonl"), `${lines.slice(0, 8).join("\n")}\n${lines[8]?.slice(0, 40)}`);
  writeFileSync(at("garbled.jsonl"), lines.with(3, "#".repeat(80)).join("\n"));
  const version = `"format_version":${NEWEST_DEVELOPMENT + 1}`;
  const newer = lines[0]?.replace('"format_version":1', version) ?? "";
  writeFileSync(at("newer.jsonl"), lines.with(0, newer).join("\n"));
  writeFileSync(at("foreign.jsonl"), '{"nodes":[]}\n');
  writeFileSync(at("empty.jsonl"), "");
  const before = [names(), sha256Hex(readFileSync(at("a.pack"), "latin1"))];
  const outcomes = await outcomesOf(desk.folder, REFUSALS);
  for (const [index, { args, code, says }] of REFUSALS.entries()) {
    expect({ args, ...outcomes[index] }).toMatchObject({
      ...{ args, code, stdout: "", stderr: expect.stringContaining(says) },
    });
    expect(outcomes[index]?.stderr).not.toMatch(/^\s+at |Anna|spare/m);
  }
  expect([names(), sha256Hex(readFileSync(at("a.pack"), "latin1"))]).toEqual(before);
});

describe("Ctrl-C", () => {
  test("during an import leaves nothing", async () => {
    const before = names();
    const importing = desk.start(["import", "-", "never.pack"]);
    importing.stdin.write(readFileSync(at("a.jsonl"), "utf8").split("\n").slice(0, 3).join("\n"));
    await importing.stdin.flush();
    while (!names().some((name) => name.endsWith(".import"))) await Bun.sleep(10);
    importing.kill("SIGINT");
    expect(await importing.exited).toBe(130);
    expect(await new Response(importing.stderr).text()).toBe(
      "Interrupted; nothing was imported.\n",
    );
    expect(names()).toEqual(before);
  });

  test("during an export leaves nothing", async () => {
    await makeFormerPack(at("large.pack"), 1000);
    const before = names();
    const exporting = desk.start([
      "export",
      "large.pack",
      "--output",
      "large.jsonl",
      "--with-vectors",
    ]);
    while (!names().some((name) => name.endsWith(".export"))) await Bun.sleep(1);
    exporting.kill("SIGINT");
    expect(await exporting.exited).toBe(130);
    expect(names().filter((name) => !/-wal|-shm/.test(name))).toEqual([...before]);
  });
});

/** Damages every page of a pack that holds a text. */
function damage(pack: string, text: string): void {
  const bytes = readFileSync(at(pack));
  const page = bytes.readUInt16BE(16);
  for (let found = bytes.indexOf(text); found !== -1; ) {
    const start = found - (found % page);
    bytes.fill(0xff, start, start + 8);
    found = bytes.indexOf(text, start + page);
  }
  writeFileSync(at(pack), bytes);
}

test("what a damaged pack still has is taken out and makes a new one", async () => {
  await desk.run(["init", "hurt.pack", "--plain", "--owner", "anna"]);
  const engine = await desk.engine("hurt.pack");
  const items = Array.from({ length: 120 }, (_, at) => ({
    content: `Memory ${at} is about ${"something rather long, ".repeat(12)}${at}.`,
  }));
  await engine.ingestFastMany({ userId: "anna", items });
  while ((await engine.processPending()).pending > 0);
  await engine.close();
  damage("hurt.pack", "Memory 60 is");
  expect(await desk.run(["export", "hurt.pack", "--output", "hurt.jsonl"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("damaged"),
  });
  const saved = await desk.run(["export", "hurt.pack", "--salvage", "--output", "rest.jsonl"]);
  expect(saved.code).toBe(0);
  const [, kept, lost] = /^(\d+) memories; at most (\d+) cannot/m.exec(saved.stderr) ?? [];
  expect(Number(kept)).toBeGreaterThan(60);
  expect(Number(kept) + Number(lost)).toBe(120);
  expect((await desk.run(["import", "rest.jsonl", "saved.pack", "--plain"])).code).toBe(0);
  const listed = await desk.run(["list", "saved.pack", "--limit", "200", "--format", "json"]);
  const texts: readonly string[] = JSON.parse(listed.stdout).nodes.map(
    ({ content }: { content: string }) => content,
  );
  expect(texts.length).toBeGreaterThanOrEqual(Number(kept));
  for (const far of [0, 1, 118, 119]) expect(texts).toContain(items[far]?.content ?? "");
  expect((await desk.run(["doctor", "saved.pack"])).stdout).toContain("[OK]   integrity");
});

test("the export of another program is shown, imported, found, and taken back", async () => {
  await desk.store("chat.pack", "ada", "The garden gate is green.");
  const source = fileOf(JSON.stringify(CHATGPT));
  const dry = await desk.run(["import", source, "chat.pack", "--dry-run"]);
  expect(dry.stdout).toMatch(/ChatGPT export .* 1 +1 +2023-11-14/);
  expect(dry.stdout).toMatch(/^said +2 +2 /m);
  expect(dry.stderr).toContain("Nothing was written.");
  const done = await desk.run(["import", source, "chat.pack", "--format", "json"]);
  const report = JSON.parse(done.stdout);
  expect(report.records.said).toMatchObject({ seen: 2, new: 2 });
  const found = await desk.run(["search", "chat.pack", "Where did I move?"]);
  expect(found.stdout).toContain("I moved to Lisbon.");
  const undone = await desk.run([
    "import",
    "--undo",
    report.import_id,
    "chat.pack",
    "--format",
    "json",
  ]);
  expect(JSON.parse(undone.stdout)).toMatchObject({ events: 3, memories: 3 });
  const next = await desk.run(["import", source, "chat.pack"]);
  expect(next.stderr).toContain("comes in with --again");
});

test("a folder with something that cannot be read imports the rest, and exits with 1", async () => {
  await desk.store("notes.pack", "ada", "The garden gate is green.");
  const folder = folderOf({ "lease.pdf": pdfOf("Pets are allowed."), "broken.pdf": "%PDF-1.7" });
  const { code, stdout } = await desk.run(["import", folder, "--db-path", "notes.pack"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^broken.pdf +PDF document/m);
  expect((await desk.run(["search", "notes.pack", "pets"])).stdout).toContain("Pets are allowed.");
});
