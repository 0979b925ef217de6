/**
 * Several processes of the built program on one pack, as several assistants start them, spoken to by the official client.
 * The program is SVC_EXE, else dist/svc, else src/main.ts under Bun.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Assistant, hasOpen, startAssistant } from "../../scripts/bench/assistant-client.ts";
import { createClient } from "../../scripts/bench/http-client.ts";
import { startServer, svcCommand } from "../../scripts/bench/server.ts";
import { socketOf, usePlace } from "./place.ts";

const OWNER = "ada";
const PASSPHRASE = "three dozen grey herons by the river";

const { root, environment: common, packIn } = usePlace("many");

/** How many of the processes have the pack open themselves; undefined where the system does not tell. */
function openers(pids: readonly number[], file: string): number | undefined {
  const found = pids.map((pid) => hasOpen(pid, file));
  return found.includes(undefined) ? undefined : found.filter(Boolean).length;
}

/** A pack is opened in the background, a moment after the connection stands. */
async function expectOpeners(
  assistants: readonly Assistant[],
  file: string,
  count: number,
): Promise<void> {
  const pids = assistants.map(({ process }) => process.pid);
  for (let tries = 0; tries < 600 && (openers(pids, file) ?? count) < count; tries += 1) {
    await Bun.sleep(50);
  }
  const found = openers(pids, file);
  if (found !== undefined) expect(found).toBe(count);
}

/** Each leaves in order, and says nothing to people. */
async function allLeave(assistants: readonly Assistant[]): Promise<void> {
  const codes = await Promise.all(assistants.map((assistant) => assistant.leave()));
  expect(codes).toEqual(assistants.map(() => 0));
  const said = await Promise.all(assistants.map(({ process }) => process.stderr()));
  expect(said.join("")).toBe("");
}

async function storeAs(
  { call }: Assistant,
  content: string,
  args: object = { user_id: OWNER },
): Promise<string> {
  const answer = await call("memory_store", { content, ...args });
  expect(answer.isError).toBe(false);
  const { event_id: eventId } = answer.value;
  expect(typeof eventId).toBe("string");
  return String(eventId);
}

async function finds({ call }: Assistant, word: string, content: string): Promise<boolean> {
  const { isError, value } = await call("memory_retrieve", { query: word, user_id: OWNER });
  expect(isError).toBe(false);
  const { results } = value;
  return Array.isArray(results) && results.some((result) => result.content === content);
}

type Variant = {
  readonly name: string;
  readonly writes: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Arguments of `svc init`, before anybody starts; absent: the first process makes the pack. */
  readonly init?: readonly string[];
};

const VARIANTS: readonly Variant[] = [
  { name: "a plain pack", writes: 12, environment: {} },
  {
    name: "an encrypted pack with a kept key",
    writes: 6,
    environment: { SVC_KEY_STORE: "file" },
    init: ["init", "memory.pack"],
  },
];

describe("eight assistants and a server", () => {
  test.each(VARIANTS)(
    "on $name: every write is acknowledged once, kept, and seen by all the others at once",
    async ({ name, writes, environment: own, init }) => {
      const pack = packIn(name.replaceAll(" ", "-"));
      const folder = join(pack, "..");
      const environment = { ...common(), ...own };
      if (init !== undefined) {
        const made = Bun.spawnSync([...svcCommand(), ...init], { cwd: folder, env: environment });
        expect(made.exitCode).toBe(0);
      }
      const server = await startServer({ pack, environment });
      const http = createClient(server.url, OWNER);
      const eight = await Promise.all(
        Array.from({ length: 8 }, () => startAssistant({ pack, environment })),
      );
      const eventIds = await Promise.all(
        eight.map(async (assistant, index) => {
          const ids: string[] = [];
          for (let count = 0; count < writes; count += 1) {
            ids.push(await storeAs(assistant, `Memory ${count} of assistant ${index}.`));
          }
          return ids;
        }),
      );
      const all = eventIds.flat();
      expect(new Set(all).size).toBe(8 * writes);
      for (const eventId of all) expect((await http.event(eventId)).kind).toBe("ok");

      const word = "heron77";
      const content = `The code word is ${word}.`;
      const [writer, ...readers] = eight;
      if (writer === undefined) throw new Error("nobody writes");
      await storeAs(writer, content);
      const found = await Promise.all(readers.map((reader) => finds(reader, word, content)));
      expect(found).toEqual(readers.map(() => true));
      const reply = await http.store("The other word is bittern78.", "session");
      if (reply.kind !== "ok") throw new Error("the server refused a store");
      const seen = await Promise.all(
        eight.map((reader) => finds(reader, "bittern78", "The other word is bittern78.")),
      );
      expect(seen).toEqual(eight.map(() => true));

      await expectOpeners(eight, pack, 0);
      await allLeave(eight);
      expect(await server.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
      expect(readdirSync(folder).sort()).toEqual(["memory.pack", "memory.pack.log"]);
    },
    300_000,
  );
});

describe("assistants that can serve each other", () => {
  test("share one open pack; each has its own owner and its own set of tools", async () => {
    const pack = packIn("own");
    const start = (owner: string | undefined, args: readonly string[]) =>
      startAssistant({
        pack,
        args,
        environment: { ...common(), ...(owner === undefined ? {} : { SVC_MCP_USER_ID: owner }) },
      });
    const ada = await start("ada", []);
    const bob = await start("bob", ["--tools", "core"]);
    const free = await start(undefined, ["--tools=full"]);
    await expectOpeners([ada, bob, free], pack, 1);
    const names = await Promise.all(
      [ada, bob, free].map(async ({ client }) => (await client.listTools()).tools),
    );
    expect(names[1]?.length).toBeLessThan(names[0]?.length ?? 0);
    expect(names[2]?.map(({ name }) => name)).toEqual(names[0]?.map(({ name }) => name) ?? []);

    await storeAs(ada, "Ada's secret is the pelican.", {});
    const asBob = await bob.call("memory_retrieve", { query: "What is the secret?" });
    expect(asBob.value["results"]).toEqual([]);
    const asAda = await bob.call("memory_retrieve", { query: "secret", user_id: "ada" });
    expect(asAda.isError).toBe(true);
    expect(await finds(free, "pelican", "Ada's secret is the pelican.")).toBe(true);
    await allLeave([bob, ada, free]);
  }, 300_000);

  test("meet by every name of a pack: a link, a folder, a path too long for a socket", async () => {
    const folder = join(root, "names");
    await mkdir(join(folder, "real"), { recursive: true });
    await Bun.$`ln -s real ${join(folder, "link")}`.quiet();
    const long = join(folder, "long".repeat(25));
    await mkdir(long);
    const pairs = [
      [join(folder, "real/memory.pack"), join(folder, "link/memory.pack"), "memory.pack"],
      [join(folder, "real/pack"), join(folder, "link/pack/memory.db"), "pack/memory.db"],
      [join(long, "memory.pack"), join(long, "memory.pack"), ""],
    ];
    for (const [one = "", other = "", file = ""] of pairs) {
      const environment = { ...common(), TMPDIR: root };
      const both = [
        await startAssistant({ pack: one, folder, environment }),
        await startAssistant({ pack: other, folder, environment }),
      ];
      const [first, second] = both;
      if (first === undefined || second === undefined) throw new Error("nobody");
      await storeAs(first, "The ferry leaves at seven.");
      expect(await finds(second, "ferry", "The ferry leaves at seven.")).toBe(true);
      await expectOpeners(both, file === "" ? one : join(folder, "real", file), 1);
      await allLeave(both);
    }
    expect(readdirSync(long)).toEqual(["memory.pack"]);
    expect(readdirSync(join(folder, "real")).sort()).toEqual(["memory.pack", "pack"]);
    expect(readdirSync(join(folder, "real/pack")).filter((name) => name.includes("sock"))).toEqual(
      [],
    );
  }, 300_000);

  test("meet when their settings stand in a file", async () => {
    const pack = packIn("dotenv");
    const folder = join(pack, "..");
    await writeFile(join(folder, ".env"), "SVC_MCP_USER_ID=eve\n");
    const both = [
      await startAssistant({ pack, environment: common() }),
      await startAssistant({ pack, environment: common() }),
    ];
    const [first, second] = both;
    if (first === undefined || second === undefined) throw new Error("nobody");
    await storeAs(first, "Eve has a cat.", {});
    const { value } = await second.call("memory_retrieve", { query: "cat" });
    expect(value["results"]).toMatchObject([{ content: "Eve has a cat." }]);
    await expectOpeners(both, pack, 1);
    await allLeave(both);
  }, 300_000);

  test("take over from one another until the last has left, on an encrypted pack", async () => {
    const key = { SVC_ENCRYPTION_KEY: PASSPHRASE, SVC_ENCRYPTION_ENABLED: "true" };
    const pack = packIn("relay");
    const environment = { ...common(), ...key };
    const all = [];
    for (let count = 0; count < 3; count += 1)
      all.push(await startAssistant({ pack, environment }));
    const [writer] = all;
    if (writer === undefined) throw new Error("nobody");
    await storeAs(writer, "The first speaks of a walrus.");
    for (const [index, serving] of all.entries()) {
      const content = "The first speaks of a walrus.";
      expect(await finds(serving, "walrus", content)).toBe(true);
      await expectOpeners(all.slice(index), pack, 1);
      const others = all.slice(index + 1);
      // Under way when the one that serves leaves.
      const found = others.map((other) => finds(other, "walrus", content));
      await allLeave([serving]);
      expect(await Promise.all(found)).toEqual(others.map(() => true));
    }
    expect(readdirSync(join(pack, ".."))).toEqual(["memory.pack"]);
  }, 300_000);
});

describe("assistants that cannot serve each other", () => {
  test.each([
    { name: "another setting", environment: { SVC_PACKING__VECTOR_K: "40" }, args: [] },
    {
      name: "a key of its own for the same pack",
      environment: {},
      args: ["--encryption-key", PASSPHRASE],
    },
  ])(
    "$name: each opens the pack by itself, and both see everything",
    async ({ name, environment, args }) => {
      const pack = packIn(name.replaceAll(" ", "-"));
      const isEncrypted = args.length > 0;
      const key = isEncrypted
        ? { SVC_ENCRYPTION_KEY: PASSPHRASE, SVC_ENCRYPTION_ENABLED: "true" }
        : {};
      const first = await startAssistant({ pack, environment: { ...common(), ...key } });
      await storeAs(first, "The first speaks of ospreys.");
      const second = await startAssistant({
        pack,
        args,
        environment: { ...common(), ...environment },
      });
      expect(await finds(second, "ospreys", "The first speaks of ospreys.")).toBe(true);
      await storeAs(second, "The second speaks of kestrels.");
      expect(await finds(first, "kestrels", "The second speaks of kestrels.")).toBe(true);
      await expectOpeners([first, second], pack, 2);
      await allLeave([first, second]);
      expect(readdirSync(join(pack, ".."))).toEqual(["memory.pack"]);
    },
    300_000,
  );

  test("a pack that cannot be opened is told by each in the same words, and newcomers try again", async () => {
    const pack = packIn("locked");
    const owner = await startAssistant({
      pack,
      environment: { ...common(), SVC_ENCRYPTION_KEY: PASSPHRASE, SVC_ENCRYPTION_ENABLED: "true" },
    });
    await storeAs(owner, "Locked away.");
    await allLeave([owner]);
    const environment = {
      ...common(),
      SVC_ENCRYPTION_KEY: "another passphrase",
      SVC_ENCRYPTION_ENABLED: "true",
    };
    const both = await Promise.all([0, 1].map(() => startAssistant({ pack, environment })));
    const texts = await Promise.all(
      both.map(async ({ client }) => {
        const args = { query: "q", user_id: OWNER };
        const { isError, content } = await client.callTool({
          name: "memory_retrieve",
          arguments: args,
        });
        expect(isError).toBe(true);
        return JSON.stringify(content);
      }),
    );
    expect(texts[0]).toContain("could not be opened");
    expect(texts[0]).toContain("key");
    expect(texts[1]).toBe(texts[0] ?? "");
    expect(existsSync(socketOf(root, pack))).toBe(false);
    await Promise.all(both.map((assistant) => assistant.leave()));
  }, 300_000);
});
