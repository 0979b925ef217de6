import { readFileSync } from "node:fs";

/** Bytes of a page of memory where `/proc` counts in pages. */
const PAGE_BYTES = 4096;
const KIB = 1024;

/**
 * Bytes of memory that processes occupy together; a process that has ended occupies none. Undefined: this system has no way to ask that
 * costs little.
 */
export async function memoryOf(pids: readonly number[]): Promise<number | undefined> {
  switch (process.platform) {
    case "linux":
      return pids.reduce((sum, pid) => sum + residentPages(pid) * PAGE_BYTES, 0);
    case "darwin": {
      const child = Bun.spawn(["/bin/ps", "-o", "rss=", "-p", pids.join(",")], {
        cwd: "/",
        env: {},
        stderr: "ignore",
      });
      const text = await new Response(child.stdout).text();
      return text.split("\n").reduce((sum, line) => sum + Number(line) * KIB, 0);
    }
    default:
      return undefined;
  }
}

function residentPages(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
  } catch {
    // It has ended.
    return 0;
  }
}
