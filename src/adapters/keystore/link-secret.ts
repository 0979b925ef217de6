import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { IS_WINDOWS } from "../native/system-files.ts";
import { type Environment, keyFolder } from "./key-store.ts";

const NAME = "link.secret";
/** Hexadecimal digits. */
const DIGITS = 64;

/**
 * A secret shared by the processes of one user: 64 hexadecimal digits, created if missing.
 * @throws Error if there is no place for it, or if anybody else could read or replace it
 */
export function linkSecret(environment: Environment): string {
  const folder = keyFolder(environment);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(folder);
  if (!IS_WINDOWS && (uid !== process.getuid?.() || (mode & 0o022) !== 0)) {
    throw new Error(`${folder} belongs to another user, or others can write to it`);
  }
  const path = join(folder, NAME);
  return read(path) ?? make(path);
}

function make(path: string): string {
  const secret = randomBytes(DIGITS / 2).toString("hex");
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: "wx" });
  try {
    // Atomic: if several processes create one, all end up with the same.
    linkSync(draft, path);
    return secret;
  } catch (error) {
    const found = read(path);
    if (found === undefined) throw error;
    return found;
  } finally {
    unlinkSync(draft);
  }
}

function read(path: string): string | undefined {
  const file = openExisting(path);
  if (file === undefined) return undefined;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is no regular file; remove it`);
    if (!IS_WINDOWS && stat.uid !== process.getuid?.()) {
      throw new Error(`${path} belongs to another user`);
    }
    if (!IS_WINDOWS && (stat.mode & 0o077) !== 0) {
      throw new Error(`other users can read or change ${path}; remove it`);
    }
    const content = Buffer.alloc(DIGITS + 2);
    const secret = content.toString("utf8", 0, readSync(file, content)).trim();
    if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error(`${path} holds no secret; remove it`);
    return secret;
  } finally {
    closeSync(file);
  }
}

function openExisting(path: string): number | undefined {
  try {
    // A link would let another user choose which file is read.
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    throw error;
  }
}
