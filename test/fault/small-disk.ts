import { describe, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A small file system that only programs started through `command` see. */
export type SmallDisk = {
  /** Where those programs find it. */
  readonly path: string;
  /** The command line that runs `command` on it; the process becomes `command` itself. */
  command(command: readonly string[]): readonly string[];
  /** The same folder as this process reaches it. */
  readonly outsidePath: string;
  /** Takes all space but about `bytes`. */
  fillUpTo(bytes: number): void;
  /** Gives the taken space back. */
  free(): void;
  /** Ends it with everything on it. Programs on it must have ended. */
  close(): Promise<void>;
};

const BALLAST = "ballast";

/**
 * Mounts a file system of `bytes` in memory, in a mount namespace of its own, so that nothing of it outlives the process
 * that holds it. Works for the superuser and, where the system allows user namespaces, for everybody.
 * @returns undefined with `reason` where neither is possible
 */
export async function openSmallDisk(
  folder: string,
  bytes: number,
): Promise<SmallDisk | { readonly reason: string }> {
  if (process.platform !== "linux") return { reason: "mount namespaces exist on Linux only" };
  if (Bun.which("unshare") === null || Bun.which("nsenter") === null) {
    return { reason: "unshare and nsenter (util-linux) are not installed" };
  }
  const path = join(folder, "small");
  mkdirSync(path);
  const isSuperuser = process.getuid?.() === 0;
  const script = `mount -t tmpfs -o size=${bytes} none "$0" && echo mounted && read -r _`;
  const holder = Bun.spawn(
    ["unshare", isSuperuser ? "-m" : "-rm", "--", "sh", "-c", script, path],
    // The holder ends with this process, because then its standard input does.
    { stdin: "pipe", stdout: "pipe", stderr: "pipe" },
  );
  const first = await holder.stdout.getReader().read();
  if (first.value === undefined) {
    const reason = (await new Response(holder.stderr).text()).trim();
    return { reason: `no file system could be mounted: ${reason}` };
  }
  // Its root too: where this process lives in a root of its own, that of the namespace is another one.
  const enter = ["nsenter", "-t", String(holder.pid), "-m", "-r"];
  if (!isSuperuser) enter.push("-U", "--preserve-credentials");
  const outsidePath = `/proc/${holder.pid}/root${path}`;
  const ballast = join(outsidePath, BALLAST);
  return {
    path,
    outsidePath,
    // The folder that this process works in is not there; the root is.
    command: (command) => [...enter, "--", "env", "-C", "/", ...command],
    fillUpTo: (left) => {
      const { bavail, bsize } = statfsSync(outsidePath);
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - left)));
    },
    free: () => {
      if (existsSync(ballast)) rmSync(ballast);
    },
    close: async () => {
      holder.kill("SIGKILL");
      await holder.exited;
    },
  };
}

/**
 * Describes what happens on a small file system. Where there is none, nothing of `body` runs, and one skipped test says why.
 */
export function describeOnDisk(
  name: string,
  opened: SmallDisk | { readonly reason: string },
  body: (disk: SmallDisk) => void,
): void {
  if ("reason" in opened) test.skip(`${name} (${opened.reason})`, () => {});
  else describe(name, () => body(opened));
}
