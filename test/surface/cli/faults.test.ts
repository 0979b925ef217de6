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
import { createWordDesk, type Desk, PROGRAM } from "./run-svc.ts";

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
  { pack: "missing.pack", code: 1, says: "svc init" },
  { pack: "no/such/folder.pack", code: 1, says: "svc init" },
  { pack: "folder.pack", code: 1, says: "svc init" },
  { pack: "text.pack", code: 1, says: "is not a pack" },
  { pack: "foreign.pack", code: 1, says: "another program" },
  { pack: "newer.pack", code: 1, says: "newer svc" },
];

describe("an unusable pack", () => {
  for (const { pack, code, says } of PACKS) {
    for (const args of [["info"], ["store", "text"], ["search", "text"]]) {
      const [command = "", ...rest] = args;
      test(`${pack} is refused by ${command}, which changes nothing`, async () => {
        const before = snapshot();
        const outcome = await desk.run([command, pack, ...rest]);
        expect(outcome.stderr).toContain(says);
        expect(outcome.stderr).toContain(join(desk.folder, pack));
        expect(outcome.stderr.trim().split("\n")).toHaveLength(1);
        expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code, stdout: "" });
        expect(snapshot()).toEqual(before);
      });
    }
    test(`${pack} is reported by doctor, which changes nothing`, async () => {
      const before = snapshot();
      const outcome = await desk.run(["doctor", pack]);
      expect(outcome.code).toBe(1);
      expect(outcome.stdout).toContain("[FAIL]");
      expect(outcome.stdout).toContain(says);
      expect(snapshot()).toEqual(before);
    });
  }

  test("is never replaced by init", async () => {
    const before = snapshot();
    for (const pack of ["text.pack", "foreign.pack", "newer.pack"]) {
      expect((await desk.run(["init", pack])).code).toBe(1);
    }
    expect(snapshot()).toEqual(before);
  });

  test("that is read-only can be looked at, not written", async () => {
    const before = snapshot();
    const store = await desk.run(["store", "locked.pack", "text"]);
    expect(store.code).toBe(2);
    expect(store.stderr).toContain("read-only");
    expect((await desk.run(["info", "locked.pack"])).code).toBe(0);
    const doctor = await desk.run(["doctor", "locked.pack"]);
    expect(doctor.stdout).toContain("[WARN] permissions");
    expect(snapshot()).toEqual(before);
  });

  test("named by a setting is refused by the servers too", async () => {
    const env = { SVC_PACK_PATH: join(desk.folder, "text.pack") };
    const outcome = await desk.run(["serve", "--port", "0"], { env });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain("is not a pack");
  });
});

test.each([
  { args: ["info", "good.pack/"] },
  { args: ["store", "good.pack/x.pack", "tea"] },
  { args: ["init", `${"y".repeat(300)}.pack`] },
  { args: ["export", "good.pack", "--output", "y".repeat(300)] },
  { args: ["backup", "good.pack", `${"y".repeat(300)}.pack`] },
])("$args names the file and is no fault of the program", async ({ args }) => {
  const before = snapshot();
  const { code, stderr } = await desk.run(args);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Error: .*(?:good\.pack|yyy)/);
  expect(stderr).not.toContain("went wrong");
  expect(snapshot()).toEqual(before);
});

const USAGE: readonly { args: readonly string[]; says: string; env?: Record<string, string> }[] = [
  { args: ["bogus"], says: "unknown command 'bogus'" },
  { args: ["serch", "good.pack", "x"], says: "Did you mean search?" },
  { args: ["store"], says: "missing required argument 'text...': what to remember; - reads it" },
  { args: ["store", "good.pack", "-x"], says: "Put -- before a text that begins with a dash" },
  { args: ["search", "good.pack", "--fail-fast"], says: "Put -- before a text" },
  { args: ["store", "good.pack", "--typ"], says: "(Did you mean --type?)\nPut -- before a text" },
  { args: ["list", "good.pack", "--limi", "3"], says: "(Did you mean --limit?)" },
  { args: ["search", "good.pack", " "], says: "query: is empty" },
  {
    args: ["store", "good.pack", "x", "--metadata", '{"id":1234567890123456789}'],
    says: "metadata.id: 1234567890123456789",
  },
  { args: ["info", "good.pack", "--nope"], says: "unknown option '--nope'" },
  { args: ["info", ""], says: "path: is empty" },
  { args: ["store", "good.pack", "x", "--type", "thing"], says: "Allowed choices are entity" },
  { args: ["store", "good.pack", "x", "--scope", "all"], says: "Allowed choices are personal" },
  { args: ["store", "good.pack", "x", "--metadata", "{"], says: "not a JSON object" },
  { args: ["store", "good.pack", "x", "--event-time", "2026-02-30"], says: "is no time" },
  { args: ["store", "good.pack", "x", "--speaker", "s".repeat(201)], says: "200" },
  { args: ["search", "good.pack", "x", "--limit", "-1"], says: "--limit" },
  { args: ["search", "good.pack", "x", "--limit", "1.5"], says: "whole number" },
  { args: ["serve", "--port", "70000"], says: "0 to 65535" },
  { args: ["serve", "--log-level", "loud"], says: "Allowed choices are" },
  { args: ["serve", "--db-path", "new.pack", "--host", "0.0.0.0"], says: "without credentials" },
  { args: ["mcp", "--transport", "sse"], says: "use stdio" },
  { args: ["mcp", "--transport", "streamable-http"], says: "SVC_MCP_USER_KEYS" },
  { args: ["mcp", "--transport", "carrier-pigeon"], says: "use stdio" },
  { args: ["mcp"], says: "SVC_MCP_USER_ID", env: { SVC_MCP_USER_KEYS: '{"a":"hidden"}' } },
  { args: ["info", "good.pack"], says: "SVC_API_KEY", env: { SVC_API_KEY: "hidden" } },
  { args: ["info", "good.pack"], says: "encrypt", env: { SVC_ENCRYPTION_ENABLED: "yes" } },
];

test.each(["forgt", "orget"])("%s is no way to forget", async (name) => {
  const { code, stderr } = await desk.run([name, "good.pack"]);
  expect(stderr).toContain(`unknown command '${name}'`);
  expect(stderr).not.toMatch(/forget/);
  expect(code).toBe(2);
});

test.each([
  [["\u001b[31mfoo"]],
  [["list", "--\u009b5mx"]],
  [["serve", "--port", "\u001b]0;x\u0007"]],
])("what is complained of cannot steer a terminal: %j", async (args) => {
  const { code, stderr } = await desk.run(args);
  expect(code).toBe(2);
  expect(stderr).toContain("\\u");
  expect(stderr).not.toMatch(/[^\P{Cc}\n]/u);
});

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

test.each([...USAGE])("refuses $args: $says", async ({ args, says, env }) => {
  const before = snapshot();
  const outcome = await desk.run(args, env === undefined ? {} : { env });
  expect(outcome.stderr).toContain(says);
  expect(outcome.stderr).not.toMatch(/hidden|^\s+at /m);
  expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code: 2, stdout: "" });
  expect(snapshot()).toEqual(before);
});
