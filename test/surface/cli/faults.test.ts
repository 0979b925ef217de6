import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { type Line, outcomesOf } from "./many-commands.ts";
import { createWordDesk, type Desk, type Outcome, PROGRAM } from "./run-svc.ts";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  await desk.run(["init", "good.pack", "--plain"]);
  const at = (name: string): string => join(desk.folder, name);
  writeFileSync(at("text.pack"), "these are notes");
  mkdirSync(at("folder.pack"));
  copyFileSync(at("good.pack"), at("newer.pack"));
  const newer = new Database(at("newer.pack"));
  newer.run("UPDATE pack_manifest SET format_version = 99");
  newer.close();
  copyFileSync(at("good.pack"), at("locked.pack"));
  chmodSync(at("locked.pack"), 0o444);
  const foreign = new Database(at("foreign.pack"));
  foreign.run("CREATE TABLE t (a)");
  foreign.close();
});
afterAll(() => desk.remove());

/** Every file below the desk with its content. */
function snapshot(): Readonly<Record<string, string>> {
  const names = readdirSync(desk.folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? sha256Hex(readFileSync(path, "latin1")) : "folder"];
    }),
  );
}

const PACKS = [
  { pack: "missing.pack", says: "svc init" },
  { pack: "no/such/folder.pack", says: "svc init" },
  { pack: "folder.pack", says: "svc init" },
  { pack: "text.pack", says: "is not a pack" },
  { pack: "foreign.pack", says: "another program" },
  { pack: "newer.pack", says: "newer svc" },
];
const COMMANDS = [["info"], ["store", "text"], ["search", "text"]] as const;
const NAMES = [
  { args: ["info", "good.pack/"] },
  { args: ["store", "good.pack/x.pack", "tea"] },
  { args: ["init", `${"y".repeat(300)}.pack`] },
  { args: ["export", "good.pack", "--output", "y".repeat(300)] },
  { args: ["backup", "good.pack", `${"y".repeat(300)}.pack`] },
];
const STEERING = [
  ["\u001b[31mfoo"],
  ["list", "--\u009b5mx"],
  ["list", "\u009b2J\u202e.pack"],
  ["serve", "--port", "\u001b]0;x\u0007"],
];
const USAGE: readonly { args: readonly string[]; says: string; env?: Record<string, string> }[] = [
  { args: ["bogus"], says: "unknown command 'bogus'" },
  { args: ["serch", "good.pack", "x"], says: "Did you mean search?" },
  { args: ["store"], says: "missing required argument 'text...': what to remember; - reads it" },
  { args: ["store", "good.pack", "-x"], says: "Put -- before a text that begins with a dash" },
  { args: ["search", "good.pack", "--fail-fast"], says: "Put -- before a text" },
  { args: ["store", "good.pack", "--typ"], says: "(Did you mean --type?)\nPut -- before a text" },
  { args: ["search", "good.pack", " "], says: "query: is empty" },
  {
    args: ["store", "good.pack", "x", "--metadata", '{"id":1234567890123456789}'],
    says: "metadata.id: 1234567890123456789",
  },
  { args: ["info", ""], says: "path: is empty" },
  { args: ["store", "good.pack", "x", "--type", "thing"], says: "Allowed choices are entity" },
  { args: ["store", "good.pack", "x", "--metadata", "{"], says: "not a JSON object" },
  { args: ["store", "good.pack", "x", "--event-time", "2026-02-30"], says: "is no time" },
  { args: ["search", "good.pack", "x", "--limit", "1.5"], says: "whole number" },
  { args: ["serve", "--port", "70000"], says: "0 to 65535" },
  { args: ["serve", "--db-path", "new.pack", "--host", "0.0.0.0"], says: "without credentials" },
  { args: ["mcp", "--transport", "sse"], says: "use stdio" },
  { args: ["mcp", "--transport", "streamable-http"], says: "SVC_MCP_USER_KEYS" },
  { args: ["mcp"], says: "SVC_MCP_USER_ID", env: { SVC_MCP_USER_KEYS: '{"a":"hidden"}' } },
  { args: ["info", "good.pack"], says: "SVC_API_KEY", env: { SVC_API_KEY: "hidden" } },
  { args: ["info", "good.pack"], says: "encrypt", env: { SVC_ENCRYPTION_ENABLED: "yes" } },
];

const ofPack = ({ pack }: (typeof PACKS)[number], [command, ...rest]: readonly string[]) => ({
  args: [command ?? "", pack, ...rest],
});

const LINES: readonly Line[] = [
  ...PACKS.flatMap((one) => [...COMMANDS, ["doctor"]].map((command) => ofPack(one, command))),
  ...["text.pack", "foreign.pack", "newer.pack"].map((pack) => ({ args: ["init", pack] })),
  ...[...NAMES, ...STEERING.map((args) => ({ args })), ...USAGE],
  ...["forgt", "orget"].map((name) => ({ args: [name, "good.pack"] })),
];
let outcomes: readonly Outcome[] = [];
const states: ReturnType<typeof snapshot>[] = [];

beforeAll(async () => {
  states.push(snapshot());
  outcomes = await outcomesOf(desk.folder, LINES);
  states.push(snapshot());
});

/** What came of a line; nothing of all of them changed anything. */
function outcomeOf(wanted: Line): Outcome {
  const at = LINES.findIndex(
    ({ args, env }) => Bun.deepEquals(args, wanted.args) && env === wanted.env,
  );
  expect(states[1]).toEqual(states[0] ?? {});
  return outcomes[at] ?? { code: -1, stdout: "", stderr: "it was not run" };
}

describe("an unusable pack", () => {
  for (const one of PACKS) {
    const { pack, says } = one;
    for (const words of COMMANDS) {
      const [command] = words;
      test(`${pack} is refused by ${command}, which changes nothing`, () => {
        const { code, stdout, stderr } = outcomeOf(ofPack(one, words));
        expect(stderr).toContain(says);
        expect(stderr).toContain(join(desk.folder, pack));
        expect(stderr.trim().split("\n")).toHaveLength(1);
        expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      });
    }

    test(`${pack} is reported by doctor, which changes nothing`, () => {
      const { code, stdout } = outcomeOf(ofPack(one, ["doctor"]));
      expect(code).toBe(1);
      expect(stdout).toContain("[FAIL]");
      expect(stdout).toContain(says);
    });
  }

  test("is never replaced by init", () => {
    for (const pack of ["text.pack", "foreign.pack", "newer.pack"]) {
      expect(outcomeOf({ args: ["init", pack] }).code).toBe(1);
    }
  });

  test("that is read-only can be looked at, not written; the program says so", async () => {
    const before = snapshot();
    const store = await desk.run(["store", "locked.pack", "text"]);
    expect(store.code).toBe(2);
    expect(store.stderr).toContain("read-only");
    expect((await desk.run(["info", "locked.pack"])).code).toBe(0);
    const doctor = await desk.run(["doctor", "locked.pack"]);
    expect(doctor.stdout).toContain("[WARN] permissions");
    const info = await desk.run(["info", "text.pack"]);
    expect([info.code, info.stderr]).toEqual([1, expect.stringContaining("is not a pack")]);
    expect(snapshot()).toEqual(before);
  });

  test("named by a setting is refused by the servers too", async () => {
    const env = { SVC_PACK_PATH: join(desk.folder, "text.pack") };
    const outcome = await desk.run(["serve", "--port", "0"], { env });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain("is not a pack");
  });
});

test.each(NAMES)("$args names the file and is no fault of the program", (line) => {
  const { code, stderr } = outcomeOf(line);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Error: .*(?:good\.pack|yyy)/);
  expect(stderr).not.toContain("went wrong");
});

test.each(["forgt", "orget"])("%s is no way to forget", (name) => {
  const { code, stderr } = outcomeOf({ args: [name, "good.pack"] });
  expect(stderr).toContain(`unknown command '${name}'`);
  expect(stderr).not.toMatch(/forget/);
  expect(code).toBe(2);
});

test.each(STEERING.map((args) => [args]))(
  "what is complained of cannot steer a terminal: %j",
  (args) => {
    const { code, stderr } = outcomeOf({ args });
    expect(code).toBeOneOf([1, 2]);
    expect(stderr).toContain("\\u");
    expect(stderr).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
  },
);

test.skipIf(process.platform !== "linux")(
  "an argument that is not UTF-8 is refused (left out where arguments are no bytes)",
  async () => {
    const program = PROGRAM.map((word) => `"${word}"`).join(" ");
    const { stderr, exitCode } = Bun.spawnSync(
      ["sh", "-c", `${program} store good.pack "$(printf 'a\\377b')"`],
      { cwd: desk.folder, stderr: "pipe" },
    );
    expect([exitCode, String(stderr)]).toEqual([2, "Error: arguments: are not valid UTF-8\n"]);
  },
);

test("a text with a blank may begin with a dash", async () => {
  await desk.run(["init", "dashes.pack", "--plain", "--owner", "u"]);
  const store = (...args: string[]) => desk.run(["store", "dashes.pack", ...args]);
  await store("- a list item", "--type", "fact");
  await store("--user-id", "u", "-5 degrees");
  await store("--user-id=u", "--metadata", '{"a": 1}', "--", "-x");
  const { stdout } = await desk.run(["list", "dashes.pack", "--user-id", "u"]);
  for (const text of ["- a list item", "-5 degrees", "-x"]) expect(stdout).toContain(text);
});

test.each([...USAGE])("refuses $args: $says", (line) => {
  const { code, stdout, stderr } = outcomeOf(line);
  expect(stderr).toContain(line.says);
  expect(stderr).not.toMatch(/hidden|^\s+at /m);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});
