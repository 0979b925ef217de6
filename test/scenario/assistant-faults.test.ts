/**
 * What may happen to the place where the processes of a pack meet, with the built program and the official client: its files
 * moved or deleted, its program or its pack made newer, its server killed.
 * The program is SVC_EXE, else dist/svc, else src/main.ts under Bun.
 */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  type Assistant,
  type AssistantOptions,
  AssistantProcess,
  hasOpen,
  startAssistant,
} from "../../scripts/bench/assistant-client.ts";
import { startServer, svcCommand } from "../../scripts/bench/server.ts";
import { leftOut } from "../left-out.ts";
import { socketOf, usePlace } from "./place.ts";

const OWNER = "ada";

const { root, environment, packIn } = usePlace("assistant-faults");

/** Processes work in the folder of the test, which stays where it is. */
const start = async (pack: string, options: Partial<AssistantOptions> = {}): Promise<Assistant> =>
  await startAssistant({ pack, folder: root, environment: environment(), ...options });

async function store({ call }: Assistant, content: string): Promise<void> {
  const answer = await call("memory_store", { content, user_id: OWNER });
  expect(answer).toMatchObject({ isError: false });
}

/** Fails unless every one of the contents is found. */
async function findsAll({ call }: Assistant, ...contents: readonly string[]): Promise<void> {
  const query = contents.join(" ");
  const { isError, value } = await call("memory_retrieve", { query, user_id: OWNER, limit: 20 });
  expect(isError).toBe(false);
  const { results } = value;
  const found = Array.isArray(results) ? results.map(({ content }) => content) : [];
  expect(found).toEqual(expect.arrayContaining([...contents]));
}

/** Each leaves in order, and says nothing to people. */
async function allLeave(...assistants: readonly Assistant[]): Promise<void> {
  const endings = await Promise.all(
    assistants.map(async (assistant) => [
      await assistant.leave(),
      await assistant.process.stderr(),
    ]),
  );
  expect(endings).toEqual(assistants.map(() => [0, ""]));
}

/** Which of them have the pack open themselves. */
function expectOpen(
  pack: string,
  assistants: readonly Assistant[],
  open: readonly boolean[],
): void {
  const found = assistants.map(({ process: { pid } }) => hasOpen(pid, pack));
  if (!found.includes(undefined)) expect(found).toEqual([...open]);
}

const beside = (pack: string): readonly string[] => readdirSync(dirname(pack));

describe("the files", () => {
  test("a socket that its user deletes costs nobody anything", async () => {
    const pack = packIn("deleted");
    const [host, guest] = [await start(pack), await start(pack)];
    await store(host, "The heron waits.");
    unlinkSync(socketOf(root, pack));
    await store(guest, "The bittern booms.");
    const newcomer = await start(pack);
    await findsAll(newcomer, "The heron waits.", "The bittern booms.");
    expectOpen(pack, [host, guest, newcomer], [true, false, true]);
    await allLeave(host);
    await findsAll(guest, "The heron waits.", "The bittern booms.");
    expectOpen(pack, [guest, newcomer], [false, true]);
    await allLeave(newcomer);
    await store(guest, "The egret flies.");
    await allLeave(guest);
    expect(beside(pack)).toEqual(["memory.pack"]);
  }, 120_000);

  test("a folder that is moved while its pack is open can be used in its new place at once", async () => {
    const pack = packIn("old");
    const [host, guest] = [await start(pack), await start(pack)];
    await store(guest, "The heron waits.");
    renameSync(dirname(pack), join(root, "new"));
    const moved = join(root, "new", basename(pack));
    const newcomer = await start(moved);
    await store(newcomer, "The bittern booms.");
    await findsAll(newcomer, "The heron waits.", "The bittern booms.");
    await allLeave(host, guest, newcomer);
    const next = await start(moved);
    await findsAll(next, "The heron waits.", "The bittern booms.");
    await allLeave(next);
    expect(beside(moved)).toEqual(["memory.pack"]);
  }, 120_000);
});

test("eight that start in one moment on a new pack have one server and no failure", async () => {
  const pack = packIn("eight");
  const eight = Array.from(
    { length: 8 },
    () => new AssistantProcess({ pack, folder: root, environment: environment() }),
  );
  const answers = await Promise.all(
    eight.map(async (assistant, index) => {
      await assistant.open();
      return await assistant.call("store", "memory_store", {
        content: `Memory of assistant ${index}.`,
        user_id: OWNER,
      });
    }),
  );
  const events = answers.map(({ result }) => Object(result?.["structuredContent"]).event_id);
  expect(new Set(events.filter((id) => typeof id === "string")).size).toBe(8);
  const open = eight.map(({ pid }) => hasOpen(pid, pack));
  if (!open.includes(undefined)) expect(open.filter(Boolean)).toHaveLength(1);
  const endings = await Promise.all(
    eight.map(async (assistant) => [await assistant.leave(), await assistant.stderr()]),
  );
  expect(endings).toEqual(eight.map(() => [0, ""]));
  expect(beside(pack)).toEqual(["memory.pack"]);
}, 120_000);

describe("newer", () => {
  const [executable, ...others] = svcCommand();
  const lacking = others.length === 0 ? undefined : "the program is not built";
  test.skipIf(lacking !== undefined)(
    `a program in the place of the running one opens the pack by itself; in the end only it is left${leftOut(lacking)}`,
    async () => {
      const pack = packIn("program");
      const program = join(root, "svc");
      const command = [program];
      copyFileSync(executable, program);
      const [host, guest] = [await start(pack, { command }), await start(pack, { command })];
      await store(host, "The heron waits.");
      // As an installation does: running programs keep the former file.
      copyFileSync(executable, `${program}.new`);
      renameSync(`${program}.new`, program);
      const newcomer = await start(pack, { command });
      await findsAll(newcomer, "The heron waits.");
      await store(newcomer, "The bittern booms.");
      await findsAll(guest, "The heron waits.", "The bittern booms.");
      expectOpen(pack, [host, guest, newcomer], [true, false, true]);
      await allLeave(host);
      await findsAll(guest, "The heron waits.", "The bittern booms.");
      await allLeave(guest, newcomer);
      expect(beside(pack)).toEqual(["memory.pack"]);
    },
    120_000,
  );

  test("a pack that a newer program has changed is left alone by whoever has it open and by newcomers, and told", async () => {
    const pack = packIn("pack");
    const [host, guest] = [await start(pack), await start(pack)];
    await store(guest, "The heron waits.");
    const other = new Database(pack);
    other.run("UPDATE pack_manifest SET format_version = format_version + 1");
    other.close();
    const setting = { ...environment(), SVC_PACKING__VECTOR_K: "40" };
    const newcomer = await start(pack, { environment: setting });
    const refuses = async (assistant: Assistant): Promise<void> => {
      const { isError, value } = await assistant.call("memory_store", {
        content: "Too late.",
        user_id: OWNER,
      });
      expect(isError).toBe(true);
      expect(JSON.stringify(value)).toContain("open it with a newer svc");
    };
    await refuses(host);
    await refuses(guest);
    await findsAll(guest, "The heron waits.");
    expect(await host.leave()).toBe(0);
    expect(await host.process.stderr()).toContain("was not written (pack_too_new)");
    for (const assistant of [newcomer, guest]) {
      await refuses(assistant);
      expect(await assistant.leave()).toBe(1);
    }
    expect(beside(pack)).toEqual(["memory.pack"]);
    const kept = new Database(pack, { readonly: true });
    const contents = kept.query("SELECT content FROM nodes").all();
    kept.close();
    expect(contents).toEqual([{ content: "The heron waits." }]);
  }, 120_000);
});

test("a server over HTTP that is killed is replaced by one of those that it served", async () => {
  const pack = packIn("server");
  const server = await startServer({ pack, environment: environment() });
  const both = [await start(pack), await start(pack)] as const;
  await store(both[0], "The heron waits.");
  expectOpen(pack, both, [false, false]);
  await server.end("SIGKILL");
  await store(both[1], "The bittern booms.");
  await findsAll(both[0], "The heron waits.", "The bittern booms.");
  const open = both.map(({ process: { pid } }) => hasOpen(pid, pack));
  if (!open.includes(undefined)) expect(open.filter(Boolean)).toHaveLength(1);
  // One that comes later has the pack open as well, and takes nothing away.
  const later = await startServer({ pack, environment: environment() });
  await findsAll(both[0], "The heron waits.", "The bittern booms.");
  expect(await later.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
  await allLeave(...both);
  expect(beside(pack).toSorted()).toEqual(["memory.pack", "memory.pack.log"]);
}, 120_000);
