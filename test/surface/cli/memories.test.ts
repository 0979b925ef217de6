import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { LIMITS } from "../../../src/domain/arguments.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { asInstant, nextInstant } from "../../../src/lib/instant.ts";
import { describeOnTerminal, onTerminal } from "./on-terminal.ts";
import { createWordDesk, type Desk } from "./run-svc.ts";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

const PACK = "memory.pack";
const TEXTS = [
  "Anna prefers tea",
  "The key lies\u001b[31m here",
  "Paid the invoice",
  "Oslo is cold",
];

let desk: Desk;
/** Of anna's memories, the oldest first. */
let ids: readonly string[];
let ofBob: string;

const useEngine = async <T>(work: (engine: MemoryEngine) => Promise<T>): Promise<T> => {
  const engine = await desk.engine(PACK);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
};

/** An id as lists show it. */
const end = (id: string): string => id.slice(-6);

/** Runs a command and reads its JSON. */
async function json(...args: readonly string[]) {
  const { stdout, stderr, code } = await desk.run([...args, "--format", "json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

beforeAll(async () => {
  desk = createWordDesk();
  await desk.run(["init", PACK, "--plain", "--owner", "anna"]);
  await useEngine(async (engine) => {
    await engine.ingestFastMany({ userId: "anna", items: TEXTS.map((content) => ({ content })) });
    await engine.processPending({ budgetMs: 60_000 });
    const { nodes } = await engine.scanNodes({ userId: "anna" });
    ids = nodes.map(({ id }) => id);
    ofBob = (await engine.storeWithReceipt({ content: "Bob has a dog", userId: "bob" })).nodeId;
  });
});
afterAll(() => desk.remove());

describe("svc list", () => {
  test("shows the memories of the pack's owner, and no command to the terminal", async () => {
    const { code, stdout, stderr } = await desk.run(["list", PACK]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [heading, ...lines] = stdout.trimEnd().split("\n");
    expect(heading).toMatch(/^MEMORY +TYPE +STORED +ID$/);
    expect(lines.map((line) => line.slice(-6))).toEqual([...ids].reverse().map(end));
    expect(stdout).toContain("The key lies\ufffd[31m here");
    expect(stdout).not.toContain("Bob");
  });

  test("reads page by page every memory once, also those of one moment", async () => {
    const found: string[] = [];
    let after: readonly string[] = [];
    for (let page = 0; page < 4; page += 1) {
      const { nodes, next_cursor: next } = await json("list", PACK, "--limit", "1", ...after);
      found.push(...nodes.map(({ content }: { content: string }) => content));
      expect(next === null).toBe(page === 3);
      after = ["--after", next];
    }
    expect(found.toSorted()).toEqual(TEXTS.toSorted());
    const { stderr } = await desk.run(["list", PACK, "--limit", "3"]);
    expect(stderr).toBe(`There are more: add --after ${end(ids[1] ?? "")}\n`);
    const rest = await desk.run(["list", PACK, "--after", end(ids[1] ?? "")]);
    expect(rest.stdout.trimEnd().split("\n").slice(1)).toHaveLength(1);
  });

  test("restricts by when memories were stored, to the microsecond, also page by page", async () => {
    const { nodes: all } = await json("list", PACK);
    const idsOf = async (...more: readonly string[]) =>
      (await json("list", PACK, ...more)).nodes.map(({ id }: { id: string }) => id).toSorted();
    const [newest = "", ...more] = all.map((node: { created_at: string }) => node.created_at);
    const first = asInstant(more.at(-1) ?? "");
    const last = asInstant(newest);

    expect(await idsOf("--until", last)).toEqual([...ids].toSorted());
    expect(await idsOf("--since", nextInstant(last))).toEqual([]);
    expect(await idsOf("--since", first, "--until", last)).toEqual([...ids].toSorted());
    expect(await idsOf("--since", last, "--until", last)).toContain(ids.at(-1));
    expect(await idsOf("--since", "1h", "--until", "today")).toHaveLength(4);
    expect(await idsOf("--until", "2 weeks ago")).toEqual([]);

    const page = ["list", PACK, "--since", first, "--limit", "3"] as const;
    const { nodes, next_cursor: cursor } = await json(...page);
    const rest = await json(...page, "--after", cursor);
    expect([...nodes, ...rest.nodes].map(({ id }: { id: string }) => id)).toEqual(
      [...ids].reverse(),
    );
    expect(rest.next_cursor).toBeNull();
    for (const time of ["someday", "2026-02-30", "3/4/2026"]) {
      const { code, stderr } = await desk.run(["list", PACK, "--since", time]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("--since: ") });
    }
  });

  test("restricts by type, scope and state, and names another owner's only when asked", async () => {
    expect(await json("list", PACK, "--type", "task")).toMatchObject({ nodes: [] });
    expect(await json("list", PACK, "--scope", "project")).toMatchObject({ nodes: [] });
    expect(await json("list", PACK, "--state", "archived")).toMatchObject({ nodes: [] });
    const { nodes } = await json("list", PACK, "--user-id", "bob");
    expect(nodes).toEqual([expect.objectContaining({ id: ofBob, content: "Bob has a dog" })]);
    const eve = await desk.run(["list", PACK, "--user-id", "eve"]);
    expect(eve.stdout).toBe("(no results)\n");
    expect(eve.stderr).toContain("there are memories under: anna (4), bob (1).");
  });
});

describe("svc show", () => {
  test("shows a memory by its id and by a part of it that no other memory has", async () => {
    const id = ids[0] ?? "";
    for (const given of [
      id,
      id.toUpperCase(),
      id.slice(0, -1),
      id.slice(-10),
      `…${id.slice(-8)}`,
    ]) {
      const { code, stdout } = await desk.run(["show", PACK, given]);
      expect(code).toBe(0);
      expect(stdout).toStartWith(`Memory      ${id}\n`);
    }
    expect(await json("show", PACK, id)).toMatchObject({ id, user_id: "anna", supersedes: null });
  });

  test("shows the beginning of a very long text, and the whole where that is asked for", async () => {
    const content = "x".repeat(LIMITS.contextTextChars + 10);
    const { nodeId: id } = await useEngine((engine) =>
      engine.storeWithReceipt({ content, userId: "eve" }),
    );
    const asked = ["show", PACK, id, "--user-id", "eve"];
    expect(await json(...asked)).toMatchObject({
      content: content.slice(10),
      content_length: content.length,
      content_offset: 0,
    });
    const table = await desk.run(asked);
    expect(table.stdout).toEndWith(`\n\n${content.slice(10)}\n`);
    expect(table.stderr).toContain("--whole");
    expect((await desk.run([...asked, "--whole"])).stdout).toEndWith(`\n${content}\n`);
  });

  test.each([
    {
      name: "a beginning that several have",
      id: () => (ids[0] ?? "").slice(0, 6),
      says: "stands for",
    },
    { name: "too few digits", id: () => "01", says: "4 or more hexadecimal digits" },
    { name: "no id", id: () => "tea", says: "4 or more hexadecimal digits" },
  ])("refuses $name", async ({ id, says }) => {
    const { code, stdout, stderr } = await desk.run(["show", PACK, id()]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
  });

  test("knows no memory of another owner, whole or in part", async () => {
    for (const id of [ofBob, ofBob.slice(0, -1), ofBob.slice(-12)]) {
      for (const command of [["show"], ["archive", "--yes"]]) {
        const { code, stderr } = await desk.run([...command, PACK, id]);
        expect(code).toBe(1);
        expect(stderr).toBe(`Error: "anna" has no memory ${id} here; svc list shows them\n`);
      }
    }
  });
});

describe("svc edit", () => {
  test("stores the new text with what was known of the old one, and replaces it", async () => {
    const metadata = { source: "diary", year: 2026 };
    const old = await useEngine((engine) =>
      engine.storeWithReceipt({
        ...{ content: "Anna rents a flat", userId: "anna", nodeType: "fact", scope: "project" },
        ...{ metadata, speaker: "Anna", sessionId: "s1", ttlDays: 900 },
        eventTime: "2026-03-01T10:00:00Z",
      }),
    );

    const fresh = await json("edit", PACK, old.nodeId, "Anna", "owns", "a flat");

    expect(fresh).toMatchObject({
      content: "Anna owns a flat",
      node_type: "fact",
      scope: "project",
      session_id: "s1",
      ttl_days: 900,
      event_time: "2026-03-01T10:00:00.000000Z",
      metadata: { ...metadata, svc_speaker_v1: "Anna" },
      supersedes: old.nodeId,
    });
    expect(await json("show", PACK, old.nodeId)).toMatchObject({
      lifecycle_state: "superseded",
      superseded_by: fresh.id,
    });
    const { stdout } = await desk.run(["show", PACK, fresh.id]);
    expect(stdout).toMatch(new RegExp(`^Replaces +${old.nodeId}$`, "m"));
    expect(stdout).toEndWith("\n\nAnna owns a flat\n");
    const again = await desk.run(["edit", PACK, old.nodeId, "Anna sold the flat"]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain(`was replaced by memory ${fresh.id}`);
  });

  test("reads the text from standard input, and makes a condition unknown again", async () => {
    const { nodeId } = await useEngine(async (engine) => {
      const stored = await engine.storeWithReceipt({
        ...{ content: "Anna walks", userId: "anna", epistemicType: "conditional" },
        metadata: { condition: "it is dry" },
      });
      await engine.evaluateCondition(stored.nodeId, { userId: "anna", state: "true" });
      return stored;
    });

    const args = ["edit", PACK, nodeId, "-", "--format", "json"];
    const { stdout } = await desk.run(args, { stdin: "Anna runs\nfar\n" });

    expect(JSON.parse(stdout)).toMatchObject({
      content: "Anna runs\nfar",
      epistemic_type: "conditional",
      metadata: { condition: "it is dry", condition_state: "unknown" },
    });
  });

  test("refuses the text that is there already, and an empty one", async () => {
    const id = ids[0] ?? "";
    const { content } = await json("show", PACK, id);
    const same = await desk.run(["edit", PACK, id, content]);
    expect(same).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("already says exactly that"),
    });
    expect((await desk.run(["edit", PACK, id, "-"], { stdin: "\n" })).code).toBe(2);
    expect(await json("show", PACK, id)).toMatchObject({ lifecycle_state: "tentative" });
  });
});

describe("svc archive", () => {
  test("retires memories once, all of them or none", async () => {
    const [first, second] = await useEngine(async (engine) => [
      (await engine.storeWithReceipt({ content: "one", userId: "anna" })).nodeId,
      (await engine.storeWithReceipt({ content: "two", userId: "anna" })).nodeId,
    ]);
    const state = async (id: string) => (await json("show", PACK, id)).lifecycle_state;

    const unasked = await desk.run(["archive", PACK, first]);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect((await desk.run(["archive", PACK, first, "ffffffff", "--yes"])).code).toBe(1);
    expect(await state(first)).toBe("tentative");

    const done = await desk.run(["archive", PACK, first, second, first, "--yes"]);
    expect(done.stdout).toBe(
      `Archived note ${end(first)}: one\nArchived note ${end(second)}: two\n`,
    );
    expect([await state(first), await state(second)]).toEqual(["archived", "archived"]);
    const again = await desk.run(["archive", PACK, first, "--yes"]);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("archived") });
  });

  describeOnTerminal("on a terminal", () => {
    test("shows what is meant and asks", async () => {
      const { nodeId } = await useEngine((engine) =>
        engine.storeWithReceipt({ content: "asked about", userId: "anna" }),
      );
      const asked = async (answer: string) =>
        await onTerminal(desk.folder, ["archive", PACK, nodeId], [["[y/N] ", `${answer}\r`]]);

      const no = await asked("");
      expect(no.screen).toContain("asked about");
      expect(no.screen).toContain("Nothing was changed.");
      expect(await json("show", PACK, nodeId)).toMatchObject({ lifecycle_state: "tentative" });
      const yes = await asked("y");
      expect(yes).toMatchObject({ code: 0, screen: expect.stringContaining("Archived note") });
    });
  });
});

describe("svc restore", () => {
  test("brings archived memories back, and says why it cannot", async () => {
    const [id, old, next] = await useEngine(async (engine) => {
      const store = async (content: string, supersedes: readonly string[] = []) =>
        (await engine.storeWithReceipt({ content, userId: "anna", supersedes })).nodeId;
      const first = await store("a list");
      const second = await store("the code is 11");
      await engine.archive(first);
      return [first, second, await store("the code is 22", [second])] as const;
    });

    const done = await desk.run(["restore", PACK, id, "--reason", "asked for"]);
    expect(done).toMatchObject({ code: 0, stdout: `Restored note ${end(id)}: a list\n` });
    expect(await json("show", PACK, id)).toMatchObject({ lifecycle_state: "tentative" });
    const refused = await desk.run(["restore", PACK, old]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(next) });

    expect((await desk.run(["restore", PACK])).code).toBe(2);
    expect((await desk.run(["restore", PACK, id, "--faded"])).code).toBe(2);
    expect(await json("restore", PACK, "--faded", "--dry-run")).toEqual({
      ...{ restored: 0, kept: 0, failed: 0 },
    });
    const pinned = await json("pin", PACK, id);
    expect(pinned.nodes).toMatchObject([{ id, pinned: true }]);
    expect((await desk.run(["list", PACK])).stdout).toContain("(pinned) ");
    const released = await desk.run(["pin", PACK, id, "--release"]);
    expect(released).toMatchObject({ code: 0, stdout: `Released note ${end(id)}: a list\n` });
  });
});

describe("svc forget", () => {
  test("what is forgotten is counted in the words of its number", async () => {
    const engine = await desk.engine(PACK);
    const told = (content: string) => engine.storeWithReceipt({ userId: "anna", content });
    const one = await told("The vault opens with marmalade.");
    const two = [await told("The cellar is damp."), await told("The cellar is dark.")];
    await engine.close();
    const forget = (...args: readonly string[]) => desk.run(["forget", "memory.pack", ...args]);
    expect((await forget(one.nodeId)).stdout).toContain(
      "and 0 edges, the texts of 1 entry of the log, 0 receipts of answers\n",
    );
    expect((await forget(one.nodeId, "--yes")).stdout).toStartWith(
      "Forgotten: 1 memory, 1 event (",
    );
    const both = two.map(({ nodeId }) => nodeId);
    expect((await forget(...both, "--yes")).stdout).toStartWith(
      "Forgotten: 2 memories, 2 events (",
    );
  });

  test("verify honours its key and form, and refuses a receipt with a name twice", async () => {
    const key = `raw_key:${Buffer.alloc(32, 7).toString("base64url")}`;
    await desk.run(["init", "sealed.pack", "--owner", "anna", "--encryption-key", key]);
    const told = await desk.run([
      "store",
      "sealed.pack",
      "The vault opens.",
      "--format",
      "json",
      "--encryption-key",
      key,
    ]);
    const id = JSON.parse(told.stdout).node_id;
    const given = ["--encryption-key", key];
    await desk.run(["forget", "sealed.pack", id, "--yes", "--receipt", "r.json", ...given]);
    const verify = (file: string, ...more: readonly string[]) =>
      desk.run(["forget", "verify", "sealed.pack", file, ...more]);
    const { code, stdout } = await verify("r.json", ...given, "--format", "json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    const receipt = await Bun.file(`${desk.folder}/r.json`).text();
    await Bun.write(`${desk.folder}/forged.json`, receipt.replace("{", '{"forget_id": "forged", '));
    const forged = await verify("forged.json", ...given);
    expect(forged.code).toBe(2);
    expect(forged.stderr).toContain("twice");
  });
});
