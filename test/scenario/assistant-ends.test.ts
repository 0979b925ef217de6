/** How `svc mcp` ends, in each of its roles: with its client, in order, silently, and without leaving anything behind. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AssistantProcess, endAllAssistants } from "../../scripts/bench/assistant-client.ts";
import { livingIn } from "./place.ts";

const OWNER = "ada";

let root = "";
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "svc-ends-")));
});
afterAll(async () => {
  await endAllAssistants();
  rmSync(root, { recursive: true, force: true });
});

let packs = 0;
function newPack(): string {
  packs += 1;
  const folder = join(root, `${packs}`);
  mkdirSync(folder);
  return join(folder, "memory.pack");
}

function spawn(pack: string, environment: Readonly<Record<string, string>> = {}): AssistantProcess {
  const own = { ...livingIn(root), ...environment };
  return new AssistantProcess({ pack, environment: own });
}

const start = async (pack: string): Promise<AssistantProcess> => await spawn(pack).open();

async function retrieve(assistant: AssistantProcess, id: string): Promise<void> {
  const { result } = await assistant.call(id, "memory_retrieve", { query: "q", user_id: OWNER });
  expect(result?.["isError"] ?? false).toBe(false);
}

async function isServed(assistant: AssistantProcess, id: string): Promise<void> {
  const { result } = await assistant.ask(id, "tools/list");
  expect(result).toHaveProperty("tools");
}

/** What lies beside the pack, apart from the log that a killed process leaves to the next one that opens the pack. */
function leftBeside(pack: string): readonly string[] {
  return readdirSync(dirname(pack)).filter((name) => !/^memory\.pack(?:-wal|-shm)?$/.test(name));
}

type Cast = {
  /** The process that is to end. */
  readonly tested: AssistantProcess;
  /** Processes that go on. */
  readonly others: readonly AssistantProcess[];
};

const ROLES: readonly { readonly role: string; readonly cast: (pack: string) => Promise<Cast> }[] =
  [
    {
      role: "one that serves the pack",
      cast: async (pack) => {
        const tested = await start(pack);
        await isServed(tested, "first");
        const other = await start(pack);
        await isServed(other, "first");
        return { tested, others: [other] };
      },
    },
    {
      role: "one that is served",
      cast: async (pack) => {
        const other = await start(pack);
        const tested = await start(pack);
        await isServed(tested, "first");
        return { tested, others: [other] };
      },
    },
    {
      role: "one that takes over at this moment",
      cast: async (pack) => {
        const killed = await start(pack);
        const tested = await start(pack);
        await isServed(tested, "first");
        killed.child.kill("SIGKILL");
        await killed.ended();
        return { tested, others: [] };
      },
    },
    {
      role: "one that has taken over",
      cast: async (pack) => {
        const killed = await start(pack);
        const tested = await start(pack);
        killed.child.kill("SIGKILL");
        await isServed(tested, "first");
        const other = await start(pack);
        await isServed(other, "first");
        return { tested, others: [other] };
      },
    },
  ];

const ENDINGS: readonly {
  readonly ending: string;
  readonly end: (of: AssistantProcess) => void;
}[] = [
  { ending: "its client leaves", end: ({ child }) => void child.stdin.end() },
  { ending: "it gets SIGTERM", end: ({ child }) => child.kill("SIGTERM") },
];

describe.each(ROLES)("$role", ({ cast }) => {
  test.each(ENDINGS)(
    "ends with 0 and without a word when $ending, and the others go on",
    async ({ end }) => {
      const pack = newPack();
      const { tested, others } = await cast(pack);
      end(tested);
      expect(await tested.ended()).toBe(0);
      expect(await tested.stderr()).toBe("");
      for (const other of others) await isServed(other, "later");
      expect(await Promise.all(others.map((other) => other.leave()))).toEqual(others.map(() => 0));
      expect(leftBeside(pack)).toEqual([]);
    },
    120_000,
  );
});

describe.each(ROLES)("$role", ({ cast }) => {
  test("ends when its client hears no more, as soon as there is something to say", async () => {
    const pack = newPack();
    const { tested, others } = await cast(pack);
    await tested.deafen();
    // The runtime closes its end some time after it said so; an answer before that is merely unread.
    while (tested.child.exitCode === null && tested.child.signalCode === null) {
      tested.say({ id: "unheard", method: "tools/list" });
      await Promise.race([tested.ended(), Bun.sleep(100)]);
    }
    expect(await tested.ended()).toBe(0);
    await Promise.all(others.map((other) => other.leave()));
    expect(leftBeside(pack)).toEqual([]);
  }, 120_000);
});

describe("the first moments", () => {
  test("a client that leaves before it says anything costs nothing", async () => {
    const pack = newPack();
    for (let count = 0; count < 3; count += 1) expect(await spawn(pack).leave()).toBe(0);
    const host = await start(pack);
    expect(await spawn(pack).leave()).toBe(0);
    expect(await host.leave()).toBe(0);
    expect(leftBeside(pack)).toEqual([]);
  }, 120_000);

  test("a SIGTERM at any of them leaves no socket", async () => {
    const pack = newPack();
    for (let ms = 0; ms < 240; ms += 48) {
      const assistant = spawn(pack);
      await Bun.sleep(ms);
      assistant.child.kill("SIGTERM");
      // Before anything is set up, the system ends it.
      expect([0, "SIGTERM"]).toContain(await assistant.ended());
      expect(leftBeside(pack)).toEqual([]);
    }
  }, 120_000);

  test("an owner that is refused is refused beside a process that serves too", async () => {
    const pack = newPack();
    const host = await start(pack);
    const assistant = spawn(pack, { SVC_MCP_USER_ID: " " });
    expect(await assistant.ended()).toBe(2);
    expect(await assistant.stderr()).toMatch(/mcp/i);
    expect(await host.leave()).toBe(0);
  }, 120_000);
});

describe("after kill -9", () => {
  test("of a client, calls that it sent are done, and its process ends", async () => {
    const pack = newPack();
    const host = await start(pack);
    // The pack is open and the model is there: what is left has ten seconds, on a busy machine too.
    await retrieve(host, "1");
    for (let id = 0; id < 20; id += 1) {
      host.say({
        id,
        method: "tools/call",
        params: { name: "memory_store", arguments: { content: `memory ${id}`, user_id: OWNER } },
      });
    }
    expect(await host.leave()).toBe(0);
    expect(host.heard.filter(({ id }) => typeof id === "number")).toHaveLength(20);
    expect(leftBeside(pack)).toEqual([]);
  }, 120_000);
});
