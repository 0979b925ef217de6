import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { wakeStoppedHolder } from "../../../../src/surface/mcp/link/stopped-holder.ts";
import { leftOut, NOT_LINUX } from "../../../left-out.ts";
import { linkFolder } from "./link-folder.ts";

/** Listens on the first argument, and keeps a database beside it locked if there is a second. */
const HOLDER = `
  const [address, isLocked] = process.argv.slice(1);
  const { Database } = require("bun:sqlite");
  const database = new Database(address + ".db");
  database.run("PRAGMA journal_mode = WAL");
  if (isLocked) database.run("BEGIN IMMEDIATE");
  require("node:net").createServer().listen(address, () => console.log("up"));
`;

const children: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.splice(0).map(({ exited }) => exited));
});

async function startHolder(address: string, isLocked: boolean): Promise<number> {
  const args = isLocked ? [address, "locked"] : [address];
  const child = Bun.spawn([process.execPath, "-e", HOLDER, ...args], { stdout: "pipe" });
  children.push(child);
  await child.stdout.getReader().read();
  return child.pid;
}

const stateOf = (pid: number): string => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.charAt(stat.lastIndexOf(")") + 2);
};

async function stop(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  while (stateOf(pid) !== "T") await Bun.sleep(1);
}

test.skipIf(NOT_LINUX !== undefined)(
  `who is stopped with a lock is woken, by its address or by the name before it${leftOut(NOT_LINUX)}`,
  async () => {
    const address = join(linkFolder(), "m.pack.sock");
    for (const name of [address, `${address}.0123abcd`]) {
      const pid = await startHolder(name, true);
      await stop(pid);
      wakeStoppedHolder(address);
      expect(stateOf(pid)).not.toBe("T");
    }
  },
);

test.skipIf(NOT_LINUX !== undefined)(
  `who is stopped without a lock, or elsewhere, stays as it is${leftOut(NOT_LINUX)}`,
  async () => {
    const address = join(linkFolder(), "m.pack.sock");
    const pids = [
      await startHolder(address, false),
      await startHolder(`${address}.other`, true),
      await startHolder(join(linkFolder(), "m.pack.sock"), true),
    ];
    for (const pid of pids) await stop(pid);
    wakeStoppedHolder(address);
    await Bun.sleep(20);
    expect(pids.map(stateOf)).toEqual(["T", "T", "T"]);
  },
);

test("an address at which nobody is wakes nobody", () => {
  expect(() => wakeStoppedHolder(join(linkFolder(), "m.pack.sock"))).not.toThrow();
});
