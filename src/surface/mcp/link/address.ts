import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Bytes of the longest path that the address of a local socket may have on every system. */
const ADDRESS_MAX = 100;

/**
 * Where processes meet that serve one pack: a socket beside the pack's main file, or in a private folder of this user when
 * that path is too long for a socket.
 * @param mainFile absolute, without links, so that one pack has one address
 */
export function socketAddress(mainFile: string): string {
  const beside = `${mainFile}.sock`;
  if (Buffer.byteLength(beside) <= ADDRESS_MAX) return beside;
  const name = createHash("sha256").update(mainFile).digest("hex").slice(0, 24);
  return join(tmpdir(), `svc-${process.getuid?.() ?? 0}`, `${name}.sock`);
}
