import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { whyNo } from "../../../scripts/check/test-programs.ts";
import { NODE_TYPES } from "../../../src/domain/enums.ts";
import { COMMAND_NAMES } from "../../../src/surface/cli/program.ts";
import { leftOut } from "../../left-out.ts";
import { createDesk, type Desk, PROGRAM } from "./run-svc.ts";

// Each test starts processes.
setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(async () => {
  desk = createDesk();
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await desk.run(["completion", shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    writeFileSync(join(desk.folder, `svc.${shell}`), stdout);
  }
});
afterAll(() => desk.remove());

/** Lets a shell find the program under its name. */
const CALL = `svc() { ${PROGRAM.map((word) => `'${word}'`).join(" ")} "$@"; }; `;

/** The proposals of bash for a line whose words were split as readline does; the cursor stands behind the last one. */
function complete(...words: readonly string[]): readonly string[] {
  const script = `${CALL}source svc.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc
    (( \${#COMPREPLY[@]} )) && printf '%s\\n' "\${COMPREPLY[@]}"; true`;
  const { stdout, stderr } = Bun.spawnSync(
    ["bash", "--norc", "-c", script, "bash", "svc", ...words],
    {
      cwd: desk.folder,
      env: { ...process.env, XDG_CONFIG_HOME: desk.folder },
    },
  );
  expect(stderr.toString()).toBe("");
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .toSorted();
}

describe("completion in bash", () => {
  test("proposes every command, and the parts of one that has parts", () => {
    expect(complete("")).toEqual([...COMMAND_NAMES].toSorted());
    expect(complete("ex")).toEqual(["explain", "export", "extraction-status"]);
    expect(complete("key", "")).toEqual(["export", "forget", "import", "status"]);
    expect(complete("completion", "")).toEqual(["bash", "fish", "zsh"]);
  });

  test("proposes the options of the command at hand", () => {
    expect(complete("list", "a.pack", "--s")).toEqual(["--scope", "--since", "--state"]);
    expect(complete("key", "export", "--")).toEqual([
      "--db-path",
      "--encryption-key",
      "--help",
      "--output",
      "--pack",
    ]);
    expect(complete("--v")).toEqual(["--version"]);
  });

  test("proposes the values that an option allows, behind a blank and behind =", () => {
    expect(complete("store", "a.pack", "tea", "--type", "")).toEqual([...NODE_TYPES].toSorted());
    expect(complete("store", "--type", "=", "pre")).toEqual(["preference"]);
    expect(complete("store", "--type", "=")).toEqual([...NODE_TYPES].toSorted());
    expect(complete("connect", "claude")).toEqual(["claude-code", "claude-desktop"]);
  });

  test("proposes nothing where any text or file may stand, so that bash proposes files", () => {
    expect(readFileSync(join(desk.folder, "svc.bash"), "utf8")).toContain("complete -o default -F");
    for (const line of [
      "search",
      "serve --db-path",
      "search a.pack",
      "import",
      "show a.pack --user-id",
    ]) {
      expect(complete(...line.split(" "), "")).toEqual([]);
    }
  });
});

/** A test that needs a shell; where it is not installed, it is skipped and says so. */
function testIn(shell: "zsh" | "fish", name: string, body: () => void): void {
  const lacking = whyNo(shell);
  test.skipIf(lacking !== undefined)(`${name}${leftOut(lacking)}`, body);
}

testIn("zsh", "zsh reads its completion", () => {
  const { exitCode, stderr } = Bun.spawnSync(["zsh", "-n", "svc.zsh"], { cwd: desk.folder });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
});

testIn("fish", "fish proposes commands, values and files", () => {
  const proposals = (line: string): readonly string[] => {
    const program = PROGRAM.map((word) => `'${word}'`).join(" ");
    const script = `function svc; ${program} $argv; end; source svc.fish; complete -C ${JSON.stringify(line)}`;
    const { stdout } = Bun.spawnSync(["fish", "--no-config", "-c", script], { cwd: desk.folder });
    return stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map((one) => one.split("\t")[0] ?? "");
  };
  expect(proposals("svc ")).toEqual([...COMMAND_NAMES].toSorted());
  expect(proposals("svc store --type pre")).toEqual(["preference"]);
  expect(proposals("svc key ")).toEqual(["export", "forget", "import", "status"]);
});

test("another shell is refused", async () => {
  const { code, stderr } = await desk.run(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Allowed choices are bash, zsh, fish");
});
