import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { mainFileOf } from "../app/pack-path.ts";
import { type ClientName, surroundings } from "../assistants/catalogue.ts";
import { HOOKED, hasPlugin, hooksOf, runsHooksOfClaude } from "../assistants/hooks.ts";
import { ownNotes } from "../capture/own-folders.ts";
import { type Run, readRuns, readSwitches, waiting } from "../capture/state.ts";
import type { Config } from "../config/schema.ts";
import { shellWord } from "../lib/text.ts";
import type { Finding } from "./checks.ts";
import { isProgram } from "./diagnose-assistants.ts";

/** Runs of which the times are shown. */
const RECENT = 200;

/** Which assistants have hooks of this program, when they last ran, and what waits for the pack. */
export function checkHooks(config: Config): Finding {
  const runs = readRuns();
  const problems: string[] = [];
  const parts = HOOKED.flatMap((client) => {
    const hooks = hooksOf(client, surroundings());
    const [first] = hooks;
    if (first !== undefined)
      problems.push(...problemsOf(client, first), ...doublesOf(client, hooks));
    const where = first?.file ?? (hasPlugin(client, surroundings()) ? "its plugin" : undefined);
    if (where === undefined) return [];
    const own = runs.filter((run) => run.client === client);
    return [
      inWords(client, where, own),
      ...ownNotes(client, surroundings().home).map(
        (path) => `${client} has notes of its own: svc import ${shellWord(path)}`,
      ),
    ];
  });
  const mainFile = mainFileOf(config);
  const [spooled, dead] = [waiting(mainFile), waiting(mainFile, "dead")];
  const kept = spooled.turns.length;
  if (kept > 0) parts.push(`${kept} texts wait for the next opening of the pack`);
  if (dead.turns.length > 0) {
    problems.push(
      `the pack refused ${dead.turns.length} texts; send them again with: svc capture retry`,
    );
  }
  const unreadable = spooled.unreadable + dead.unreadable;
  if (unreadable > 0)
    problems.push(`${unreadable} texts cannot be read: they were sealed with another secret`);
  const { off, isBroken } = readSwitches();
  if (isBroken) {
    problems.push(
      "what svc capture off has kept cannot be read, so nothing is stored: svc capture on",
    );
  } else if (off) parts.push("turned off by svc capture off");
  const status = problems.length > 0 ? "warn" : "ok";
  const none =
    "no assistant remembers without being asked; svc connect <client> --capture adds that";
  return {
    name: "hooks",
    status,
    message: [...problems, ...(parts.length > 0 ? parts : [none])].join("; "),
  };
}

function inWords(client: ClientName, file: string, runs: readonly Run[]): string {
  const last = runs.at(-1);
  if (last === undefined) return `${client} (${file}): never ran`;
  const times = runs.slice(-RECENT).map(({ ms }) => ms);
  times.sort((one, other) => one - other);
  const slow = Math.round(times[Math.floor((times.length - 1) * 0.95)] ?? 0);
  const failed = runs.filter(({ did }) => did.startsWith("failed:"));
  const why = failed.length > 0 ? `, ${failed.length} failed (${failed.at(-1)?.did.slice(7)})` : "";
  return `${client} (${file}): last ran at ${last.at.slice(0, 19)}Z (${last.did}), 95 % within ${slow} ms${why}`;
}

function problemsOf(
  client: ClientName,
  { file, command }: { readonly file: string; readonly command: string },
): readonly string[] {
  const program = /^'([^']+)'|^"([^"]+)"|^(\S+)/.exec(command)?.slice(1).find(Boolean) ?? "";
  const problems: string[] = [];
  if (isAbsolute(program) && !isProgram(program)) {
    problems.push(
      `${client} runs ${program}, which is missing; run: svc connect ${client} --capture`,
    );
  }
  const text = textOf(file);
  if (/"disableAllHooks"\s*:\s*true/.test(text))
    problems.push(`${file} turns all hooks off (disableAllHooks)`);
  if (hasPlugin(client, surroundings())) {
    problems.push(
      `${client} has the hooks of svc twice, by its file and by the plugin; run: svc disconnect ${client}`,
    );
  }
  if (client === "codex") problems.push(...trustProblems(file));
  return problems;
}

/** Each turn is stored once all the same, but every prompt waits twice. */
function doublesOf(
  client: ClientName,
  hooks: readonly { readonly file: string; readonly event: string; readonly command: string }[],
): readonly string[] {
  const isTwice = new Set(hooks.map(({ event }) => event)).size < hooks.length;
  const file = hooks[0]?.file ?? "";
  if (isTwice) return [`${file} has hooks of svc twice; take one of them out`];
  if (!runsHooksOfClaude(client, surroundings())) return [];
  return [`${client} also runs the hooks of Claude Code; take those in ${file} out`];
}

/** Codex keeps the hash of each hook that it was told to trust, and runs no other. */
function trustProblems(file: string): readonly string[] {
  const config = textOf(join(dirname(file), "config.toml"));
  if (/^\s*hooks\s*=\s*false/m.test(config))
    return ["Codex has its hooks turned off ([features] hooks)"];
  const isTrusted = config.includes(`[hooks.state."${file}:`) && config.includes("trusted_hash");
  return isTrusted ? [] : ["Codex does not trust the hooks yet: open /hooks in it once"];
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
