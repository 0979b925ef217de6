/** What an assistant is told by the built executable when its memory cannot be opened. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AssistantOptions,
  AssistantProcess,
  endAllAssistants,
  startAssistant,
} from "../../scripts/bench/assistant-client.ts";
import { livingIn } from "./place.ts";

const root = mkdtempSync(join(tmpdir(), "svc-opening-"));
const common = livingIn(root);

afterAll(async () => {
  await endAllAssistants();
  rmSync(root, { recursive: true, force: true });
});

const start = (name: string, options: Partial<AssistantOptions> = {}) =>
  startAssistant({ pack: join(root, name), environment: common, ...options });

const memory = { content: "The tea stands on the top shelf.", user_id: "ada" };

test("settings that cannot be used are told to each call, and to who started the process", async () => {
  const environment = { ...common, SVC_EMBEDDING__DIMENSION: "many" };
  const assistant = await start("settings.pack", { environment });
  expect((await assistant.client.listTools()).tools.length).toBeGreaterThan(20);
  const complaint = 'SVC_EMBEDDING__DIMENSION: expected integer or unset (1 to 8192), not "many"';
  for (let round = 0; round < 12; round += 1) {
    const { isError, value } = await assistant.call("memory_store", memory);
    expect(isError).toBe(true);
    expect(value).toEqual({ error: `The memory could not be opened: ${complaint}` });
  }
  expect(await assistant.leave()).toBe(2);
  const said = await assistant.process.stderr();
  expect(said.split(complaint).length - 1).toBe(2);
  expect(said.trim().split("\n")).toHaveLength(2);
});

test("an argument that is none ends the process with a complaint before it speaks", async () => {
  await expect(start("argument.pack", { args: ["--tool", "core"] })).rejects.toThrow(
    "Connection closed",
  );
});

test("a file that is no pack is told to each call and on stderr, stays as it is, and ends the process with 1", async () => {
  const notes = join(root, "notes.pack");
  writeFileSync(notes, "these are my notes");
  const assistant = await start("notes.pack");
  const { isError, value } = await assistant.call("memory_retrieve", { query: "q" });
  expect([isError, String(value["error"])]).toEqual([true, expect.stringContaining("notes.pack")]);
  expect(await assistant.leave()).toBe(1);
  expect(await assistant.process.stderr()).toContain("notes.pack");
  expect(readFileSync(notes, "utf8")).toBe("these are my notes");
});

test.each(["SIGTERM", "SIGINT"] as const)("%s ends it in order", async (signal) => {
  const assistant = new AssistantProcess({ pack: join(root, "own.pack"), environment: common });
  await assistant.open();
  process.kill(assistant.pid, signal);
  expect(await assistant.ended()).toBe(0);
});

test("a memory that is mended while the assistant runs is opened by the next call", async () => {
  const name = "mended.pack";
  writeFileSync(join(root, name), "a shopping list\n".repeat(500));
  const assistant = await start(name);
  const refused = await assistant.call("memory_store", memory);
  expect(refused.isError).toBe(true);
  expect(String(refused.value["error"])).toContain("could not be opened");
  rmSync(join(root, name));
  const stored = await assistant.call("memory_store", memory);
  expect(stored.isError).toBe(false);
  const found = await assistant.call("memory_retrieve", { query: "tea", user_id: "ada" });
  expect(JSON.stringify(found.value)).toContain(memory.content);
  expect(await assistant.leave()).toBe(0);
});
