import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Zippable, zipSync } from "fflate";
import { SvcError } from "../../../src/domain/errors.ts";
import { leftOut, NOT_ROOT } from "../../left-out.ts";
import { useEngines } from "../engines.ts";
import {
  CHATGPT,
  CLAUDE_CODE,
  fileOf,
  folderOf,
  GRAPH,
  jsonLines,
  newFolder,
  tree,
  zipOf,
} from "./samples.ts";

setDefaultTimeout(120_000);

const { open } = useEngines();
const userId = "anna";

async function refusal(work: Promise<unknown>): Promise<SvcError> {
  const error = await work.then(() => undefined).catch((reason: unknown) => reason);
  if (!(error instanceof SvcError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

describe("archives", () => {
  test("one that unpacks to more than a hundred times its size is refused before it is unpacked", async () => {
    const { engine } = await open();
    const source = zipOf({ "conversations.json": new Uint8Array(24 * 1024 * 1024) });
    const { code, message } = await refusal(engine.importSource({ source, userId }));
    expect(code).toBe("unsupported_source");
    expect(message).toContain("zip file");
  });

  test("a name that leads out of it is refused", async () => {
    const { engine } = await open();
    const source = zipOf({ "../conversations.json": JSON.stringify(CHATGPT) });
    expect((await refusal(engine.importSource({ source, userId }))).code).toBe(
      "unsupported_source",
    );
  });

  test("a link in it is not followed, and named", async () => {
    const { engine } = await open();
    const attrs = 0o120777 << 16;
    const link = [new TextEncoder().encode("/etc/hostname"), { os: 3, attrs }] as const;
    const files = { "a.json": new TextEncoder().encode(JSON.stringify(CHATGPT)), "b.md": link };
    const source = fileOf(zipSync(files as unknown as Zippable));
    const report = await engine.importSource({ source, userId });
    expect(report.unreadable).toMatchObject([{ file: "b.md", as: "a link" }]);
    expect(report.records["document"]).toBeUndefined();
  });

  test("an entry that unpacks to more than it says is cut off, and named", async () => {
    const { engine } = await open();
    const path = zipOf({ "a.md": "bomb ".repeat(20_000), "b.md": "# Tea\nAnna drinks tea" });
    const bytes = readFileSync(path);
    // The size in the first entry of the list of contents.
    bytes.writeUInt32LE(10, bytes.indexOf("PK\u0001\u0002") + 24);
    writeFileSync(path, bytes);
    const report = await engine.importSource({ source: path, userId });
    expect(report.unreadable).toMatchObject([{ file: "a.md" }]);
    expect(report.records["document"]?.new).toBe(1);
  });

  test("links in folders are not followed, and named", async () => {
    const { engine } = await open();
    const folder = folderOf({ "a.json": JSON.stringify(CHATGPT) });
    symlinkSync(fileOf(JSON.stringify(CHATGPT)), join(folder, "b.json"));
    const report = await engine.importSource({ source: folder, userId });
    expect(report.unreadable).toMatchObject([{ file: "b.json", as: "a link" }]);
    expect(report.records["said"]?.new).toBe(2);
  });
});

describe("a file or folder that cannot be read", () => {
  test("is named, and the others of its archive are imported", async () => {
    const { engine } = await open();
    const noise = Array.from({ length: 400 }, (_, at) => (at * at * 31) % 97).join(" ");
    const path = zipOf({ "a.md": noise, "b.md": "# Tea\nAnna drinks tea in Linz" });
    const bytes = readFileSync(path);
    // Behind the name of the first entry its packed bytes begin.
    bytes.fill(0xff, 34, 120);
    writeFileSync(path, bytes);
    const report = await engine.importSource({ source: path, userId });
    expect(report.unreadable).toMatchObject([{ file: "a.md", as: "a file" }]);
    expect(report.records["document"]?.new).toBe(1);
  });

  const lacking = NOT_ROOT === undefined ? "it takes a user whom rights bind" : undefined;
  test.skipIf(lacking !== undefined)(
    `is named, and the others of its folder are imported${leftOut(lacking)}`,
    async () => {
      const { engine } = await open();
      const folder = folderOf({
        "a/x.md": "# X\nhidden",
        "b.md": "# B\nshut",
        "c.md": "# C\nAnna drinks tea",
      });
      const shut = ["a", "b.md"].map((name) => join(folder, name));
      for (const path of shut) chmodSync(path, 0);
      const report = await engine.importSource({ source: folder, userId });
      for (const path of shut) chmodSync(path, 0o700);
      const why = "it cannot be read (EACCES)";
      expect(report.unreadable).toEqual([
        { file: "a", as: "a folder", why },
        { file: "b.md", as: "a file", why },
      ]);
      expect(report.records["document"]?.new).toBe(1);
    },
  );
});

describe("contents", () => {
  test("a circle of messages ends where it closes", async () => {
    const { engine } = await open();
    const turn = (id: string, parent: string) => ({ id, parent, role: "user", text: `says ${id}` });
    const circle = [tree("c", [turn("a", "b"), turn("b", "a")], { current_node: "a" })];
    const source = fileOf(JSON.stringify(circle));
    const report = await engine.importSource({ source, userId });
    expect(report.records["said"]?.new).toBe(2);
  });

  test("messages without any time have none, and keep their order", async () => {
    const { engine } = await open();
    const turn = (id: string, parent: string | null) => ({
      ...{ id, role: "user", text: `says ${id}`, time: null },
      ...(parent !== null && { parent }),
    });
    const nodes = [turn("a", null), turn("b", "a"), turn("c", "b")];
    const source = fileOf(JSON.stringify([tree("t", nodes, { create_time: null })]));
    const report = await engine.importSource({ source, userId });
    expect(report).toMatchObject({ withoutTime: 3, sources: [{ firstTime: undefined }] });
    const events = await engine.getEvents({ userId });
    const placed = events.map(({ content, eventTime, metadata }) => {
      return [content, eventTime, Object(metadata?.["import"])["position"]];
    });
    expect(placed.sort()).toEqual([
      ["says a", undefined, 1],
      ["says b", undefined, 2],
      ["says c", undefined, 3],
    ]);
  });

  test("a database is read while its program writes it, and nothing beside it changes", async () => {
    const { engine } = await open();
    const folder = newFolder();
    const path = join(folder, "store.db");
    const program = new Database(path);
    program.run(`PRAGMA journal_mode = wal;
      CREATE TABLE memories (content_hash TEXT, content TEXT, created_at REAL);
      INSERT INTO memories VALUES ('a', 'Anna drinks tea', 1767323045.5);
      BEGIN; INSERT INTO memories VALUES ('b', 'not yet', 1767323046.5);`);
    const report = await engine.importSource({ source: path, userId });
    expect(report.records).toMatchObject({ derived: { new: 1 } });
    program.run("COMMIT");
    program.close();
    const before = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]);
    const next = await engine.importSource({ source: path, userId });
    expect(next.records).toMatchObject({ derived: { new: 1, unchanged: 1 } });
    const after = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]);
    expect(after).toEqual(before);
  });

  test("UTF-16 and a byte order mark are read, other encodings are named", async () => {
    const { engine } = await open();
    const text = `\ufeff${jsonLines(...GRAPH)}`;
    const read = await engine.importSource({
      source: fileOf(Buffer.from(text, "utf16le")),
      userId,
    });
    expect(read.records["derived"]?.new).toBe(5);
    const again = await engine.importSource({ source: fileOf(text), userId });
    expect(again.records["derived"]?.unchanged).toBe(5);
    const latin = Buffer.from(JSON.stringify(CHATGPT).replace("Lisbon", "Évora"), "latin1");
    const { message } = await refusal(engine.importSource({ source: fileOf(latin), userId }));
    expect(message).toContain("ChatGPT export");
    expect(message).toContain("utf-8");
  });

  test("a line that is still being written is left to the next import", async () => {
    const { engine } = await open();
    const path = join(newFolder(), "session");
    writeFileSync(path, CLAUDE_CODE.slice(0, CLAUDE_CODE.lastIndexOf("{") - 40));
    const first = await engine.importSource({ source: path, userId });
    expect(first.unreadable).toEqual([]);
    expect(first.leftOut["unfinished last line"]).toBe(1);
    writeFileSync(path, CLAUDE_CODE);
    const second = await engine.importSource({ source: path, userId, tools: true });
    expect(second.records).toMatchObject({ tool: { new: 1 }, said: { unchanged: 1 } });
  });

  test("a file that ends in the middle is named by what it is; what was read stays", async () => {
    const { engine } = await open();
    const whole = JSON.stringify([
      ...CHATGPT,
      tree("c2", [{ id: "x", role: "user", text: "late" }]),
    ]);
    const cut = fileOf(whole.slice(0, -20));
    const { code, message } = await refusal(engine.importSource({ source: cut, userId }));
    expect(code).toBe("unsupported_source");
    expect(message).toContain("it is a ChatGPT export, but it ends in the middle");
    const report = await engine.importSource({ source: fileOf(whole), userId });
    expect(report.records["said"]?.seen).toBe(3);
  });

  test("something of no known kind is named by what it is", async () => {
    const { engine } = await open();
    const source = fileOf(JSON.stringify({ what: "ever" }));
    const { message } = await refusal(engine.importSource({ source, userId }));
    expect(message).toContain("JSON of a program that is not known");
    const other = engine.importSource({
      source: fileOf(JSON.stringify(CHATGPT)),
      userId,
      from: "mem0",
    });
    expect((await refusal(other)).message).toContain("it is not mem0, but: ChatGPT export");
  });
});

describe("the memory", () => {
  test("two imports at once leave everything once", async () => {
    const { engine, pack } = await open();
    const other = await open({ pack });
    const files = [fileOf(jsonLines(...GRAPH)), fileOf(JSON.stringify(CHATGPT))];
    const runs = files.flatMap((source) =>
      [engine, other.engine].map((one) => one.importSource({ source, userId })),
    );
    const reports = await Promise.all(runs);
    const made = reports.flatMap(({ records }) => Object.values(records));
    expect(made.reduce((sum, tally) => sum + tally.new, 0)).toBe(8);
    expect((await engine.storeCounts(userId)).events).toBe(8);
  });

  test("what was forgotten does not come back, by its id or by its text, unless it is asked for", async () => {
    const { engine } = await open();
    const sources = [fileOf(JSON.stringify(CHATGPT)), fileOf(jsonLines(...GRAPH))];
    for (const source of sources) await engine.importSource({ source, userId });
    for (const containing of ["Lisbon.", "lives_in"]) {
      const asked = { userId, containing };
      const { confirm } = await engine.forget(asked);
      await engine.forget({ ...asked, mode: "erase", confirm });
    }
    const reports = [];
    for (const source of sources) reports.push(await engine.importSource({ source, userId }));
    expect(reports[0]?.records).toMatchObject({ said: { forgotten: 1, new: 0, unchanged: 1 } });
    expect(reports[1]?.records).toMatchObject({ derived: { forgotten: 1, new: 0, unchanged: 4 } });
    const texts = (await engine.queryNodes({ userId })).map(({ content }) => content);
    expect(texts).not.toContain("I moved to Lisbon.");
    expect(texts).not.toContain("Anna lives_in Porto");

    const again = await engine.importSource({ source: sources[0] ?? "", userId, again: true });
    expect(again.records).toMatchObject({ said: { changed: 1 } });
  });

  test("an import is taken back as a whole, and what it replaced holds again", async () => {
    const { engine } = await open();
    await engine.importSource({ source: fileOf(JSON.stringify(CHATGPT)), userId });
    const next = JSON.stringify(CHATGPT).replace("My cat is Momo.", "My cat is Nina.");
    const { importId } = await engine.importSource({ source: fileOf(next), userId });
    const undone = await engine.undoImport(userId, importId ?? "");
    expect(undone).toMatchObject({ events: 1, restored: 1 });
    const texts = (await engine.queryNodes({ userId })).map(({ content }) => content);
    expect(texts).toContain("My cat is Momo.");
    expect(texts).not.toContain("My cat is Nina.");
    expect((await refusal(engine.undoImport("bob", importId ?? ""))).code).toBe("not_found");
  });

  test("secrets and what is private are taken out before anything is written", async () => {
    const { engine } = await open();
    const key = `ghp_${"a1B2c3D4e5".repeat(4)}`;
    const text = `Here it is: ${key}. <private>I am shy.</private> Bye.`;
    const source = fileOf(JSON.stringify([tree("c", [{ id: "u", role: "user", text }])]));
    const report = await engine.importSource({ source, userId });
    expect(report.secrets).toEqual({ github: 1 });
    const [event] = await engine.getEvents({ userId });
    expect(event?.content).toBe("Here it is: [secret:github].  Bye.");
    const again = await engine.importSource({ source, userId });
    expect(again.records["said"]?.unchanged).toBe(1);
  });

  test("secrets are taken out of titles, too, and of what is kept of a record besides its text", async () => {
    const { engine } = await open();
    const key = `ghp_${"a1B2c3D4e5".repeat(4)}`;
    const chats = [
      tree("c", [{ id: "u", role: "user", text: "Hello" }], { title: key, plan: key }),
    ];
    const graph = [{ type: "relation", from: "A", to: "B", relationType: "knows", note: key }];
    for (const text of [JSON.stringify(chats), jsonLines(...graph)]) {
      const report = await engine.importSource({ source: fileOf(text), userId, sample: 5 });
      expect(report.secrets["github"]).toBeGreaterThan(0);
      expect(JSON.stringify(report.samples)).not.toContain(key);
    }
    const kept = [await engine.getEvents({ userId }), await engine.queryNodes({ userId })];
    expect(JSON.stringify([kept, await engine.getEdges({ userId })])).not.toContain(key);
  });

  test("what was taken back counts no more", async () => {
    const { engine } = await open();
    const { importId } = await engine.importSource({
      ...{ source: fileOf(JSON.stringify(CHATGPT)), userId },
    });
    expect((await engine.storeCounts(userId)).events).toBe(3);
    await engine.undoImport(userId, importId ?? "");
    expect((await engine.storeCounts(userId)).events).toBe(0);
    expect(await engine.stats()).toMatchObject({ eventCount: 0, nodeCount: 0 });
  });

  test("an import that was stopped goes on", async () => {
    const { engine } = await open();
    const many = Array.from({ length: 1200 }, (_, at) =>
      tree(`c${at}`, [
        { id: `m${at}`, role: "user", text: `note ${at}`, time: 1_700_000_000 + at },
      ]),
    );
    const source = fileOf(JSON.stringify(many));
    const stop = new AbortController();
    const cut = engine.importSource({
      ...{ source, userId, signal: stop.signal },
      onProgress: (stage) => stage === "words" && stop.abort(new Error("enough")),
    });
    await expect(cut).rejects.toThrow("enough");
    const report = await engine.importSource({ source, userId });
    const { seen = 0, unchanged = 0 } = report.records["said"] ?? {};
    expect([seen, unchanged]).toEqual([1200, 1200]);
    // Their jobs write the words of what was admitted before.
    while ((await engine.processPending({ userId, budgetMs: 60_000 })).pending > 0);
    const found = await engine.retrieve({ query: "note 1199", userId });
    expect(found.results[0]?.node.content).toBe("note 1199");
  });
});
