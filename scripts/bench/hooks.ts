/**
 * Many sessions of assistants at once on one pack, whose hosts and hooks are killed at random moments:
 * `bun scripts/bench/hooks.ts --program dist/svc [--sessions 50] [--turns 200] [--hosts 4] [--pause 5000]`.
 * Counts how often each turn is stored, and tells how long hooks took. A hook that was killed is delivered again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";

const { values: flags } = parseArgs({
  options: {
    program: { type: "string", default: "dist/svc" },
    sessions: { type: "string", default: "50" },
    turns: { type: "string", default: "200" },
    hosts: { type: "string", default: "4" },
    /** Mean milliseconds between two turns of a session. */
    pause: { type: "string", default: "5000" },
  },
});
const program = resolve(flags.program);
const [sessions, turns, hosts] = [flags.sessions, flags.turns, flags.hosts].map(Number);
/** Milliseconds that a host lives at most. */
const HOST_MS = 4000;
/** The share of hooks that are killed, and within which time. */
const [KILLED, KILL_MS] = [0.03, 80];

const home = mkdtempSync(join(tmpdir(), "svc-hooks-"));
const pack = join(home, "m.pack");
const place = { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), SVC_KEY_STORE: "file" };
const env = { ...process.env, ...place };
Object.assign(process.env, place);

const INITIALIZE = `${JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "b", version: "1" },
  },
})}\n`;

let isOver = false;
let kills = 0;
async function keepHost(): Promise<void> {
  while (!isOver) {
    const command = [program, "mcp", "--db-path", pack, "--no-create"];
    const host = Bun.spawn(command, { env, stdin: "pipe", stdout: "ignore", stderr: "ignore" });
    host.stdin.write(INITIALIZE);
    await host.stdin.flush();
    await Bun.sleep(Math.random() * HOST_MS);
    host.kill("SIGKILL");
    kills += 1;
    await host.exited;
  }
}

const textOf = (session: number, turn: number) =>
  `Parcel ${turn} of courier ${session} goes to street number ${session * 1000 + turn}`;

const times: number[] = [];
const faults: string[] = [];
let killedHooks = 0;
async function deliver(session: number, turn: number): Promise<void> {
  const isAnswer = turn % 2 === 1;
  const payload = JSON.stringify({
    session_id: `s${session}`,
    ...{ transcript_path: join(home, "t.jsonl"), cwd: home },
    hook_event_name: isAnswer ? "Stop" : "UserPromptSubmit",
    [isAnswer ? "last_assistant_message" : "prompt"]: textOf(session, turn),
  });
  const start = performance.now();
  const command = [program, "hook", "claude-code", "--db-path", pack];
  const hook = Bun.spawn(command, {
    ...{ env, stdin: new Blob([payload]), stdout: "pipe", stderr: "pipe" },
  });
  const isKilled = Math.random() < KILLED;
  if (isKilled) setTimeout(() => hook.kill("SIGKILL"), Math.random() * KILL_MS);
  const [out, err, code] = await Promise.all([
    new Response(hook.stdout).text(),
    new Response(hook.stderr).text(),
    hook.exited,
  ]);
  if (hook.signalCode === "SIGKILL") {
    killedHooks += 1;
    return await deliver(session, turn);
  }
  times.push(performance.now() - start);
  if (code !== 0 || err !== "") faults.push(`${code} ${err}`);
  if (out !== "") JSON.parse(out);
}

async function talk(session: number): Promise<void> {
  for (let turn = 0; turn < (turns ?? 0); turn += 1) {
    await Bun.sleep(Math.random() * 2 * Number(flags.pause));
    await deliver(session, turn);
  }
}

async function stored(): Promise<Map<string, number>> {
  await using engine = await MemoryEngine.create({ pack_path: pack });
  const userId = (await engine.packOwner()) ?? "";
  const counts = new Map<string, number>();
  let cursor: string | undefined;
  do {
    const page = await engine.listEvents({ userId, limit: 1000, cursor });
    for (const { content } of page.events) counts.set(content, (counts.get(content) ?? 0) + 1);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return counts;
}

Bun.spawnSync([program, "init", pack], { env });
const kept = Array.from({ length: hosts ?? 0 }, keepHost);
await Promise.all(Array.from({ length: sessions ?? 0 }, (_, session) => talk(session)));
isOver = true;
await Promise.all(kept);
const counts = await stored();
rmSync(home, { recursive: true, force: true });
const all = Array.from({ length: sessions ?? 0 }, (_, session) =>
  Array.from({ length: turns ?? 0 }, (_, turn) => counts.get(textOf(session, turn)) ?? 0),
).flat();
times.sort((one, other) => one - other);
const at = (share: number) => Math.round(times[Math.floor((times.length - 1) * share)] ?? 0);
const took = `hooks took ${at(0.5)} ms (p50), ${at(0.95)} (p95), ${at(1)} (slowest)`;
console.log(
  `${all.length} turns: once ${all.filter((count) => count === 1).length}, never ${all.filter((count) => count === 0).length}, twice ${all.filter((count) => count > 1).length}; others ${counts.size - all.filter(Boolean).length}`,
);
console.log(`${took}; killed: ${kills} hosts, ${killedHooks} hooks; faults ${faults.length}`);
for (const fault of faults.slice(0, 5)) console.log(fault);
