import { randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "../native/running.ts";
import { removeFile } from "../native/system-files.ts";
import { inTemporaryRoom } from "./temporary-room.ts";

const PREFIX = "svc-video-";

/** Does something with a file that only this user can read, and removes it; also those of processes that were killed meanwhile. */
export async function inTemporaryFile<T>(
  content: Uint8Array,
  work: (path: string) => Promise<T>,
): Promise<T> {
  removeLeftovers();
  const path = join(tmpdir(), `${PREFIX}${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    inTemporaryRoom(() => writeFileSync(path, content, { mode: 0o600, flag: "wx" }));
    return await work(path);
  } finally {
    removeFile(path);
  }
}

function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = /^svc-video-(\d+)-[0-9a-f]{12}$/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      removeFile(join(tmpdir(), name));
    } catch {
      // It is another user's.
    }
  }
}
