/** `svc open` as a person starts it: the program itself, a browser that writes down what it is given. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { starterFor, withoutKeys } from "../../../src/surface/cli/commands/serve.ts";
import { createWordDesk, type Desk } from "./run-svc.ts";

// Each test starts processes.
setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  await desk.run(["init", "plain.pack", "--plain"]);
  await desk.run(["init", "sealed.pack"]);
});
afterAll(() => desk.remove());

const LINK = /^ {2}(http:\/\/127\.0\.0\.1:\d+\/inspect\/)#code=([0-9a-f]{32})$/m;

type Opened = {
  readonly url: string;
  readonly page: string;
  readonly code: string;
  /** Everything that was said so far. */
  readonly said: () => string;
  /** Stops it as Ctrl-C does. @returns the exit code */
  readonly stop: () => Promise<number>;
};

/** Starts it and waits for its link. */
async function open(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = desk.start(["open", ...args], { DISPLAY: "", WAYLAND_DISPLAY: "", ...env });
  let text = "";
  const link = Promise.withResolvers<RegExpExecArray>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      text += decoder.decode(chunk, { stream: true });
      const found = LINK.exec(text);
      if (found !== null) link.resolve(found);
    }
    link.reject(new Error(`it ended without a link:\n${text}`));
  })();
  const [, page = "", code = ""] = await link.promise;
  const opened: Opened = {
    page,
    code,
    url: new URL(page).origin,
    said: () => text,
    stop: async () => {
      child.kill("SIGINT");
      await reading;
      return await child.exited;
    },
  };
  return opened;
}

async function keyOf({ url, code }: Opened): Promise<string> {
  const answer = await fetch(`${url}/v1/inspector/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  expect(answer.status).toBe(200);
  return String(Reflect.get(Object(await answer.json()), "key"));
}

function asking({ url }: Opened, key: string) {
  return async (path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
    return { status: answer.status, json: Object(await answer.json()) };
  };
}

test("shows a pack to who has the link, and ends with Ctrl-C", async () => {
  await desk.store("plain.pack", "anna", "Anna prefers tea");
  const opened = await open(["plain.pack"]);
  expect(opened.said()).toContain("shows ./plain.pack at http://127.0.0.1:");
  expect((await fetch(`${opened.url}/v1/nodes?user_id=anna`)).status).toBe(401);

  const ask = asking(opened, await keyOf(opened));
  const { json } = await ask("/v1/nodes?user_id=anna");
  expect(json).toMatchObject({ nodes: [{ content: "Anna prefers tea" }] });
  expect(await opened.stop()).toBe(0);
  expect(opened.said()).toContain("svc stopped");
  // Nothing that opens it again is left: neither on the screen nor in a file.
  expect(opened.said().match(/[0-9a-f]{32,}/g)).toEqual([opened.code]);
});

test("finds the key of an encrypted pack, and examines it", async () => {
  const opened = await open(["sealed.pack"]);
  const ask = asking(opened, await keyOf(opened));
  expect((await ask("/v1/stats")).json).toMatchObject({ details: { encrypted: true } });
  const { json } = await ask("/v1/doctor");
  expect(json).toMatchObject({ ok: true, checks: expect.any(Array) });
  expect(await opened.stop()).toBe(0);
});

test("takes a given key, and examines the pack with it", async () => {
  await desk.run(["init", "given.pack", "--encryption-key", "correct horse battery"]);
  await desk.run(["key", "forget", "given.pack", "--yes"]);
  const opened = await open(["given.pack", "--encryption-key", "correct horse battery"]);
  const ask = asking(opened, await keyOf(opened));
  expect((await ask("/v1/doctor")).json).toMatchObject({ failures: 0 });
  expect(await opened.stop()).toBe(0);
});

test("refuses every change with --read-only", async () => {
  const opened = await open(["--db-path", "plain.pack", "--read-only"]);
  const ask = asking(opened, await keyOf(opened));
  expect((await ask("/v1/caller")).json).toMatchObject({ read_only: true });
  const { status, json } = await ask("/v1/store", { user_id: "anna", content: "x" });
  expect([status, json.code]).toEqual([503, "pack_read_only"]);
  expect(await opened.stop()).toBe(0);
});

test("says on the terminal that the link was used a second time", async () => {
  const opened = await open(["plain.pack"]);
  const ask = asking(opened, await keyOf(opened));
  const again = await ask("/v1/inspector/session", { code: opened.code });
  expect(again.status).toBe(401);
  expect((await ask("/v1/caller")).json.code).toBe("session_ended");
  expect(await opened.stop()).toBe(0);
  expect(opened.said()).toContain("The link was used a second time");
});

test("gives the link to the browser of a display, and to none with --no-browser", async () => {
  const bin = join(desk.folder, "bin");
  mkdirSync(bin, { recursive: true });
  const note = join(desk.folder, "browsed");
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\necho "$1" > ${note}\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  const env = { DISPLAY: ":9", PATH: `${bin}:${process.env["PATH"]}` };

  const hidden = await open(["plain.pack", "--no-browser"], env);
  await hidden.stop();
  expect(existsSync(note)).toBe(false);
  const shown = await open(["plain.pack"], env);
  expect(readFileSync(note, "utf8").trim()).toBe(`${shown.page}#code=${shown.code}`);
  expect(shown.said()).toContain("Your browser opens it.");
  await shown.stop();

  writeFileSync(join(bin, "xdg-open"), "#!/bin/sh\nexit 3\n");
  const failed = await open(["plain.pack"], env);
  expect(failed.said()).toContain("Open this link in a browser");
  await failed.stop();
});

test.each([
  { name: "a missing pack", args: ["none.pack"], env: {}, says: "svc init" },
  {
    name: "an inspector that is turned off",
    args: ["plain.pack"],
    env: { SVC_API__INSPECTOR: "false" },
    says: "api.inspector",
  },
  {
    name: "a wrong key",
    args: ["sealed.pack", "--encryption-key", "wrong"],
    env: {},
    says: "sealed.pack",
  },
])("refuses $name, and makes nothing", async ({ args, env, says }) => {
  const { code, stderr, stdout } = await desk.run(["open", ...args], { env });
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain(says);
  expect(stderr).not.toContain("#code=");
  expect(stdout).toBe("");
  expect(existsSync(join(desk.folder, "none.pack"))).toBe(false);
});

test.each([
  { platform: "darwin", environment: {}, starter: ["open"] },
  { platform: "win32", environment: {}, starter: ["cmd", "/c", "start", ""] },
  { platform: "linux", environment: { WAYLAND_DISPLAY: "w" }, starter: ["xdg-open"] },
  { platform: "linux", environment: { DISPLAY: "" }, starter: undefined },
])("on $platform with $environment a browser is started by $starter", (given) => {
  expect(starterFor(given.platform, given.environment)).toEqual(given.starter as never);
});

test("the browser gets none of the keys of this process", () => {
  const kept = { PATH: "/bin", DISPLAY: ":0", KEYBOARD: "de" };
  const keys = {
    SVC_ENCRYPTION_KEY: "k",
    svc_api_api_key: "k",
    OPENAI_API_KEY: "k",
    SVC_API: "{}",
  };
  expect(withoutKeys({ ...kept, ...keys })).toEqual(kept);
});
