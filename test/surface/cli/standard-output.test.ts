import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createDesk, type Desk, PROGRAM } from "./run-svc.ts";

setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(async () => {
  desk = createDesk();
  await desk.run(["init", "m.pack", "--plain"]);
  await desk.store("m.pack", "u", ...[1, 2, 3].map((i) => `${i} ${"x".repeat(60_000)}`));
});
afterAll(() => desk.remove());

/** Runs a command whose output goes where a shell says. */
async function shell(line: string) {
  const program = PROGRAM.map((word) => `'${word}'`).join(" ");
  const child = Bun.spawn(["bash", "-c", line.replaceAll("svc ", `${program} `)], {
    cwd: desk.folder,
    env: { ...process.env, HOME: desk.folder, SVC_KEY_STORE: "file", SVC_USER_ID: "u" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  return { stderr, code };
}

const COMMANDS = [
  "svc export m.pack",
  "svc list m.pack --format json",
  "svc stats m.pack",
  "svc --help",
  "svc --version",
];

describe("a full disk under standard output", () => {
  test.each(COMMANDS)("ends %s with one line and code 1", async (command) => {
    const { stderr, code } = await shell(`${command} > /dev/full`);
    const lines = stderr.trim().split("\n");
    expect(lines.at(-1)).toContain("the disk is full");
    // A command may have said before that it is at work.
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(code).toBe(1);
  });

  test("does not end a server that cannot write its log", async () => {
    const { code } = await shell(
      `svc serve --db-path m.pack --port 0 2>/dev/full & pid=$!; sleep 3; kill $pid; wait $pid`,
    );
    expect(code).toBe(0);
  });
});

describe("a reader that leaves", () => {
  test.each([...COMMANDS, "svc store m.pack note"])("ends %s quietly", async (command) => {
    const { stderr, code } = await shell(`${command} | true; exit \${PIPESTATUS[0]}`);
    expect(code).toBe(0);
    expect(stderr).not.toContain("Error");
  });
});
