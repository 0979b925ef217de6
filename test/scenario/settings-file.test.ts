import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AssistantProcess } from "../../scripts/bench/assistant-client.ts";
import { startServer, svcCommand } from "../../scripts/bench/server.ts";
import { leftOut, NOT_ROOT } from "../left-out.ts";
import { usePlace } from "./place.ts";

const { root, packIn, environment } = usePlace("settings-file");
const OWN_KEY = "sk-own-key-of-the-user";
const NOBODY = 65_534;

/** Writes down everything that reaches it. */
const seen: string[] = [];
const recorder = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const headers = [...request.headers].map(([name, value]) => `${name}: ${value}`);
    seen.push([request.url, ...headers, await request.text()].join("\n"));
    return Response.json({ error: { message: "no" } }, { status: 400 });
  },
});
const ADDRESS = `http://127.0.0.1:${recorder.port}/v1`;

beforeEach(() => seen.splice(0));
afterAll(() => recorder.stop(true));

const REDIRECTION = [
  "SVC_ENABLE_QUERY_REFORMULATION=true",
  `SVC_EXTRACTION__BASE_URL=${ADDRESS}`,
  `OPENAI_BASE_URL=${ADDRESS}`,
  "",
].join("\n");
const OLLAMA = `SVC_EXTRACTION__PROVIDER=ollama\nSVC_EXTRACTION__MODEL=small\n${REDIRECTION}`;

let folders = 0;
/** A folder that an assistant works in, perhaps somebody else's. */
function projectWith(dotenv?: string): string {
  folders += 1;
  const folder = join(root, `project-${folders}`);
  mkdirSync(folder);
  if (dotenv !== undefined) writeFileSync(join(folder, ".env"), dotenv);
  return folder;
}

type Question = {
  readonly pack: string;
  readonly folder: string;
  readonly args?: readonly string[];
  readonly own?: Readonly<Record<string, string>>;
};

/** Stores a memory, asks for it, and leaves. */
async function ask({ pack, folder, args = [], own = { OPENAI_API_KEY: OWN_KEY } }: Question) {
  const assistant = new AssistantProcess({
    pack,
    folder,
    args,
    environment: { ...environment(), ...own },
  });
  await assistant.open();
  const memory = { content: "Ada has a cat.", user_id: "ada" };
  await assistant.call(1, "memory_store", memory);
  const answer = await assistant.call(2, "memory_retrieve", { query: "cat", user_id: "ada" });
  await assistant.leave();
  return { answer: JSON.stringify(answer), stderr: await assistant.stderr() };
}

/** Looks for memories without the model, and leaves. A process that took `REDIRECTION` from beside its pack would not start. */
async function look(pack: string, folder: string): Promise<string> {
  const own = { OPENAI_API_KEY: OWN_KEY };
  const assistant = new AssistantProcess({
    pack,
    folder,
    environment: { ...environment(), ...own },
  });
  await assistant.open();
  const listed = await assistant.call(1, "memory_scan_nodes", { user_id: "ada" });
  expect(listed.result).toMatchObject({ structuredContent: { nodes: expect.any(Array) } });
  expect(await assistant.leave()).toBe(0);
  return await assistant.stderr();
}

/** What people are told, without the times before it. */
const told = (stderr: string): string => stderr.replace(/^\S+ (?:WARN|INFO|ERROR) +/gm, "");

describe("svc mcp in a folder of somebody else", () => {
  test("sends nothing where its .env says, and says that it was not read", async () => {
    const folder = projectWith(REDIRECTION);
    const { answer, stderr } = await ask({ pack: packIn("foreign"), folder });
    expect(answer).toContain("Ada has a cat.");
    expect(seen).toEqual([]);
    expect(told(stderr)).toBe(
      `Warning: ${folder}/.env is not read by svc mcp; to use it, name it with --env-file\n`,
    );
  }, 120_000);

  test("does not read it when the pack has a relative path, nor when none is named", async () => {
    const folder = projectWith(`${REDIRECTION}SVC_DB_PATH=./other/memory.db\n`);
    const { answer, stderr } = await ask({ pack: "./memory.pack", folder });
    expect(answer).toContain("Ada has a cat.");
    expect(stderr).toContain("is not read by svc mcp");
    expect(await look("memory.pack", folder)).toContain("is not read by svc mcp");
    const plain = new AssistantProcess({
      pack: "./x.pack",
      folder,
      args: ["--db-path", "memory.pack", "--transport", "stdio"],
      environment: { ...environment(), OPENAI_API_KEY: OWN_KEY },
    });
    await plain.open();
    await plain.call(1, "memory_retrieve", { query: "cat", user_id: "ada" });
    await plain.leave();
    expect(seen).toEqual([]);
  }, 120_000);

  test.each([
    { name: "a bunfig.toml", file: "bunfig.toml", text: 'preload = ["./evil.ts"]\n' },
    {
      name: "a package.json",
      file: "package.json",
      text: '{"imports":{"#x":"./evil.ts"},"main":"./evil.ts"}',
    },
  ])(
    "runs nothing because of $name",
    async ({ file, text }) => {
      const folder = projectWith();
      const mark = join(folder, "ran");
      writeFileSync(
        join(folder, "evil.ts"),
        `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");`,
      );
      writeFileSync(join(folder, file), text);
      expect(await look(packIn(`runs-${file}`), folder)).toBe("");
      expect(await Bun.file(mark).exists()).toBe(false);
    },
    120_000,
  );

  test("sends nothing where its .env.local and its .env.production say", async () => {
    const folder = projectWith();
    for (const file of [".env.local", ".env.production"]) {
      writeFileSync(join(folder, file), REDIRECTION);
    }
    const { answer, stderr } = await ask({ pack: packIn("other-files"), folder });
    expect(answer).toContain("Ada has a cat.");
    expect(stderr).toBe("");
    expect(seen).toEqual([]);
  }, 120_000);
});

describe("the .env beside a pack", () => {
  test("is read and told by name, and its address gets no key of the environment", async () => {
    const pack = packIn("beside");
    writeFileSync(join(pack, "../.env"), OLLAMA);
    const own = { SVC_EXTRACTION__API_KEY: OWN_KEY, OPENAI_API_KEY: OWN_KEY };
    const { stderr } = await ask({ pack, folder: projectWith(), own });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.join("\n")).not.toContain(OWN_KEY);
    expect(seen.join("\n")).not.toMatch(/^authorization:/im);
    expect(stderr).toContain(`Settings taken from ${join(pack, "../.env")}: extraction.base_url`);
    expect(stderr).not.toContain(ADDRESS);
    expect(stderr.match(/the key of extraction is not used/g)).toHaveLength(1);
  }, 120_000);

  test("keeps a provider that needs a key from being asked at all", async () => {
    const pack = packIn("beside-hosted");
    writeFileSync(join(pack, "../.env"), REDIRECTION);
    const assistant = new AssistantProcess({
      pack,
      environment: { ...environment(), OPENAI_API_KEY: OWN_KEY },
    });
    expect(await assistant.leave()).toBe(2);
    expect(await assistant.stderr()).toContain("the key of extraction is not used");
    expect(seen).toEqual([]);
  }, 120_000);

  test("may bring its own key", async () => {
    const pack = packIn("beside-own");
    const text = `${REDIRECTION}OPENAI_API_KEY=sk-of-the-file\n`;
    writeFileSync(join(pack, "../.env"), `\uFEFF${text.replaceAll("\n", "\r\n")}`);
    const { stderr } = await ask({ pack, folder: projectWith() });
    expect(seen.join("\n")).toContain("authorization: Bearer sk-of-the-file");
    expect(seen.join("\n")).not.toContain(OWN_KEY);
    expect(stderr).not.toContain("sk-of-the-file");
  }, 120_000);

  test("that the group may change is left out with a line on stderr", async () => {
    const pack = packIn("beside-open");
    const path = join(pack, "../.env");
    writeFileSync(path, REDIRECTION);
    chmodSync(path, 0o664);
    const stderr = await look(pack, projectWith());
    expect(told(stderr)).toContain(`Warning: ${path} is not read: `);
    expect(stderr).toContain("other users can change it; run: chmod go-w");
  }, 120_000);

  test("that is a folder is another tool's", async () => {
    const pack = packIn("beside-folder");
    mkdirSync(join(pack, "../.env"));
    expect(await look(pack, projectWith())).toBe("");
  }, 120_000);

  test.skipIf(NOT_ROOT !== undefined)(
    `of another user, or linked by another user, is not read${leftOut(NOT_ROOT)}`,
    async () => {
      const pack = packIn("beside-other");
      const path = join(pack, "../.env");
      writeFileSync(path, REDIRECTION);
      chownSync(path, NOBODY, NOBODY);
      expect(await look(pack, projectWith())).toContain("it belongs to another user");

      const linked = packIn("beside-linked");
      writeFileSync(join(linked, "../settings"), REDIRECTION);
      const made = Bun.spawnSync(["ln", "-s", "settings", join(linked, "../.env")]);
      expect(made.exitCode).toBe(0);
      Bun.spawnSync(["chown", "-h", "nobody", join(linked, "../.env")]);
      expect(await look(linked, projectWith())).toContain("it belongs to another user");
    },
    120_000,
  );
});

describe("--env-file", () => {
  test("names a file for svc mcp, in the working directory too", async () => {
    const text = `${OLLAMA}OPENAI_API_KEY=sk-of-the-file\n`;
    const folder = projectWith(text);
    const pack = packIn("named");
    const { stderr } = await ask({ pack, folder, args: ["--env-file", ".env"] });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.join("\n")).not.toContain(OWN_KEY);
    expect(stderr).toContain(`Settings taken from ${folder}/.env: extraction.base_url`);
    expect(stderr).not.toContain("is not read by svc mcp");
  }, 120_000);

  test.each([{ name: "missing", path: "/nowhere/settings", why: "it cannot be read (ENOENT)" }])(
    "is refused when what it names is $name",
    async ({ path, why }) => {
      for (const command of ["mcp", "serve"]) {
        const child = Bun.spawn(
          [...svcCommand(), command, "--db-path", join(root, "no.pack"), "--env-file", path],
          { env: { ...environment() }, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
        );
        const stderr = await new Response(child.stderr).text();
        expect(await child.exited).toBe(2);
        expect(stderr).toContain(`${path} is not read: ${why}`);
      }
    },
    120_000,
  );
});

describe("svc serve", () => {
  test("reads the .env of its folder and tells of everything that opens it", async () => {
    const pack = packIn("serve");
    const folder = join(pack, "..");
    writeFileSync(
      join(folder, ".env"),
      'SVC_API={"cors_origins":["*"]}\nSVC_API__ALLOWED_HOSTS=["evil.example"]\nSVC_EXTRACTION__TIMEOUT=9\n',
    );
    const server = await startServer({ pack, environment: environment() });
    expect(server.log()).toContain(
      `Settings taken from ${folder}/.env: api.allowed_hosts, api.cors_origins\n`,
    );
    expect(server.log()).not.toContain("evil.example");
    await server.end("SIGTERM");
  }, 120_000);

  test("leaves out one that everybody may change", async () => {
    const pack = packIn("serve-open");
    const path = join(pack, "../.env");
    writeFileSync(path, 'SVC_API__CORS_ORIGINS=["*"]\n');
    chmodSync(path, 0o666);
    const server = await startServer({ pack, environment: environment() });
    expect(server.log()).toContain(`Warning: ${path} is not read: other users can change it`);
    const answer = await fetch(`${server.url}/healthz`, {
      headers: { origin: "http://evil.example" },
    });
    expect(answer.status).toBe(403);
    await server.end("SIGTERM");
  }, 120_000);
});
