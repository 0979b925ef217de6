import { mkdirSync } from "node:fs";
import { run } from "./run.ts";

const LIMIT_MS = 150_000;

/**
 * Installs packages into a folder by pip, and nothing into the system.
 * @param requirements file with versions and checksums
 * @returns why they cannot be had, in one line; undefined when they are there
 */
export async function installByPip(
  requirements: string,
  folder: string,
): Promise<string | undefined> {
  mkdirSync(folder, { recursive: true });
  const pip = ["python3", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"];
  const options = ["--retries", "1", "--no-deps", "--require-hashes", "--target", folder];
  const { exitCode, stderr } = await run([...pip, ...options, "-r", requirements], {
    limitMs: LIMIT_MS,
  });
  return exitCode === 0 ? undefined : stderr.trim().split("\n").at(-1) || "it took too long";
}
