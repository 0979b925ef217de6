import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeMemoryFolder } from "../../scripts/check/memory-folder.ts";
import { Progress } from "../../scripts/check/progress.ts";
import { type Outcome, runStep } from "../../scripts/check/run.ts";
import { type Step, stepsBeforeTests, testsIn } from "../../scripts/check/steps.ts";

const bun = process.execPath;

async function outcome(step: Step): Promise<Omit<Outcome, "seconds">> {
  const { seconds, ...rest } = await runStep(step, tmpdir());
  expect(seconds).toBeGreaterThanOrEqual(0);
  return rest;
}

describe("runStep", () => {
  test("keeps both streams and the exit code of a command", async () => {
    const script =
      'console.error("to stderr"); await Bun.sleep(50); console.log("to stdout"); process.exit(3)';
    expect(await outcome({ name: "x", limitMinutes: 1, command: [bun, "-e", script] })).toEqual({
      ok: false,
      output: "to stderr\nto stdout\n",
      exitCode: 3,
    });
  });

  test("closes standard input and hides what makes bun test terse or colourful", async () => {
    const script =
      "const { AGENT, CLAUDECODE, FORCE_COLOR, CI, NO_COLOR } = process.env;" +
      "console.log(JSON.stringify([await Bun.stdin.text(), AGENT, CLAUDECODE, FORCE_COLOR, CI, NO_COLOR]))";
    expect(await outcome({ name: "x", limitMinutes: 1, command: [bun, "-e", script] })).toEqual({
      ok: true,
      output: '["",null,null,null,"true","1"]\n',
      exitCode: 0,
    });
  });

  test("ends a command at its limit and says so", async () => {
    const result = await outcome({
      name: "slow",
      limitMinutes: 0.005,
      command: [bun, "-e", "await Bun.sleep(60_000)"],
    });
    expect(result).toEqual({
      ok: false,
      output: "\nslow: ended by SIGKILL (the limit is 0.005 minutes)",
      exitCode: undefined,
    });
  });

  test("reports a command that does not exist", async () => {
    const result = await outcome({ name: "x", limitMinutes: 1, command: ["./no-such-command"] });
    expect(result).toMatchObject({ ok: false, exitCode: undefined });
    expect(result.output).toContain("no-such-command");
  });

  test("gives a command the variables of its step", async () => {
    const script = "console.log(process.env.TMPDIR, process.env.CI)";
    const env = { TMPDIR: "/nowhere" };
    expect(
      await outcome({ name: "x", limitMinutes: 1, env, command: [bun, "-e", script] }),
    ).toEqual({
      ok: true,
      output: "/nowhere true\n",
      exitCode: 0,
    });
  });

  test.each([
    { name: "without findings passes", findings: [], ok: true },
    { name: "with findings fails and shows them", findings: ["a", "b"], ok: false },
  ])("an inspection $name", async ({ findings, ok }) => {
    expect(await outcome({ name: "x", limitMinutes: 1, inspect: () => findings })).toEqual({
      ok,
      output: findings.join("\n"),
      exitCode: undefined,
    });
  });
});

const root = join(import.meta.dir, "../..");

test("all steps together end within 25 minutes", () => {
  const databases = { lacking: "none is needed" };
  const tests = testsIn({ root, memory: undefined, disk: tmpdir(), databases, processes: 2 });
  const before = stepsBeforeTests(root).map((step) => step.limitMinutes);
  expect(Math.max(...before) + tests.limitMinutes).toBeLessThanOrEqual(25);
});

describe("the browser of the tests", () => {
  const nowhere = { ...process.env, CHROMIUM: "/no/such/browser", PATH: "/no/such/folder" };

  test("is a failure where it is wanted and cannot be installed", () => {
    const command = [bun, "scripts/check/test-programs.ts"];
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: root, env: nowhere });
    expect([exitCode, stderr.toString()]).toEqual([
      1,
      "the programs of the tests cannot be installed: apt-get update: apt-get is not installed\n",
    ]);
  });

  test.each([
    ["true", "undefined"],
    [
      undefined,
      "Chromium or its fonts are not installed (apt-get install chromium fonts-inter fonts-jetbrains-mono)",
    ],
  ])("is left out with a reason unless CI is set: CI=%p", (CI, reason) => {
    const script = `import { whyNo } from "./scripts/check/test-programs.ts"; console.log(String(whyNo("browser")));`;
    const env = { ...nowhere, CI };
    const { stdout } = Bun.spawnSync([bun, "-e", script], { cwd: root, env });
    expect(stdout.toString()).toBe(`${reason}\n`);
  });
});

describe("the folder in memory", () => {
  const parent = mkdtempSync(join(tmpdir(), "svc-memory-"));
  afterAll(() => rmSync(parent, { recursive: true }));

  test("is for everybody, runs programs and takes the place of one whose check was killed", async () => {
    const killed = Bun.spawn([bun, "-e", ""]);
    await killed.exited;
    for (const name of [`svc-${killed.pid}`, "svc-1", "svc-other"]) mkdirSync(join(parent, name));
    const folder = makeMemoryFolder(parent, 0);
    expect(folder).toBe(join(parent, `svc-${process.pid}`));
    expect(readdirSync(parent).sort()).toEqual(["svc-1", "svc-other", `svc-${process.pid}`].sort());
    expect(statSync(folder ?? "").mode & 0o7777).toBe(0o1777);
    expect(readdirSync(folder ?? "")).toEqual([]);
  });

  test.each([
    { name: "there is no such file system", place: "/nowhere", room: 0 },
    { name: "it has too little room", place: tmpdir(), room: 1e15 },
  ])("is left out where $name", ({ place, room }) => {
    expect(makeMemoryFolder(place, room)).toBeUndefined();
  });
});

describe("the progress of a run of tests", () => {
  test("is told every 15 seconds, and a failure at once, however the output is cut", () => {
    const progress = new Progress();
    expect(progress.read("\ntest/lib/a.test.ts:\n(pass) one [1.00ms]\n(pa", 1_000)).toBeUndefined();
    expect(progress.read("ss) two\n(skip) three\n", 2_000)).toBeUndefined();
    expect(progress.read("(fail) four [2.00ms]\n", 3_000)).toBe(
      "     FAIL test/lib/a.test.ts: four [2.00ms]",
    );
    expect(progress.read("\ntest/lib/b.test.ts:\n(pass) five\n", 16_000)).toBe(
      "     15 s: 3 passed, 1 failed, in 2 files",
    );
    expect(progress.read("(pass) six\n", 17_000)).toBeUndefined();
    expect(progress.read("(pass) seven\n", 31_500)).toBe(
      "     31 s: 5 passed, 1 failed, in 2 files",
    );
  });
});
