import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { VERSION } from "../../app/version.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { print, printError, Unwritten } from "../../lib/standard-output.ts";
import { ERROR_MAP } from "../contract/core/error-map.ts";
import type { CliContext, Serving } from "./context.ts";
import { escapedLines, type Output, processOutput } from "./output.ts";
import { exitOnSignal, INTERRUPTED, Interrupted } from "./signals.ts";

/** @param whole makes the program with all commands */
type Builder = (context: CliContext, whole: () => Promise<Command>) => Promise<Command>;

/** Every command by name. Only the one that runs is loaded; help loads them all. */
const COMMANDS: Readonly<Record<string, Builder>> = {
  init: async (context) => (await import("./commands/init.ts")).initCommand(context),
  serve: async (context) => (await import("./commands/serve.ts")).serveCommand(context),
  open: async (context) => (await import("./commands/serve.ts")).openCommand(context),
  mcp: async (context) => (await import("./commands/mcp.ts")).mcpCommand(context),
  connect: async (context) => (await import("./commands/connect.ts")).connectCommand(context),
  disconnect: async (context) => (await import("./commands/connect.ts")).disconnectCommand(context),
  capture: async (context) => (await import("./commands/capture.ts")).captureCommand(context),
  projects: async (context) => (await import("./commands/projects.ts")).projectsCommand(context),
  hook: async () => (await import("./commands/capture.ts")).hookCommand(),
  store: async (context) => (await import("./commands/store.ts")).storeCommand(context),
  search: async (context) => (await import("./commands/search.ts")).searchCommand(context),
  list: async (context) => (await import("./commands/read.ts")).listCommand(context),
  profile: async (context) => (await import("./commands/read.ts")).profileCommand(context),
  show: async (context) => (await import("./commands/read.ts")).showCommand(context),
  replace: async (context) => (await import("./commands/store.ts")).replaceCommand(context),
  archive: async (context) => (await import("./commands/change.ts")).archiveCommand(context),
  restore: async (context) => (await import("./commands/change.ts")).restoreCommand(context),
  pin: async (context) => (await import("./commands/change.ts")).pinCommand(context),
  forget: async (context) => (await import("./commands/forget.ts")).forgetCommand(context),
  observe: async (context) => (await import("./commands/observe.ts")).observeCommand(context),
  organize: async (context) => (await import("./commands/change.ts")).organizeCommand(context),
  explain: async (context) => (await import("./commands/search.ts")).explainCommand(context),
  nodes: async (context) => (await import("./commands/read.ts")).nodesCommand(context),
  node: async (context) => (await import("./commands/read.ts")).nodeCommand(context),
  edges: async (context) => (await import("./commands/read.ts")).edgesCommand(context),
  chain: async (context) => (await import("./commands/read.ts")).chainCommand(context),
  stats: async (context) => (await import("./commands/read.ts")).statsCommand(context),
  info: async (context) => (await import("./commands/info.ts")).infoCommand(context),
  doctor: async (context) => (await import("./commands/doctor.ts")).doctorCommand(context),
  rebuild: async (context) => (await import("./commands/upkeep.ts")).rebuildCommand(context),
  export: async (context) => (await import("./commands/transfer.ts")).exportCommand(context),
  import: async (context) => (await import("./commands/import.ts")).importCommand(context),
  backup: async (context) => (await import("./commands/upkeep.ts")).backupCommand(context),
  "restore-backup": async (context) =>
    (await import("./commands/upkeep.ts")).restoreBackupCommand(context),
  compact: async (context) => (await import("./commands/upkeep.ts")).compactCommand(context),
  migrate: async (context) => (await import("./commands/transfer.ts")).migrateCommand(context),
  rekey: async (context) => (await import("./commands/upkeep.ts")).rekeyCommand(context),
  key: async (context) => (await import("./commands/key.ts")).keyCommand(context),
  keys: async (context) => (await import("./commands/keys.ts")).keysCommand(context),
  owner: async (context) => (await import("./commands/owner.ts")).ownerCommand(context),
  "extraction-status": async (context) =>
    (await import("./commands/change.ts")).extractionStatusCommand(context),
  "retry-extraction": async (context) =>
    (await import("./commands/change.ts")).retryExtractionCommand(context),
  "process-extractions": async (context) =>
    (await import("./commands/change.ts")).processExtractionsCommand(context),
  completion: async (context, whole) =>
    (await import("./commands/completion.ts")).completionCommand(context, whole),
  demo: async (context) => (await import("./commands/init.ts")).demoCommand(context),
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

/** Synonyms of commands that people type. */
export const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  store: ["add", "remember", "note", "save"],
  search: ["find", "ask", "query", "recall", "retrieve"],
  list: ["ls"],
  show: ["get", "view", "cat", "look"],
  replace: ["edit", "update", "supersede", "change"],
  archive: ["retire"],
  restore: ["unarchive", "undo"],
  forget: ["rm", "delete", "remove", "erase", "del"],
  chain: ["history"],
  explain: ["why"],
};

const COMMAND_OF: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SYNONYMS).flatMap(([name, words]) => words.map((word) => [word, name])),
);

const EXIT = { done: 0, failed: 1, refused: 2 } as const;

const EXAMPLES = `
Examples:
  svc demo                          see what it does
  svc init                          make ./memory.pack, and see how to connect it
  svc store "Anna prefers tea"      remember something
  svc find "what does Anna drink?"  find it again
  svc open                          look through it in a browser
  svc serve                         offer it over HTTP

Commands take a pack as their first word; without one they take that of the settings, else ./memory.pack, else that of svc init.
Exit codes: 0 done, 1 failed, 2 refused or wrong usage, 130 interrupted.`;

/**
 * Runs a command line.
 * @param args without the program's own name.
 * @returns the exit code; a failure has been reported on stderr.
 */
export async function runCli(
  [first = "", ...rest]: readonly string[],
  serving: Serving,
  output: Output = processOutput(),
): Promise<number> {
  const args = first === "" && rest.length === 0 ? [] : [COMMAND_OF[first] ?? first, ...rest];
  let exitCode: number = EXIT.done;
  const context: CliContext = {
    serving,
    output,
    fail: () => {
      exitCode = EXIT.failed;
    },
    run: async (other) => {
      const program = await createProgram(other, context);
      await program.parseAsync(other, { from: "user" });
    },
  };
  exitOnSignal();
  try {
    const program = await createProgram(args, context);
    if (args.length === 0) {
      program.outputHelp();
      return EXIT.refused;
    }
    refuseForeignBytes(args);
    await program.parseAsync(withDashedTexts(args, program), { from: "user" });
    return exitCode;
  } catch (error) {
    return reportFailure(error, output);
  }
}

/** The program with the command of a line, or with all of them. */
export async function createProgram(
  args: readonly string[],
  context: CliContext,
): Promise<Command> {
  const program = new Command("svc")
    .description("A long-term memory for AI assistants that you own: one program, one file.")
    .version(VERSION, "-V, --version", "print the version; with --verbose also what it is made of")
    .addHelpText("after", EXAMPLES)
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: print,
      writeErr: (text) => printError(escapedLines(helpful(withoutValues(text)))),
    })
    .exitOverride();
  const wanted = COMMANDS[args[0] ?? ""];
  const builders = wanted === undefined ? Object.values(COMMANDS) : [wanted];
  for (const build of builders) {
    const command = await build(context, () => createProgram([], context));
    command.aliases(SYNONYMS[command.name()] ?? []).copyInheritedSettings(program);
    for (const part of command.commands) part.copyInheritedSettings(command);
    program.addCommand(command);
  }
  return program;
}

/** Commander echoes unknown input, which may be a key or an address in the wrong place. */
function withoutValues(complaint: string): string {
  return complaint
    .replace(/(unknown option '-[^='\n]*=)[\s\S]*'/, "$1…'")
    .replace(/'[^'\n]*:\/[\s\S]*'/, "'…'")
    .replace(/(Expected \d+ arguments? but got \d+): [\s\S]*/, "$1.\n");
}

/** Never suggests destructive commands, and explains how to pass a text that looks like an option. */
function helpful(complaint: string): string {
  return complaint
    .replace(/\n\(Did you mean forget\?\)/, "")
    .replace(/(?<=\(Did you mean one of [^)]*)(?:forget, |, forget(?=\?))/, "")
    .replace(
      /^error: unknown option .*\n(?:\(Did you mean .*\)\n)?/,
      "$&Put -- before a text that begins with a dash.\n",
    );
}

/** Reports an error on stderr, unless already reported. @returns the exit code */
export function reportFailure(error: unknown, output: Output = processOutput()): number {
  // Commander has already printed its help or its error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.refused;
  if (error instanceof Unwritten) return error.isUnread ? EXIT.done : EXIT.failed;
  if (error instanceof SvcError) {
    output.note(escapedLines(`Error: ${error.message}`));
    return ERROR_MAP[error.code].exitCode;
  }
  if (error instanceof Interrupted) {
    output.note(error.message);
    return INTERRUPTED;
  }
  if (isOfFile(error)) {
    output.note(escapedLines(`Error: ${error.path}: cannot be read or written (${error.code})`));
    return EXIT.failed;
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  output.note(escapedLines(`Error: something went wrong inside svc (${message})`));
  return EXIT.failed;
}

/** Whether the system rejected a file operation, which is not a fault of the program. */
function isOfFile(error: unknown): error is { readonly path: string; readonly code: string } {
  return (
    error instanceof Error &&
    "path" in error &&
    typeof error.path === "string" &&
    "code" in error &&
    /^E[A-Z]+$/.test(String(error.code))
  );
}

/** An option up to its value: without a blank. */
const DASHED_TEXT = /^-[^=]*\s/;

/**
 * The arguments, with `--` inserted before texts that begin with a dash, such as `- a list item` and `-5 degrees`. Without a blank it is
 * taken for an option.
 */
function withDashedTexts(args: readonly string[], program: Command): readonly string[] {
  const command = program.commands.find((known) => known.name() === args[0]);
  if (command === undefined || command.commands.length > 0 || args.includes("--")) return args;
  const options: string[] = [];
  const texts: string[] = [];
  let isValue = false;
  for (const arg of args.slice(1)) {
    const isText = !isValue && (!/^-./.test(arg) || DASHED_TEXT.test(arg));
    (isText ? texts : options).push(arg);
    const option = command.options.find(({ short, long }) => arg === short || arg === long);
    isValue = !isValue && option !== undefined && option.required;
  }
  if (!texts.some((text) => DASHED_TEXT.test(text))) return args;
  return [command.name(), ...options, "--", ...texts];
}

/** Rejects arguments that are not UTF-8, which the runtime has already garbled. @throws SvcError invalid_argument */
function refuseForeignBytes(args: readonly string[]): void {
  if (!args.some((arg) => arg.includes("\ufffd"))) return;
  if (isUtf8(bytesOfArguments())) return;
  throw invalid("arguments", "are not valid UTF-8");
}

/** The raw arguments as the system keeps them; empty if unavailable. */
function bytesOfArguments(): Uint8Array {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return new Uint8Array();
  }
}
