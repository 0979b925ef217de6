/** The built program on a pack that cannot be written: a disk that is mounted for reading only, and a file that nobody may write. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { svcCommand } from "../../scripts/bench/server.ts";
import { usePlace } from "./place.ts";

setDefaultTimeout(60_000);

const { environment, packIn } = usePlace("read-only");
const isSuperuser = process.getuid?.() === 0 && Bun.which("unshare") !== null;
const children: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

type Enter = (command: readonly string[]) => readonly string[];

async function run(args: readonly string[], enter: Enter) {
  const child = Bun.spawn([...enter([...svcCommand(), ...args])], {
    env: { ...environment(), SVC_KEY_STORE: "file", PATH: process.env["PATH"] ?? "" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

const plainly: Enter = (command) => command;
const KINDS = [
  {
    kind: "that nobody may write",
    isOn: true,
    seal: (pack: string) => {
      chmodSync(pack, 0o400);
      return plainly;
    },
  },
  {
    kind: "on a disk that is mounted for reading only",
    isOn: isSuperuser,
    seal: (pack: string): Enter => {
      const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
      return (command) => ["unshare", "-m", "sh", "-c", script, join(pack, ".."), ...command];
    },
  },
];

describe.each(KINDS.filter(({ isOn }) => isOn))("a pack $kind", ({ kind, seal }) => {
  test("is searched, shown, exported and served; what would write is refused", async () => {
    const pack = packIn(kind.replaceAll(" ", "-"));
    const folder = join(pack, "..");
    expect((await run(["init", pack, "--owner", "ada"], plainly)).code).toBe(0);
    expect((await run(["store", pack, "Anna prefers tea"], plainly)).code).toBe(0);
    const found = await run(["search", pack, "tea", "--format", "json"], plainly);
    const { request_id: requestId } = JSON.parse(found.stdout);
    const before = readFileSync(pack);
    const enter = seal(pack);
    const search = await run(["search", pack, "what does Anna drink?", "--format", "json"], enter);
    expect(search).toMatchObject({ code: 0, stdout: expect.stringContaining("Anna prefers tea") });
    expect(search.stderr).not.toContain("receipt");
    const explained = await run(["explain", requestId, "--db-path", pack], enter);
    expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining("Anna prefers") });
    expect((await run(["info", pack], enter)).code).toBe(0);
    expect((await run(["export", pack], enter)).stdout).toContain("Anna prefers tea");
    const doctor = await run(["doctor", pack], enter);
    expect(doctor.stdout).toContain("[WARN] permissions");
    expect(doctor.stdout).toContain("[OK]   integrity");
    const store = await run(["store", pack, "Anna prefers coffee"], enter);
    expect(store).toMatchObject({ code: 2, stderr: expect.stringContaining("is read-only") });
    await serves(pack, enter);
    expect(readdirSync(folder)).toEqual(["memory.pack"]);
    expect(readFileSync(pack).equals(before)).toBeTrue();
  });
});

async function serves(pack: string, enter: Enter): Promise<void> {
  const command = enter([
    ...svcCommand(),
    "serve",
    "--db-path",
    pack,
    "--port",
    "0",
    "--read-only",
  ]);
  const child = Bun.spawn([...command], {
    env: { ...environment(), SVC_KEY_STORE: "file", PATH: process.env["PATH"] ?? "" },
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
  expect((await run(["init", pack, "--plain"], plainly)).code).toBe(0);
  writeFileSync(`${pack}-wal`, Buffer.alloc(100, 1));
  chmodSync(pack, 0o400);
  const { code, stderr } = await run(["search", pack, "tea"], plainly);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${pack}-wal`) });
});
