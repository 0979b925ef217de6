import { afterAll, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { type HookPlace, runHook } from "../../src/capture/hook.ts";
import { ownNotes } from "../../src/capture/own-folders.ts";
import { joinProjects, listProjects, renameProject } from "../../src/capture/projects.ts";
import { type RecallRequest, recall } from "../../src/capture/recall.ts";
import { hookService, storeTurn } from "../../src/capture/receive.ts";
import { sweep } from "../../src/capture/sweep.ts";
import type { Turn } from "../../src/capture/turn.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import { recallFrom } from "../../src/process/hook-words.ts";
import { failure } from "../adapters/sqlite/folder.ts";
import { createDesk, type Desk } from "../surface/cli/run-svc.ts";

let desk: Desk;
let engine: MemoryEngine;
const HERE = { id: "0123456789abcdef", name: "site" };
const ELSEWHERE = { id: "fedcba9876543210", name: "shop" };

const before = process.env["XDG_CONFIG_HOME"];

beforeAll(async () => {
  desk = createDesk();
  // Where what a person decides about projects is kept.
  process.env["XDG_CONFIG_HOME"] = join(desk.folder, ".config");
  await desk.run(["init", "a.pack"]);
  engine = await desk.engine("a.pack");
  await engine.usePackOwner("anna", "test");
});
afterAll(async () => {
  await engine.close();
  desk.remove();
  if (before === undefined) delete process.env["XDG_CONFIG_HOME"];
  else process.env["XDG_CONFIG_HOME"] = before;
});

const ask = (question: string | undefined, more: Partial<RecallRequest> = {}) =>
  recall(engine, {
    ...{ question, user: undefined, project: HERE, seen: [], tokensLeft: 4000 },
    ...{ client: "claude-code", session: "now", ...more },
  });

let count = 0;
function turn(text: string, more: Partial<Turn> = {}): Turn {
  count += 1;
  const id = `00000000-0000-8000-8000-${String(count).padStart(12, "0")}` as Turn["id"];
  return {
    ...{ id, client: "claude-code", session: "s", role: "user", text, project: undefined },
    ...{ at: "2026-01-02T03:04:05.000Z", user: undefined, secrets: {}, ...more },
  };
}

test("a turn is stored once, and what was forgotten stays so", async () => {
  const said = turn("My locker is number 4711 in the basement");
  expect(await storeTurn(engine, said)).toBe("stored");
  await storeTurn(engine, said);
  expect(await storeTurn(engine, { ...said, at: "2026-02-02T00:00:00.000Z" })).toBe("known");
  const { events } = await engine.listEvents({ userId: "anna" });
  expect(events).toHaveLength(1);
  const ids = events.map(({ id }) => id);
  const { confirm } = await engine.forget({ userId: "anna", ids });
  await engine.forget({ userId: "anna", ids, mode: "erase", confirm });
  expect(await storeTurn(engine, said)).toBe("forgotten");
});

test("a prompt is answered by what it asks for, with age and kind, once, and without its markup", async () => {
  await engine.store({
    ...{ content: "Anna drinks <b>green</b> tea in the morning", userId: "anna" },
    ...{ nodeType: "preference" as const, eventTime: "2026-01-01T00:00:00Z" },
  });
  const { block = "", ids, tokens } = await ask("What does Anna drink in the morning?");
  expect(block).toMatch(
    /^<svc-memory note="[^"]+">\n- \(preference, .+ ago, user\) Anna drinks &lt;b&gt;green&lt;\/b&gt; tea in the morning \[m:[0-9a-f]{12}\]\n<\/svc-memory>$/,
  );
  expect(tokens).toBeLessThanOrEqual(400);
  const [last] = (await engine.listRetrievals({ userId: "anna" })).retrievals;
  expect(await engine.explain(last?.requestId ?? "", "anna")).toBeDefined();
  expect(await ask("What does Anna drink in the morning?", { seen: ids })).toMatchObject({
    block: undefined,
  });
  expect(await ask("What does Anna drink?", { tokensLeft: 20 })).toMatchObject({ ids: [] });
});

test("a start shows what stands, of this project alone, and no answers of the assistant", async () => {
  await storeTurn(engine, turn("The site is deployed on Tuesdays", { project: HERE }));
  await storeTurn(engine, turn("The shop sells garden gnomes", { project: ELSEWHERE }));
  await storeTurn(engine, turn("I have deployed the site", { project: HERE, role: "assistant" }));
  await engine.processPending({ userId: "anna", budgetMs: 60_000 });
  await engine.store({ userId: "anna", content: "Never book me anything before 9:30." });
  const { block = "", tokens } = await ask(undefined);
  expect(block).toContain("Never book me anything before 9:30.");
  expect(block).toContain("deployed on Tuesdays");
  expect(block).toContain("green");
  expect(block).not.toContain("gnomes");
  expect(block).not.toContain("I have deployed");
  expect(tokens).toBeLessThanOrEqual(800);
  expect((await ask("What does the shop sell?")).block ?? "").not.toContain("gnomes");
  const there = await ask("What does the shop sell?", { project: ELSEWHERE });
  expect(there.block).toContain("gnomes");
});

test("projects can be joined, renamed and forgotten", async () => {
  const known = () => listProjects(engine, "anna");
  const [site, shop] = (await known()).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  expect([site, shop].map((project) => project?.nodes.length)).toEqual([2, 1]);
  joinProjects(ELSEWHERE, HERE);
  renameProject(HERE, "garden");
  expect(await known()).toMatchObject([{ id: HERE.id, name: "garden", nodes: [{}, {}, {}] }]);
  expect((await ask("What does the shop sell?")).block).toContain("gnomes");
});

test("a sweep stores what a transcript says and no hook delivered, once, and only final answers", async () => {
  const at = join(desk.folder, ".claude/projects/-w");
  mkdirSync(at, { recursive: true });
  const line = (type: string, uuid: string, text: string, more = {}) =>
    JSON.stringify({
      ...{ type, uuid, parentUuid: null, sessionId: "t1", timestamp: "2026-03-01T10:00:00.000Z" },
      ...{ cwd: "/nowhere", message: { role: type, content: text }, ...more },
    });
  const file = join(at, "t1.jsonl");
  const lines = [
    line("user", "1", "Our mascot is a blue heron"),
    line("assistant", "2", "Let me look for it first"),
    line("assistant", "3", "I wrote down the blue heron"),
    line("user", "4", "A subagent says this here", { isSidechain: true }),
    line("user", "5", "/clear the whole session"),
  ];
  writeFileSync(file, `${lines.join("\n")}\n{"half": `);
  const options = { home: desk.folder, user: "anna", clients: ["claude-code"], since: undefined };
  // It may still be written to.
  expect(await sweep(engine, options)).toMatchObject({ files: 0 });
  utimesSync(file, 1e9, 1e9);
  expect(await sweep(engine, options)).toMatchObject({ files: 1, stored: 2 });
  expect(await engine.processPending({ userId: "anna" })).toMatchObject({ processed: 0 });
  utimesSync(file, 1e9 + 1, 1e9 + 1);
  await sweep(engine, options);
  const texts = async (sessionId: string) =>
    (await engine.listEvents({ userId: "anna", sessionId })).events.map(({ content }) => content);
  const both = ["I wrote down the blue heron", "Our mascot is a blue heron"];
  expect((await texts("t1")).sort()).toEqual(both);
  // An import of the same transcript has more answers, and stores no words again.
  const imported = await engine.importSource({ userId: "anna", source: file });
  expect(imported.records).toMatchObject({ said: { unchanged: 1 }, answer: { unchanged: 1 } });
  const all = await texts("t1");
  expect(new Set(all).size).toBe(all.length);
  // Nor what was captured and has been forgotten since.
  const { events } = await engine.listEvents({ userId: "anna", sessionId: "t1" });
  const ids = events.filter(({ content }) => content === both[1]).map(({ id }) => id);
  const { confirm } = await engine.forget({ userId: "anna", ids });
  await engine.forget({ userId: "anna", ids, mode: "erase", confirm });
  const later = await engine.importSource({ userId: "anna", source: file });
  expect(later.records).toMatchObject({ said: { forgotten: 1 }, answer: { unchanged: 2 } });
  // And the other way round.
  const other = join(at, "t2.jsonl");
  writeFileSync(other, lines.slice(0, 1).join("\n").replaceAll('"t1"', '"t2"'));
  await engine.importSource({ userId: "anna", source: other });
  utimesSync(other, 1e9, 1e9);
  expect(await sweep(engine, options)).toMatchObject({ files: 1, stored: 0, known: 1 });
  expect(await texts("t2")).toEqual(["Our mascot is a blue heron"]);
});

test("a sweep follows the variable that moves a folder, and reads nothing for a pack of several owners until one is named", async () => {
  const desk = createDesk();
  try {
    const two = await desk.engine("two.pack", { SVC_ENCRYPTION_ENABLED: "false" });
    for (const userId of ["anna", "tom"]) await two.ingestFast({ content: "I sing", userId });
    await two.close();
    const moved = join(desk.folder, "moved");
    mkdirSync(join(moved, "projects/-w"), { recursive: true });
    const file = join(moved, "projects/-w/m1.jsonl");
    const message = { role: "user", content: "Our boat is called Ottilie" };
    const said = { type: "user", uuid: "1", parentUuid: null, sessionId: "m1", message };
    const when = { timestamp: "2026-03-01T10:00:00.000Z", cwd: "/nowhere" };
    writeFileSync(file, `${JSON.stringify({ ...said, ...when })}\n`);
    utimesSync(file, 1e9, 1e9);
    const sweeping = async (...more: string[]) =>
      await desk.run(
        ["capture", "sweep", "two.pack", "--client", "claude-code", "--format", "json", ...more],
        { env: { CLAUDE_CONFIG_DIR: moved } },
      );
    const unnamed = await sweeping();
    expect(unnamed.code).toBe(2);
    expect(unnamed.stderr).toContain("--user-id");
    const named = await sweeping("--user-id", "tom");
    expect(JSON.parse(named.stdout)).toMatchObject({ files: 1, stored: 1 });
  } finally {
    desk.remove();
  }
});

test("a sweep reads again what could not be stored, and goes on where a file or a text is refused", async () => {
  const at = join(desk.folder, "later/.claude/projects/-w");
  mkdirSync(at, { recursive: true });
  const files = ["l1", "l2"].map((sessionId) => {
    const said = (uuid: string, content: string) =>
      JSON.stringify({
        ...{ type: "user", uuid, parentUuid: null, sessionId, message: { role: "user", content } },
        ...{ timestamp: "2026-03-01T10:00:00.000Z", cwd: "/nowhere" },
      });
    const file = join(at, `${sessionId}.jsonl`);
    writeFileSync(
      file,
      `${said("1", "The refused lamp is red")}\n${said("2", "The lamp is blue")}\n`,
    );
    utimesSync(file, 1e9, 1e9);
    return file;
  });
  const home = join(desk.folder, "later");
  const options = { home, user: "anna", clients: ["claude-code"], since: undefined };
  const storing = (ingestFastMany: MemoryEngine["ingestFastMany"]): MemoryEngine =>
    Object.assign(Object.create(engine), { ingestFastMany });
  const full = storing(async () => {
    throw new SvcError("disk_full", "the disk is full");
  });
  expect(await failure(sweep(full, options))).toMatchObject({ code: "disk_full" });
  // Its program takes transcripts away while they are swept.
  const choosy = storing(async (batch) => {
    for (const file of files) rmSync(file, { force: true });
    if (/refused/.test(JSON.stringify(batch))) throw new SvcError("invalid_argument", "no");
    return await engine.ingestFastMany(batch);
  });
  expect(await sweep(choosy, options)).toEqual({ files: 1, stored: 1, known: 0, leftOut: 1 });
});

test("a prompt that needs no memory gets none, and a question that was asked before answers none", async () => {
  await storeTurn(engine, turn("Which port does the staging database use?"));
  await engine.processPending({ userId: "anna", budgetMs: 60_000 });
  expect(await ask("Which port does the staging database use?")).toMatchObject({ ids: [] });
  expect(await ask("Please write a function that reverses a string")).toMatchObject({ ids: [] });
});

test("the process that has the pack open answers a hook: what became of the turn, then the block", async () => {
  const address = join(desk.folder, "s");
  const serve = hookService(async () => engine, join(desk.folder, "a.pack"));
  const server = createServer((socket) => {
    serve(socket).catch(() => socket.destroy());
  }).listen(address);
  await once(server, "listening");
  const place: HookPlace = {
    mainFile: join(desk.folder, "a.pack"),
    user: undefined,
    ask: async (request, answered) => {
      const socket = createConnection(address);
      socket.write(`${JSON.stringify(request)}\n`);
      const lines = (await new Response(Readable.toWeb(socket)).text()).split("\n");
      for (const line of lines.filter(Boolean)) answered(JSON.parse(line));
      return true;
    },
  };
  const prompt = (session: string, text: string) =>
    runHook(
      JSON.stringify({
        ...{ session_id: session, transcript_path: "/t.jsonl", cwd: desk.folder },
        ...{ hook_event_name: "UserPromptSubmit", prompt: text },
      }),
      ...(["claude-code", async () => place, 60_000] as const),
    );
  try {
    const answer = await prompt("h1", "What does Anna drink in the morning?");
    const { hookSpecificOutput: output } = JSON.parse(answer);
    expect(output.hookEventName).toBe("UserPromptSubmit");
    expect(output.additionalContext).toContain("tea in the morning");
    expect(await prompt("h1", "Tell me what Anna drinks in the morning")).toBe("");
    const { events } = await engine.listEvents({ userId: "anna", sessionId: "h1" });
    expect(events).toHaveLength(2);
  } finally {
    server.close();
  }
});

test("where no process serves the pack, a prompt is answered by its words, from the pack as it is", async () => {
  const path = join(desk.folder, "alone.pack");
  await desk.run(["init", path]);
  for (const said of ["The staging database listens on port 5433", "The cat is called Miro"]) {
    await desk.run(["store", path, said]);
  }
  const before = readFileSync(path);
  const place: HookPlace = {
    ...{ mainFile: path, user: undefined, ask: async () => false },
    search: (request) => recallFrom(path, request),
  };
  const prompt = (session: string, text: string, deadline = 60_000) =>
    runHook(
      JSON.stringify({
        ...{ session_id: session, transcript_path: "/t.jsonl", cwd: desk.folder },
        ...{ hook_event_name: "UserPromptSubmit", prompt: text },
      }),
      ...(["claude-code", async () => place, deadline] as const),
    );
  const asked = "Which port does the staging database listen on?";
  expect(await prompt("w0", asked, 0)).toBe("");
  expect(await prompt("w1", asked)).toContain("port 5433");
  expect(await prompt("w1", asked)).toBe("");
  expect(await prompt("w2", "Please write a function that reverses a string")).toBe("");
  expect(readFileSync(path).equals(before)).toBeTrue();
  const request = { question: asked, user: undefined, project: undefined, session: "w3", seen: [] };
  const all = { ...request, tokensLeft: 4000, client: "claude-code" };
  expect(await recallFrom(path, { ...all, user: "somebody else" })).toMatchObject({ ids: [] });
  rmSync(join(desk.folder, ".config/svc/keys"), { recursive: true });
  expect(await recallFrom(path, all).catch(({ code }) => code)).toBe("encryption_failed");
});

test("the start of a session begins a sweep, one in an hour; a prompt and a trial begin none", async () => {
  let sweeps = 0;
  const place: HookPlace = {
    ...{ mainFile: join(desk.folder, "a.pack"), user: undefined, ask: async () => false },
    sweep: () => {
      sweeps += 1;
    },
  };
  const hear = (event: string, session: string) => {
    const common = { session_id: session, transcript_path: "/t.jsonl", cwd: desk.folder };
    const payload = JSON.stringify({ ...common, hook_event_name: event, source: "startup" });
    return runHook(payload, "claude-code", async () => place);
  };
  await hear("SessionStart", "svc-trial");
  await hear("UserPromptSubmit", "b1");
  expect(sweeps).toBe(0);
  await Promise.all([hear("SessionStart", "b1"), hear("SessionStart", "b2")]);
  expect(sweeps).toBe(1);
});

test("notes that an assistant keeps for itself are named, links and empty folders are not", () => {
  const home = join(desk.folder, "home");
  const put = (path: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), "Answer briefly.");
  };
  put(".claude/CLAUDE.md");
  put(".claude/projects/-w/memory/MEMORY.md");
  put(".claude/projects/-v/s.jsonl");
  mkdirSync(join(home, ".codex/memories"), { recursive: true });
  symlinkSync(join(home, ".claude/CLAUDE.md"), join(home, ".codex/AGENTS.md"));
  expect(ownNotes("claude-code", home)).toEqual([
    join(home, ".claude/CLAUDE.md"),
    join(home, ".claude/projects/-w/memory"),
  ]);
  expect(ownNotes("codex", home)).toEqual([]);
});
