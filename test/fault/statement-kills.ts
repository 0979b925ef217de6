import { afterAll, beforeAll, expect } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SqlitePack } from "../contract/sqlite-pack.ts";
import { bundled } from "./bundled.ts";
import { DISK } from "./disk-folder.ts";
import type { Steps } from "./statement-steps.ts";

/** A worker that is killed at one step after the other, each time on another pack. */
export type Killing = {
  /** Makes a folder for a pack. @returns its path */
  place(title: string): string;
  /** Copies the folder of a pack. @returns the path of the copy */
  copy(template: string, title: string): string;
  /** Runs the worker on a pack to its end. @param given what follows the pack. @returns its steps */
  finish(pack: SqlitePack, ...given: readonly string[]): Promise<Steps>;
  /** Runs it and expects that it is killed before that step, without a word. */
  killAt(step: number, pack: SqlitePack, ...given: readonly string[]): Promise<void>;
};

/** @param file of a worker in this folder: its last argument is the step before which it ends, or 0 to finish and print its steps */
export function useKilling(file: string): Killing {
  let folder = "";
  let worker = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(DISK, "svc-kill-"));
    worker = await bundled(file, folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const run = async (pack: SqlitePack, given: readonly string[], last: number): Promise<string> => {
    const command = [process.execPath, worker, JSON.stringify(pack), ...given, String(last)];
    const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", stdin: "ignore" });
    const said = await new Response(child.stdout).text();
    await child.exited;
    expect(child.signalCode).toBe(last === 0 ? null : "SIGKILL");
    return said.trim();
  };
  return {
    place: (title) => {
      mkdirSync(join(folder, title));
      return join(folder, title);
    },
    copy: (template, title) => {
      cpSync(join(folder, template), join(folder, title), { recursive: true });
      return join(folder, title);
    },
    finish: async (pack, ...given) => JSON.parse(await run(pack, given, 0)),
    killAt: async (step, pack, ...given) => {
      expect({ step, said: await run(pack, given, step) }).toEqual({ step, said: "" });
    },
  };
}

/**
 * The steps at which a test kills: all with `KILL_AT=all`, else about so many, evenly spread. The first, the last, and those before
 * and after each commit are always among them.
 */
export function killedAt({ count, commits }: Steps, most = 4): readonly number[] {
  const every = process.env["KILL_AT"] === "all" ? 1 : Math.max(1, count / most);
  const named = new Set([1, count, ...commits.flatMap((step) => [step, step + 1])]);
  for (let step = every; step <= count; step += every) named.add(Math.round(step));
  expect(named.size).toBeGreaterThan(3);
  return [...named].sort((one, other) => one - other);
}
