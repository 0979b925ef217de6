/** The built program on a pack that cannot be written: a file that nobody may write, a folder that its user may not write, a disk mounted for reading only. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startAssistant } from "../../scripts/bench/assistant-client.ts";
import { svcCommand } from "../../scripts/bench/server.ts";
import { type Lacking, leftOut, NOT_ROOT } from "../left-out.ts";
import { livingIn, usePlace } from "./place.ts";
import { asNobody, NOBODY, noStranger, programForOthers } from "./stranger.ts";

setDefaultTimeout(180_000);

const { root, packIn } = usePlace("read-only");
chmodSync(root, 0o755);
const [executable, ...more] = svcCommand();
const program = [
  noStranger === undefined ? programForOthers(executable, root) : executable,
  ...more,
];
const isRoot = process.getuid?.() === 0;
const children: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

type Enter = (command: readonly string[]) => readonly string[];

const plainly: Enter = (command) => command;
/** The superuser may write everything: another user takes its place. */
const unprivileged: Enter = (command) => (isRoot ? [...asNobody, ...command] : command);

/** What a program sees whose home is beside the folder of its pack. */
const environmentOf = (pack: string, enter = plainly) => ({
  ...livingIn(join(pack, "../../home")),
  // Another user cannot read what this one unpacked.
  ...(isRoot && enter === unprivileged ? { XDG_CACHE_HOME: join(pack, "../../home/cache") } : {}),
  SVC_KEY_STORE: "file",
  PATH: process.env["PATH"] ?? "",
});

async function run(args: readonly string[], enter: Enter, pack: string) {
  const child = Bun.spawn([...enter([...program, ...args])], {
    cwd: join(pack, ".."),
    env: environmentOf(pack, enter),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

type Kind = {
  readonly kind: string;
  readonly lacking: Lacking;
  /** Who makes the pack. */
  readonly maker: Enter;
  /** Makes it unwritable. @returns how to start a program that may not write it */
  readonly seal: (pack: string) => Enter;
};

const KINDS: readonly Kind[] = [
  {
    kind: "that nobody may write",
    lacking: undefined,
    maker: plainly,
    seal: (pack) => {
      chmodSync(pack, 0o400);
      return plainly;
    },
  },
  {
    kind: "in a folder that its user may not write",
    lacking: isRoot ? noStranger : undefined,
    maker: unprivileged,
    seal: (pack) => {
      chmodSync(join(pack, ".."), 0o555);
      return unprivileged;
    },
  },
  {
    kind: "on a disk that is mounted for reading only",
    // A container may forbid it to its superuser.
    lacking:
      NOT_ROOT ??
      (Bun.which("unshare") !== null && Bun.spawnSync(["unshare", "-m", "true"]).success
        ? undefined
        : "it takes a container that may mount"),
    maker: plainly,
    seal: (pack) => {
      const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
      return (command) => ["unshare", "-m", "sh", "-c", script, join(pack, ".."), ...command];
    },
  },
];

/** A pack with one memory, made as its user does. */
async function packOf(kind: string, maker: Enter): Promise<string> {
  const pack = packIn(join(kind.replaceAll(" ", "-"), "pack"));
  const folders = [join(pack, ".."), join(pack, "../../home")];
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    if (isRoot && maker === unprivileged) chownSync(folder, NOBODY, NOBODY);
  }
  expect(await run(["init", pack, "--owner", "ada"], maker, pack)).toMatchObject({ code: 0 });
  expect((await run(["store", pack, "Anna prefers tea"], maker, pack)).code).toBe(0);
  return pack;
}

describe.each(KINDS)("a pack $kind", ({ kind, lacking, maker, seal }) => {
  test.skipIf(lacking !== undefined)(
    `is searched, shown, exported and served; what would write is refused${leftOut(lacking)}`,
    async () => {
      const pack = await packOf(kind, maker);
      const search = ["search", pack, "what does Anna drink?", "--format", "json"];
      // What the command reads beside an assistant is the same, whatever keeps it from writing.
      const isWhole = kind === KINDS[0]?.kind;
      const asked = isWhole ? await run(search, maker, pack) : undefined;
      const before = readFileSync(pack);
      const enter = seal(pack);
      const store = await run(["store", pack, "Anna prefers coffee"], enter, pack);
      expect(store).toMatchObject({ code: 2, stderr: expect.stringContaining("is read-only") });
      await answersAnAssistant(pack, enter, []);
      if (asked !== undefined) {
        const found = await run(search, enter, pack);
        expect(found).toMatchObject({
          code: 0,
          stdout: expect.stringContaining("Anna prefers tea"),
        });
        expect(found.stderr).not.toContain("receipt");
        await readsAll(pack, enter, JSON.parse(asked.stdout).metrics.request_id);
      }
      expect(readdirSync(join(pack, ".."))).toEqual(["memory.pack"]);
      expect(readFileSync(pack).equals(before)).toBeTrue();
    },
  );
});

/** What else reads does, and a server. */
async function readsAll(pack: string, enter: Enter, requestId: string): Promise<void> {
  const explained = await run(["explain", requestId, "--db-path", pack], enter, pack);
  expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining("Anna prefers") });
  expect((await run(["info", pack], enter, pack)).code).toBe(0);
  expect((await run(["export", pack], enter, pack)).stdout).toContain("Anna prefers tea");
  const doctor = await run(["doctor", pack], enter, pack);
  expect(doctor.stdout).toContain("[WARN] permissions");
  expect(doctor.stdout).toContain("[OK]   integrity");
  await serves(pack, enter);
}

/** Over MCP: reads are answered, a write is refused by name, and what the assistant may do next is said. */
async function answersAnAssistant(
  pack: string,
  enter: Enter,
  args: readonly string[],
  refusal = `${pack}: is read-only; nothing was changed. Make the file and its folder writable`,
): Promise<void> {
  const assistant = await startAssistant({
    pack,
    args,
    command: enter(program),
    environment: environmentOf(pack, enter),
  });
  const asked = { query: "what does Anna drink?", include_context: true };
  const found = await assistant.call("memory_retrieve", asked);
  expect(found).toMatchObject({
    isError: false,
    value: {
      results: [{ content: "Anna prefers tea" }],
      context: expect.stringContaining("Anna prefers tea"),
    },
  });
  const [first] = found.value["results"] as readonly { readonly node_id: string }[];
  const { node_id: id } = first ?? {};
  expect(await assistant.call("memory_get_node", { node_id: id })).toMatchObject({
    isError: false,
    value: { content: "Anna prefers tea" },
  });
  const writes = [
    { tool: "memory_store", args: { content: "Anna prefers coffee" } },
    { tool: "memory_ingest", args: { content: "Anna prefers coffee" } },
    { tool: "memory_archive_node", args: { node_id: id } },
  ];
  for (const { tool, args: given } of writes) {
    expect(await assistant.call(tool, given)).toMatchObject({
      isError: true,
      value: { error: expect.stringContaining(refusal) },
    });
  }
  expect(await assistant.leave()).toBe(0);
}

describe("svc mcp --read-only", () => {
  test("answers from a pack that it could write, and leaves it as it is", async () => {
    const pack = await packOf("mcp that could write", plainly);
    const before = readFileSync(pack);
    const refusal = `${pack}: was opened read-only; nothing was changed. Leave out --read-only`;
    await answersAnAssistant(pack, plainly, ["--read-only"], refusal);
    expect(readFileSync(pack).equals(before)).toBeTrue();
    expect(readdirSync(join(pack, ".."))).toEqual(["memory.pack"]);
  });

  test("makes no pack where there is none", async () => {
    const pack = packIn("mcp-nothing");
    const assistant = await startAssistant({ pack, args: ["--read-only"] });
    expect(await assistant.call("memory_retrieve", { query: "tea" })).toMatchObject({
      isError: true,
      value: { error: expect.stringContaining(`${pack}: no such pack`) },
    });
    expect(await assistant.leave()).not.toBe(0);
    expect(readdirSync(join(pack, ".."))).toEqual([]);
  });

  test("shares no process with an assistant that may write, whoever comes first", async () => {
    const pack = await packOf("mcp-beside", plainly);
    const environment = environmentOf(pack);
    const start = async (args: readonly string[]) =>
      await startAssistant({ pack, args, environment });
    for (const order of [
      ["--read-only", ""],
      ["", "--read-only"],
    ]) {
      const both = [];
      for (const flag of order) both.push({ flag, ...(await start(flag === "" ? [] : [flag])) });
      for (const { flag, call } of both) {
        const stored = await call("memory_store", { content: `Anna likes jazz ${order}` });
        expect(stored.isError).toBe(flag !== "");
      }
      for (const { leave } of both) expect(await leave()).toBe(0);
    }
  });
});

async function serves(pack: string, enter: Enter): Promise<void> {
  const command = enter([...program, "serve", "--db-path", pack, "--port", "0", "--read-only"]);
  const child = Bun.spawn([...command], {
    cwd: join(pack, ".."),
    env: environmentOf(pack, enter),
    stdout: "pipe",
    stderr: "pipe",
  });
  children.push(child);
  let said = "";
  for (const stream = child.stderr.getReader(); !/http:\/\/[\d.]+:\d+/.test(said); ) {
    const { value } = await stream.read();
    if (value === undefined) throw new Error(said);
    said += Buffer.from(value).toString();
  }
  const url = /http:\/\/[\d.]+:\d+/.exec(said)?.[0] ?? "";
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const asked = await post("/v1/retrieve", { query: "tea", user_id: "ada" });
  expect(asked.status).toBe(200);
  expect(asked.text).toContain("Anna prefers tea");
  expect(asked.text).toMatch(/"receipt_persisted":\s*false/);
  const stored = await post("/v1/store", { content: "x", user_id: "ada" });
  expect(stored).toMatchObject({ status: 503, text: expect.stringContaining("pack_read_only") });
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
}

test("a log that cannot be used is named, and nothing is answered without it", async () => {
  const pack = packIn("log");
  expect((await run(["init", pack, "--plain"], plainly, pack)).code).toBe(0);
  writeFileSync(`${pack}-wal`, Buffer.alloc(100, 1));
  chmodSync(pack, 0o400);
  const { code, stderr } = await run(["search", pack, "tea"], plainly, pack);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${pack}-wal`) });
});
