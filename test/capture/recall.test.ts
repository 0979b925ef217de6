import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { joinProjects, listProjects, renameProject } from "../../src/capture/projects.ts";
import { type RecallRequest, recall } from "../../src/capture/recall.ts";
import { storeTurn } from "../../src/capture/receive.ts";
import type { Turn } from "../../src/capture/turn.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import { createDesk, type Desk, SYSTEM_USER } from "../surface/cli/run-svc.ts";

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
    ...{ client: "claude-code", ...more },
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
  const { block = "", tokens } = await ask(undefined);
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

test("a prompt that needs no memory gets none, and a question that was asked before answers none", async () => {
  await storeTurn(engine, turn("Which port does the staging database use?"));
  await engine.processPending({ userId: "anna", budgetMs: 60_000 });
  expect(await ask("Which port does the staging database use?")).toMatchObject({ ids: [] });
  expect(await ask("Please write a function that reverses a string")).toMatchObject({ ids: [] });
});

test("the hook of an assistant is answered by the process that serves the pack", async () => {
  const pack = join(desk.folder, "b.pack");
  await desk.run(["init", pack]);
  await desk.store("b.pack", SYSTEM_USER, "Tom is allergic to hazelnuts");
  const server = desk.start(["mcp", "--db-path", pack, "--no-create"]);
  try {
    const hello = {
      ...{ protocolVersion: "2025-06-18", capabilities: {} },
      clientInfo: { name: "test", version: "1" },
    };
    server.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello })}\n`,
    );
    await server.stdin.flush();
    let [answer, tries] = ["", 0];
    // A busy machine answers in time sooner or later; each session is asked once.
    while (answer === "") {
      tries += 1;
      const payload = {
        ...{ session_id: `s${tries}`, transcript_path: "/t.jsonl", cwd: desk.folder },
        ...{ hook_event_name: "UserPromptSubmit", prompt: "What is Tom allergic to?" },
      };
      const run = await desk.run(["hook", "claude-code", "--db-path", pack], {
        stdin: JSON.stringify(payload),
      });
      expect(run).toMatchObject({ code: 0, stderr: "" });
      answer = run.stdout;
    }
    const { hookSpecificOutput: output } = JSON.parse(answer);
    expect(output.hookEventName).toBe("UserPromptSubmit");
    expect(output.additionalContext).toContain("Tom is allergic to hazelnuts");
  } finally {
    server.stdin.end();
    await server.exited;
  }
});
