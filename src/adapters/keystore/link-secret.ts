import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Environment, folderProblem, keyFolder, readPrivate } from "./key-store.ts";

const NAME = "link.secret";
const DIGITS = 64;

/**
 * A secret shared by the processes of one user: 64 hexadecimal digits, created if missing.
 * @throws Error if there is no place for it, or if anybody else could read or replace it
 */
export function linkSecret(environment: Environment): string {
  const folder = keyFolder(environment);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, NAME);
  const problem = folderProblem(folder);
  if (problem !== undefined) throw unusable(path, problem);
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
  const secret = readPrivate(path, unusable);
  if (secret === undefined || /^[0-9a-f]{64}$/.test(secret)) return secret;
  throw unusable(path, "it holds no secret; remove it");
}

function unusable(path: string, reason: string, cause?: unknown): Error {
  return new Error(`${path} is not used: ${reason}`, { cause });
}
