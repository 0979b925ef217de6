import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { tryServer } from "../../src/assistants/round-trip.ts";
import type { ServerCommand } from "../../src/assistants/server-entry.ts";
import { until } from "../until.ts";

setDefaultTimeout(120_000);

/** For a server that answers or ends. */
const LIMIT_MS = 30_000;
/** For one that stays silent: each test of it waits so long. */
const SILENT_MS = 2000;

function shell(script: string): ServerCommand {
  return { command: "/bin/sh", args: ["-c", script], env: {} };
}

describe("a server that does not answer", () => {
  test.each([
    { name: "is missing", server: { ...shell(""), command: "/nowhere/svc" }, says: "ENOENT" },
    { name: "is no program", server: { ...shell(""), command: "/etc/passwd" }, says: "EACCES" },
    { name: "ends", server: shell("exit 3"), says: "it ended without an answer" },
    {
      name: "ends with a reason",
      server: shell("echo first >&2; echo the key is gone >&2; exit 2"),
      says: "it ended: the key is gone",
    },
    {
      name: "speaks another language",
      server: shell("while read line; do echo hello; done"),
      says: "did not answer within 2 s",
      limitMs: SILENT_MS,
    },
    {
      name: "gives no answer and does not leave",
      server: shell("trap '' TERM; echo waiting >&2; while :; do sleep 0.1; done"),
      says: "its last words: waiting",
      // Its words have to arrive before.
      limitMs: 3 * SILENT_MS,
    },
  ])(
    "$name: the problem is told, and no process is left",
    async ({ server, says, limitMs = LIMIT_MS }) => {
      const marked = { ...server, env: { SVC_TRIP_MARK: crypto.randomUUID() } };
      const trip = await tryServer(marked, { limitMs });
      expect(trip).toMatchObject({ isOk: false });
      expect(trip.isOk ? "" : trip.problem).toContain(says);
      expect(trip.ms).toBeLessThan(limitMs + LIMIT_MS);
      // What a killed shell had started itself ends a moment later.
      await until(async () => processesWith(marked.env.SVC_TRIP_MARK).length === 0);
    },
  );
});

test("a server gets the few variables that assistants pass on, those of its entry, and no shell", async () => {
  process.env["SVC_TRIP_SECRET"] = "not for others";
  try {
    const own = "$HOME `id`";
    const script = 'printenv SVC_TRIP_SECRET >&2; echo "$(pwd) $(printenv HOME) $SVC_OWN" >&2';
    const server = { ...shell(script), env: { SVC_OWN: own } };
    const trip = await tryServer(server, { limitMs: LIMIT_MS });
    expect(trip).toMatchObject({ problem: `it ended: / ${process.env["HOME"]} ${own}` });
    expect(JSON.stringify(trip)).not.toContain("not for others");
  } finally {
    delete process.env["SVC_TRIP_SECRET"];
  }
});

/** Processes of this machine that have a text in their environment. */
function processesWith(mark: string): readonly string[] {
  const { stdout } = Bun.spawnSync(["sh", "-c", `grep -lsa ${mark} /proc/[0-9]*/environ || true`]);
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "" && !line.includes(`/${process.pid}/`));
}
