import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createDesk, type Desk } from "../surface/cli/run-svc.ts";

let desk: Desk;
let project: string;
beforeAll(async () => {
  desk = createDesk();
  project = join(desk.folder, "site");
  mkdirSync(project);
  await desk.run(["init", "a.pack"]);
});
afterAll(() => desk.remove());

const HOOK = ["hook", "claude-code", "--db-path"];

/** A payload of Claude Code. */
function said(event: string, session: string, text: string, more: object = {}): string {
  const field = event === "Stop" ? "last_assistant_message" : "prompt";
  const common = { session_id: session, transcript_path: "/t.jsonl", cwd: project };
  return JSON.stringify({ ...common, hook_event_name: event, [field]: text, ...more });
}

async function hook(payload: string | Uint8Array, pack = "a.pack", env = {}): Promise<string> {
  const run = await desk.run([...HOOK, join(desk.folder, pack)], { stdin: payload, env });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  return run.stdout;
}

type Status = {
  readonly stored: readonly { readonly content: string }[];
  readonly waiting: number;
  readonly refused: readonly unknown[];
  readonly last_runs: readonly { readonly did: string }[];
};
async function status(pack = "a.pack"): Promise<Status> {
  const { stdout } = await desk.run(["capture", "status", pack, "--format", "json"]);
  return JSON.parse(stdout);
}
const texts = ({ stored }: Status) => stored.map(({ content }) => content).sort();

describe("without a process that serves the pack", () => {
  test("what was said waits sealed, and the next opening stores it once, however often it came", async () => {
    const prompt = said("UserPromptSubmit", "s1", "My sister Clara lives in Bonn");
    expect(await hook(prompt)).toBe("");
    await hook(prompt);
    await hook(said("Stop", "s1", "Noted: Clara lives in Bonn."));
    const spool = join(desk.folder, ".config/svc/capture/spool");
    const [tray = ""] = readdirSync(spool);
    const waiting = readdirSync(join(spool, tray));
    expect(waiting).toHaveLength(2);
    expect(readFileSync(join(spool, tray, waiting[0] ?? ""), "utf8")).not.toContain("Clara");
    const both = ["My sister Clara lives in Bonn", "Noted: Clara lives in Bonn."];
    expect(texts(await status())).toEqual(both);
    await hook(prompt);
    const after = await status();
    expect(texts(after)).toEqual(both);
    expect(after).toMatchObject({ waiting: 0, refused: [] });
  });

  test("secrets and private words are gone before anything is written", async () => {
    const key = ["sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"].join("");
    await hook(said("UserPromptSubmit", "s2", `Pay with ${key} now <private>Otto</private>`));
    const stored = texts(await status()).find((text) => text.startsWith("Pay"));
    expect(stored).toBe("Pay with [secret:stripe] now");
  });
});

test("beside a process that serves the pack a turn is stored once, by whichever is in time", async () => {
  const pack = join(desk.folder, "c.pack");
  await desk.run(["init", pack]);
  const server = desk.start(["mcp", "--db-path", pack, "--no-create"]);
  try {
    const hello = {
      ...{ protocolVersion: "2025-06-18", capabilities: {} },
      clientInfo: { name: "test", version: "1" },
    };
    const asked = { jsonrpc: "2.0", id: 1, method: "initialize", params: hello };
    server.stdin.write(`${JSON.stringify(asked)}\n`);
    await server.stdin.flush();
    // It has introduced itself.
    await server.stdout.getReader().read();
    const turn = said("Stop", "s8", "Tom may eat no hazelnuts");
    await Promise.all([hook(turn, "c.pack"), hook(turn, "c.pack"), hook(turn, "c.pack")]);
    expect(texts(await status("c.pack"))).toEqual(["Tom may eat no hazelnuts"]);
  } finally {
    server.stdin.end();
    await server.exited;
  }
});

describe("whatever comes", () => {
  test("no payload, half of one, bytes, an unknown event and a list end well and store nothing", async () => {
    const before = texts(await status());
    const payloads = [
      "",
      said("UserPromptSubmit", "s3", "Half of this").slice(0, 60),
      new Uint8Array([0xff, 0xfe, 0x00, 0x7b]),
      said("Sneeze", "s3", "Nobody hears this one"),
      "[1, 2]",
    ];
    const answers = await Promise.all(payloads.map((payload) => hook(payload)));
    expect(answers).toEqual(payloads.map(() => ""));
    expect(texts(await status())).toEqual(before);
  });

  test("a payload of 10 MB is cut", async () => {
    await hook(said("UserPromptSubmit", "s4", `Much to say ${"and more ".repeat(1_100_000)}`));
    const long = texts(await status()).find((text) => text.startsWith("Much"));
    expect(long?.endsWith("[cut]")).toBeTrue();
  });

  test("a pack that was moved is not made anew, the log says why, and what was said waits for it", async () => {
    await hook(said("UserPromptSubmit", "s5", "This has no place"), "gone.pack");
    expect(readdirSync(desk.folder)).not.toContain("gone.pack");
    const { last_runs: runs } = await status();
    expect(runs.map(({ did }) => did)).toContain("failed:no_pack+spooled");
    await desk.run(["init", "gone.pack"]);
    expect(texts(await status("gone.pack"))).toEqual(["This has no place"]);
  });

  test("no hook waits for a pack that is no file, and what was said waits for one", async () => {
    Bun.spawnSync(["mkfifo", join(desk.folder, "pipe.pack")]);
    mkdirSync(join(desk.folder, "folder.pack/memory.db"), { recursive: true });
    const places = ["pipe.pack", "folder.pack"];
    const events = ["SessionStart", "UserPromptSubmit", "Stop"];
    const turns = events.map((event) => said(event, "s10", "Wait for a file"));
    const runs = places.flatMap((pack) => turns.map((turn) => hook(turn, pack)));
    expect(await Promise.all(runs)).toEqual(runs.map(() => ""));
    rmSync(join(desk.folder, "pipe.pack"));
    await desk.run(["init", "pipe.pack"]);
    expect(texts(await status("pipe.pack"))).toEqual(["Wait for a file", "Wait for a file"]);
  });

  test("a pack without its key, of a newer format, damaged, or with broken settings beside it keeps what was said for later", async () => {
    const at = (name: string) => join(desk.folder, name);
    const keys = at(".config/svc/keys");
    const known = readdirSync(keys);
    await Promise.all([
      desk.run(["init", "keyless.pack"]),
      desk.run(["init", "newer.pack", "--plain"]),
    ]);
    for (const name of readdirSync(keys)) {
      if (!known.includes(name)) renameSync(join(keys, name), at(name));
    }
    const newer = new Database(at("newer.pack"));
    const change = (by: number) =>
      newer.run(`UPDATE pack_manifest SET format_version = format_version + ${by}`);
    change(1);
    writeFileSync(at("bad.pack"), "no pack at all");
    mkdirSync(at("set"));
    copyFileSync(at("a.pack"), at("set/a.pack"));
    writeFileSync(at("set/.env"), "SVC_BUSY_TIMEOUT_MS=soon\n");
    const packs = ["keyless.pack", "newer.pack", "bad.pack", "set/a.pack"];
    const turn = said("UserPromptSubmit", "s6", "Wait for better times", { cwd: at("gone") });
    expect(await Promise.all(packs.map((pack) => hook(turn, pack)))).toEqual(["", "", "", ""]);
    const told = await desk.run(["doctor", "keyless.pack", "--format", "json"]);
    expect(told.code).not.toBe(0);
    expect(told.stdout).toContain("no key");
    for (const name of readdirSync(desk.folder)) {
      if (name.endsWith(".key")) renameSync(at(name), join(keys, name));
    }
    change(-1);
    newer.close();
    rmSync(at("set/.env"));
    const after = packs.filter((pack) => pack !== "bad.pack").map((pack) => status(pack));
    for (const one of await Promise.all(after)) {
      expect(texts(one)).toContain("Wait for better times");
    }
  });
});

describe("switches", () => {
  test("keep a prompt, a folder, an assistant and everything from being stored", async () => {
    const before = texts(await status());
    await hook(said("UserPromptSubmit", "s7", "!nomem this stays between us"));
    await hook(said("UserPromptSubmit", "s7", "Off by a variable"), "a.pack", { SVC_CAPTURE: "0" });
    writeFileSync(join(project, ".svcignore"), "");
    await hook(said("UserPromptSubmit", "s7", "Off by a file here"));
    await desk.run(["capture", "off"]);
    await hook(said("UserPromptSubmit", "s7", "Off by a command", { cwd: desk.folder }));
    await desk.run(["capture", "on"]);
    await desk.run(["capture", "off", "--client", "claude-code"]);
    await hook(said("UserPromptSubmit", "s7", "Off for an assistant", { cwd: desk.folder }));
    expect(texts(await status())).toEqual(before);
    // A name that is no assistant's would leave the one that was meant on.
    for (const part of ["off", "on", "sweep"]) {
      expect((await desk.run(["capture", part, "--client", "claude"])).code).toBe(2);
    }
    expect((await desk.run(["capture", "sweep", "--since", "soon"])).code).toBe(2);
    await desk.run(["capture", "on", "--client", "claude-code"]);
    // What cannot be read may say off.
    const switches = join(desk.folder, ".config/svc/capture/switches.json");
    writeFileSync(switches, readFileSync(switches, "utf8").slice(0, 20));
    await hook(said("UserPromptSubmit", "s7", "Off by half a file", { cwd: desk.folder }));
    expect((await desk.run(["doctor", "a.pack"])).stdout).toContain("svc capture on");
    await desk.run(["capture", "on"]);
    await hook(said("UserPromptSubmit", "s7", "And on once more", { cwd: desk.folder }));
    expect(texts(await status())).toEqual([...before, "And on once more"].sort());
  });
});

test("svc projects counts and forgets what was captured a moment ago, too", async () => {
  await desk.run(["init", "p.pack", "--plain"]);
  const say = (text: string) =>
    hook(said("UserPromptSubmit", "p1", text, { cwd: desk.folder }), "p.pack");
  await say("The shop sells garden gnomes");
  const projects = async () => {
    const { stdout } = await desk.run(["projects", "list", "p.pack", "--format", "json"]);
    return JSON.parse(stdout).projects;
  };
  const [{ id }] = await projects();
  await say("The gnomes are painted green");
  const { stdout } = await desk.run(["projects", "forget", "p.pack", id, "--yes"]);
  expect(stdout).toContain("2 memories");
  expect(await projects()).toEqual([]);
  expect(texts(await status("p.pack"))).toEqual([]);
});

describe("svc connect --capture", () => {
  test("adds hooks that work, doctor says when they ran, and svc disconnect leaves nothing behind", async () => {
    const connected = await desk.run([
      "connect",
      "claude-code",
      "--db-path",
      "a.pack",
      "--capture",
      "--yes",
      "--format",
      "json",
    ]);
    expect(connected.code).toBe(0);
    const { capture } = JSON.parse(connected.stdout);
    expect(capture).toMatchObject({
      file: join(desk.folder, ".claude/settings.json"),
      status: "done",
    });
    expect(capture.trials).toHaveLength(3);
    const { hooks } = JSON.parse(readFileSync(capture.file, "utf8"));
    const { command } = hooks.UserPromptSubmit[0].hooks[0];
    const payload = said("UserPromptSubmit", "s9", "By the command of the file", {
      cwd: desk.folder,
    });
    const env = {
      HOME: desk.folder,
      XDG_CONFIG_HOME: join(desk.folder, ".config"),
      SVC_KEY_STORE: "file",
    };
    Bun.spawnSync(["/bin/sh", "-c", command], { stdin: new Blob([payload]), env });
    expect(texts(await status())).toContain("By the command of the file");
    const { checks } = JSON.parse(
      (await desk.run(["doctor", "a.pack", "--format", "json"])).stdout,
    );
    const found = checks.find(({ name }: { name: string }) => name === "hooks");
    expect(found).toMatchObject({ status: "ok" });
    expect(found.message).toContain("claude-code");
    const gone = await desk.run(["disconnect", "claude-code", "--yes"]);
    expect(gone.code).toBe(0);
    expect(readdirSync(desk.folder)).not.toContain(".claude");
    expect(readdirSync(desk.folder)).not.toContain(".claude.json");
  });

  test("adds none where the plugin is enabled, which doctor names", async () => {
    const file = join(desk.folder, ".claude/settings.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '{"enabledPlugins": {"svc@team": true}}');
    const line = "connect claude-code --db-path a.pack --capture --no-verify --yes --format json";
    const { stdout, stderr } = await desk.run(line.split(" "));
    expect(JSON.parse(stdout).capture).toBeNull();
    expect(stderr).toContain("has the plugin of svc");
    expect(readFileSync(file, "utf8")).toBe('{"enabledPlugins": {"svc@team": true}}');
    const { stdout: said } = await desk.run(["doctor", "a.pack", "--format", "json"]);
    expect(said).toContain("claude-code (its plugin)");
    await desk.run(["disconnect", "claude-code", "--yes"]);
    rmSync(dirname(file), { recursive: true });
  });
});

test("svc connect --rule adds a sentence to the rules of an assistant, and svc disconnect takes it away", async () => {
  const file = join(desk.folder, ".config/amp/AGENTS.md");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "# Mine");
  const line = "connect amp --db-path a.pack --rule --no-verify --yes --format json";
  const { stdout } = await desk.run(line.split(" "));
  expect(JSON.parse(stdout).rule).toMatchObject({ file, status: "done", backup: null });
  expect(readFileSync(file, "utf8")).toStartWith("# Mine\n<!-- svc:rule -->\nBefore you begin");
  await desk.run(["disconnect", "amp", "--yes"]);
  expect(readFileSync(file, "utf8")).toBe("# Mine");
  expect(readdirSync(dirname(file))).toEqual(["AGENTS.md"]);
});
