import { tmpdir } from "node:os";
import { SvcError } from "../../domain/errors.ts";

/** Writes into the folder for temporary files. @throws SvcError disk_full if it has no room; what else the work throws */
export function inTemporaryRoom<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw cause;
    const path = tmpdir();
    const message = `the folder ${path} has no room for pictures: make room there or point TMPDIR to another one`;
    throw new SvcError("disk_full", message, { path }, { cause });
  }
}
