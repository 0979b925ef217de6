/** Programs that another user of this machine runs. Only the superuser can start them. */
import { afterAll } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { type Lacking, NOT_ROOT } from "../left-out.ts";

export const NOBODY = 65_534;

export type Stranger = {
  /** Everything that it said until now, in one string for each line. */
  readonly said: () => readonly string[];
  /** Ends it. @returns everything that it said */
  readonly stop: () => Promise<readonly string[]>;
};

/** What stands before a command that this user is to run. */
export const asNobody: readonly string[] = [
  "setpriv",
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  "--clear-groups",
];

/** Why this process cannot start a program of another user. */
export const noStranger: Lacking =
  NOT_ROOT ??
  (Bun.which("setpriv") !== null &&
  Bun.spawnSync([...asNobody, process.execPath, "-e", "0"], { cwd: "/" }).exitCode === 0
    ? undefined
    : "it takes setpriv, and a program that every user may start");

/**
 * A program where every user of this machine can start it: itself, or a copy in the folder when its own folder is closed to
 * others, as the superuser's home is. The folder has to be open to the user who starts it.
 */
export function programForOthers(program: string, folder: string): string {
  const options = { uid: NOBODY, gid: NOBODY, cwd: "/" };
  if (spawnSync(program, ["--version"], options).status === 0) return program;
  const copy = join(folder, "program");
  copyFileSync(program, copy);
  chmodSync(copy, 0o755);
  return copy;
}

/** Listens at its first argument; tells connections, and how many bytes they brought. */
export const LISTEN = `
  const { createServer } = require("node:net");
  const heard = (socket) => {
    console.log("spoken to");
    socket.on("data", (bytes) => console.log("heard " + bytes.length)).on("error", () => undefined);
  };
  const server = createServer(heard);
  server.listen(process.argv[1], () => console.log("up"));`;

/** Listens at two names, and gives the name in its first argument to one after the other as fast as it can. */
export const SWAP = `
  const { linkSync, renameSync } = require("node:fs");
  ${LISTEN.replace("process.argv[1]", 'process.argv[1] + ".a"')}
  const swap = () => {
    for (let times = 0; times < 50; times += 1) {
      linkSync(process.argv[1] + ".a", process.argv[1] + ".b");
      renameSync(process.argv[1] + ".b", process.argv[1]);
    }
    setTimeout(swap, 1);
  };
  server.on("listening", swap);`;

/** Connects to its first argument, sends what a guest would, and tells how many bytes came back. */
export const CONNECT = `
  console.log("up");
  const socket = require("node:net").createConnection(process.argv[1], () => console.log("connected"));
  socket.write(JSON.stringify({ nonce: "n" }) + "\\n");
  let bytes = 0;
  socket.on("data", (chunk) => { bytes += chunk.length; }).on("error", (error) => console.log(error.code));
  socket.on("close", () => console.log("heard " + bytes));`;

const running = new Set<Bun.Subprocess>();
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map(({ exited }) => exited));
});

/** Starts a program of another user; it is ready when this resolves. */
export async function startStranger(program: string, ...args: string[]): Promise<Stranger> {
  const child = Bun.spawn([...asNobody, process.execPath, "-e", program, ...args], {
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" },
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  const up = Promise.withResolvers<void>();
  let text = "";
  const ended = (async () => {
    for await (const chunk of child.stdout) {
      text += Buffer.from(chunk).toString();
      if (text.startsWith("up\n")) up.resolve();
    }
    const complaint = await new Response(child.stderr).text();
    up.reject(new Error(`it ended: ${complaint}`));
  })();
  await up.promise;
  const said = (): readonly string[] => text.split("\n").slice(1, -1);
  return {
    said,
    stop: async () => {
      child.kill();
      await ended;
      running.delete(child);
      return said();
    },
  };
}
