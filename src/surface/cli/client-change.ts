import { Argument, InvalidArgumentError, Option } from "commander";
import { CLIENT_NAMES, CONFIG_SCOPES, type ConfigScope } from "../../assistants/catalogue.ts";
import type { ClientChange, ClientEntry } from "../../assistants/config-change.ts";
import { invalid } from "../../domain/errors.ts";
import type { CliContext } from "./context.ts";
import { lineDiff } from "./line-diff.ts";
import type { Format } from "./output.ts";
import { confirm, isTerminal } from "./terminal.ts";

/** Default name of the memory server. */
export const DEFAULT_NAME = "memory";

/** `--name`. A name that every client accepts. */
export function serverName(): Option {
  return new Option("--name <name>", "the server's name in the configuration")
    .default(DEFAULT_NAME)
    .argParser((text) => {
      if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text)) return text;
      throw new InvalidArgumentError(
        "A name is made of up to 64 ASCII letters, digits, - and _, and begins with a letter or digit.",
      );
    });
}

/** `--scope user|project`. */
export function scopeOption(): Option {
  return new Option("--scope <scope>", "the configuration of the user, or of the working directory")
    .choices(CONFIG_SCOPES)
    .default("user");
}

/** The argument of a command about one assistant; `requireClient` reports a missing one. */
export function clientArgument(): Argument {
  const argument = new Argument("[client]", "the assistant");
  // For help and completion. An unknown name is refused with a suggestion, which commander's own check of choices would not make.
  argument.argChoices = [...CLIENT_NAMES];
  return argument;
}

/** @throws SvcError invalid_argument if no assistant was named */
export function requireClient(client: string | undefined): string {
  if (client !== undefined) return client;
  throw invalid("client", `is missing; choose one of ${CLIENT_NAMES.join(", ")}`);
}

/** The options of every such command. */
export type ChangeOptions = {
  readonly name: string;
  readonly scope: ConfigScope;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly format: Format;
};

/** The outcome of a planned change. */
export type ChangeOutcome = {
  readonly status: "unchanged" | "planned" | "declined" | "done";
  /** The lines of the file that differ. */
  readonly diff: readonly string[];
  /** The backup of the previous file. */
  readonly copy: string | undefined;
};

/**
 * Shows a change and, once the person agrees, makes it.
 * @throws SvcError invalid_argument if there is no terminal to ask on and `--yes` is missing
 */
export async function changeConfig(
  context: CliContext,
  change: ClientChange,
  options: ChangeOptions,
  question: string,
): Promise<ChangeOutcome> {
  const { before, after } = change;
  if (before === after) return { status: "unchanged", diff: [], copy: undefined };
  const diff = [
    before === undefined ? "--- (no file)" : `--- ${change.file}`,
    after === undefined ? "+++ (no file)" : `+++ ${change.file}`,
    ...lineDiff(before ?? "", after ?? ""),
  ];
  if (options.format === "table") for (const line of diff) context.output.line(line);
  if (options.dryRun === true) return { status: "planned", diff, copy: undefined };
  if (options.yes !== true && !(await agrees(question))) {
    context.output.note("Nothing was changed.");
    return { status: "declined", diff, copy: undefined };
  }
  return { status: "done", diff, copy: change.apply() };
}

/** A change as JSON. @param done the word for a change that was made */
export function changeToJson(
  entry: ClientEntry,
  { file }: ClientChange,
  { status, copy, diff }: ChangeOutcome,
  done: string,
): Record<string, unknown> {
  return { ...entry, file, status: status === "done" ? done : status, backup: copy ?? null, diff };
}

async function agrees(question: string): Promise<boolean> {
  if (isTerminal()) return await confirm(question, true);
  throw invalid(
    "--yes",
    "is missing, and there is no terminal to ask on; nothing was changed. See what would change with --dry-run",
  );
}
