import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

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
  return join(privateFolder(), `${name}.sock`);
}

/** Makes the folder of an address. That of a pack gets the permission with which opening the pack makes it. */
export function makeSocketFolder(address: string): void {
  const folder = dirname(address);
  mkdirSync(folder, { recursive: true, mode: folder === privateFolder() ? 0o700 : 0o777 });
}

function privateFolder(): string {
  return join(tmpdir(), `svc-${process.getuid?.() ?? 0}`);
}
