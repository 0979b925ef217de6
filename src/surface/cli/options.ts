import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { ownPack } from "../../app/own-pack.ts";
import type { FoundKey, KeyRequest } from "../../app/pack-key.ts";
import { folderOf, settingsForPath } from "../../app/pack-path.ts";
import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { embeddingComplaints, hostedChoice } from "../../config/rules.ts";
import type { Config, ConfigInput } from "../../config/schema.ts";
import { namedFile, type SettingsFile } from "../../config/settings-file.ts";
import { isAddress, shownPlace } from "../../domain/addresses.ts";
import { EMBEDDING_MODELS, findModel } from "../../domain/embedding-models.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { shellWord } from "../../lib/text.ts";
import type { CliContext } from "./context.ts";
import { FORMATS, type Format, type Output } from "./output.ts";
import { Interrupted } from "./signals.ts";
import { askSecret, confirm, isTerminal } from "./terminal.ts";

/** `--format table|json`. */
export function formatOption(): Option {
  return new Option("--format <form>", "how to print the result").choices(FORMATS).default("table");
}

/** `--encryption-key`. Its value is visible to anyone who may list processes; the environment is not. */
export function encryptionKeyOption(): Option {
  return new Option(
    "--encryption-key <key>",
    'key or passphrase of the pack; "" for none (default: SVC_ENCRYPTION_KEY when SVC_ENCRYPTION_ENABLED, else the kept key)',
  );
}

const NAMES = EMBEDDING_MODELS.map(({ alias, languages }) => `${alias} (${languages})`);
export const MODELS = `${NAMES.join(" or ")}, a local ONNX model (folder or owner/name), or one of embedding.provider`;

/** `--model`. @param mayAsk without a name the command says which one there is */
export function modelOption(mayAsk = false): Option {
  return new Option(mayAsk ? "--model [name]" : "--model <name>", `embedding model: ${MODELS}`);
}

/** The settings with the value of `--model`. @throws SvcError invalid_argument that names the models */
export function withModel(config: Config, name: string | undefined): Config {
  if (name === undefined) return config;
  const { embedding } = config;
  if (findModel(name) !== undefined) {
    // Ignores settings for another model.
    const local = { ...embedding, provider: "local", dimension: undefined } as const;
    return { ...config, embedding: { ...local, model_name: name } };
  }
  const named = { ...config, embedding: { ...embedding, model_name: name } };
  const [complaint] = embeddingComplaints(named.embedding);
  if (complaint === undefined) return named;
  const hosted = hostedChoice(embedding);
  if (hosted !== undefined) throw invalid("--model", `${complaint.setting} ${complaint.reason}`);
  const known = EMBEDDING_MODELS.map(({ alias }) => alias).join(" or ");
  throw invalid(
    "--model",
    `${JSON.stringify(name)} is no embedding model of svc; name ${known}, a folder (/path or ./path) or owner/name of a model on the hub, or set embedding.provider`,
  );
}

/** `--env-file`. @param place the default location */
export function envFileOption(place: string): Option {
  return new Option("--env-file <path>", `read settings from this file (default: ${place})`);
}

/** `--user-id`. */
export function ownerOption(): Option {
  return new Option("--user-id <owner>", "owner of the memories (default: the owner of the pack)");
}

/** Reads a whole number within bounds, for commander. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(
      `${JSON.stringify(text)} is not a whole number from ${min} to ${max}.`,
    );
  };
}

/**
 * The configuration with `path` as the pack and with its key, prompting at a terminal if needed; warnings go to stderr.
 * @param encryptionKey the value of `--encryption-key`
 * @param envFile that of `--env-file`
 */
export async function configFor(
  context: CliContext,
  path: string | undefined,
  encryptionKey?: string | undefined,
  envFile?: string | undefined,
): Promise<Config> {
  return (await keyFor(context, path, encryptionKey, envFile)).config;
}

/** Like `configFor`, with the source of the key. */
export async function keyFor(
  context: CliContext,
  path: string | undefined,
  encryptionKey?: string | undefined,
  envFile?: string | undefined,
): Promise<FoundKey> {
  const file = envFile === undefined ? undefined : namedFile(envFile);
  const config = configWithoutKey(context, path, file);
  const { findKey } = await import("../../app/pack-key.ts");
  return await findKey(config, keyRequest(encryptionKey));
}

/** How a command may look for a pack's key. @param encryptionKey the value of `--encryption-key` */
export function keyRequest(encryptionKey: string | undefined): KeyRequest {
  return { given: encryptionKey, ask: isTerminal() ? askForKey : undefined };
}

async function askForKey(isAgain: boolean): Promise<string> {
  const question = "Key or passphrase of the pack: ";
  return await askSecret(isAgain ? `That does not open it. ${question}` : question);
}

type Desk = { readonly output: Pick<Output, "note"> };

/**
 * The configuration with `path` as the pack, without reading the pack; warnings go to stderr.
 * @param file the settings file; null: none. Default: `.env` in the working directory
 * @param more settings from a command's options
 */
export function configWithoutKey(
  context: Desk,
  path: string | undefined,
  file?: SettingsFile | null,
  more?: ConfigInput,
): Config {
  return told(context, loadedFor(path, file, more));
}

/** The configuration with a database next to a pack: the pack's encryption does not apply to it. */
export function configOfDatabase(context: Desk, url: string): Config {
  const ofPack: ConfigInput = { encryption_enabled: false, encryption_key: "" };
  return told(context, loadConfig({ explicit: { ...settingsForPath(url), ...ofPack } }));
}

/** Like `configWithoutKey`, without output. */
export function loadedFor(
  path: string | undefined,
  file?: SettingsFile | null,
  more: ConfigInput = {},
): LoadedConfig {
  if (path === "") throw invalid("path", "is empty; name a pack, for example ./memory.pack");
  const pack: ConfigInput = path === undefined ? {} : settingsForPath(path);
  const loaded = loadConfig({ explicit: { ...pack, ...more }, file });
  const packFolder = path === undefined ? undefined : folderOf(path);
  return packFolder === undefined
    ? loaded
    : { ...loaded, config: { ...loaded.config, packFolder } };
}

/** Prints warnings and notices about a configuration. */
export function told({ output }: Desk, { config, warnings, notices }: LoadedConfig): Config {
  for (const notice of notices) output.note(notice);
  for (const warning of warnings) output.note(`Warning: ${warning}`);
  return config;
}

/** Forwards an engine's warnings. */
export function warnOn(context: CliContext): (message: string) => void {
  return (message) => context.output.note(`Warning: ${message}`);
}

const DEFAULT_PACK = "./memory.pack";

/**
 * The configuration with the named pack, else the configured one, else `./memory.pack`, else the user's own; does not read the pack.
 * @param isNew the pack will be created if missing
 */
export function configOfPack(context: CliContext, path: string | undefined, isNew = false): Config {
  return told(context, loadedFor(path ?? (isSet(loadedFor(undefined)) ? path : near(isNew))));
}

/** Whether settings name the pack. */
function isSet({ config }: LoadedConfig): boolean {
  const { pack_path: packPath, db_path: dbPath, database_url: url } = config;
  const isOther = resolve(dbPath) !== resolve("memory.db") || existsSync(dbPath);
  return packPath !== undefined || url !== undefined || isOther;
}

/**
 * The pack of a server: the named or configured one; undefined: the configured place, where a missing one is made.
 * @param isElsewhere whether it runs in a folder that may be someone else's, whose pack and settings do not count
 */
export function packToServe(
  path: string | undefined,
  envFile: string | undefined,
  isElsewhere = false,
): string | undefined {
  const file = envFile === undefined ? undefined : namedFile(envFile);
  if (path !== undefined || isSet(loadedFor(undefined, file ?? (isElsewhere ? null : undefined))))
    return path;
  const own = isElsewhere ? ownPack() : near(false);
  return own !== undefined && existsSync(own) ? own : undefined;
}

function near(isNew: boolean): string {
  return isNew || existsSync(DEFAULT_PACK) ? DEFAULT_PACK : (ownPack() ?? DEFAULT_PACK);
}

/**
 * The pack of a command that names none, as it could be typed; a line on stderr reports it. On a terminal `init` is offered if there is
 * none.
 * @throws SvcError not_found if there is none
 */
export async function packInPlace(context: CliContext): Promise<string> {
  const loaded = loadedFor(undefined);
  const { pack_path: packPath, db_path: dbPath, database_url: url } = loaded.config;
  const path = isSet(loaded) ? (url?.reveal() ?? packPath ?? packOf(dbPath)) : near(false);
  if (isSet(loaded) && path === dbPath) {
    throw invalid("--pack", `is needed: ${dbPath} of the settings is not called memory.db`);
  }
  const isThere = url !== undefined || existsSync(path);
  if (!isThere && isTerminal()) await offerInit(context, path);
  else if (!isThere) {
    const message = `${path}: there is no pack yet; make one with svc init, or name it with --pack`;
    throw new SvcError("not_found", message, { kind: "pack", id: path });
  } else context.output.note(`Pack: ${shownPlace(path)}`);
  return path;
}

/** @throws Interrupted if declined */
async function offerInit(context: CliContext, path: string): Promise<void> {
  if (!(await confirm(`There is no memory yet. Make ${path}?`, true))) {
    throw new Interrupted("Nothing was made. svc init PATH makes a pack elsewhere.");
  }
  await context.run(["init", path]);
  context.output.line();
}

/** A pack as it was typed, quoted for a command line. */
export function packWord(path: string): string {
  return shellWord(shownPlace(path));
}

/** A person's name for a pack: its file, or the folder around its files. @param main the file that holds the log */
export function packOf(main: string): string {
  return basename(main) === "memory.db" ? dirname(main) : main;
}

export const PACK_ARGUMENT = "a .pack file, a directory pack or its memory.db";

/** The options of every command about a pack. */
export type PackOptions = {
  readonly encryptionKey?: string;
  readonly format: Format;
  /** Whether the pack was named, so that a command to show needs its name too. */
  readonly isNamed: boolean;
};

type Declaration = {
  readonly name: string;
  readonly description: string;
  /** Names and descriptions. Default: the pack alone. The pack may be omitted if it comes first. */
  readonly arguments?: readonly (readonly [name: string, description: string])[];
  /** Listed before the common options, which it may replace. */
  readonly options?: readonly Option[];
  /** Common options that do not apply. */
  readonly without?: readonly string[];
  readonly examples: string;
};

/** The argument of most commands. */
export const PACK = [
  "[pack]",
  `${PACK_ARGUMENT} (default: the configured one, else ./memory.pack, else that of svc init)`,
] as const;

/** `--pack`, also under the name that servers use. */
export function packOption(): Option {
  return new Option("--pack, --db-path <path>", "the pack, in place of the argument");
}

/** The pack of an argument or of `--pack`. @throws SvcError invalid_argument for both */
export function onePack(word: string | undefined, option: string | undefined): string | undefined {
  if (word === undefined || option === undefined) return option ?? word;
  throw invalid("--pack", `names a pack, and so does ${word}`);
}

/** A command about a pack: its key and the output form are options. @param run gets arguments and options */
export function packCommand<Given extends readonly unknown[]>(
  {
    name,
    description,
    arguments: names = [PACK],
    options = [],
    without = [],
    examples,
  }: Declaration,
  run: (context: CliContext, ...given: Given) => Promise<void>,
): (context: CliContext) => Command {
  return (context) => {
    const command = new Command(name).description(description).addHelpText("after", examples);
    const mayLackPack = names[0] === PACK;
    for (const [argument, meaning] of names) {
      command.argument(mayLackPack ? `[${argument.slice(1, -1)}]` : argument, meaning);
    }
    if (mayLackPack) command.usage(["[options]", ...names.map(([word]) => word)].join(" "));
    const common = [
      ...(mayLackPack ? [packOption()] : []),
      encryptionKeyOption(),
      formatOption(),
    ].filter(
      ({ long = "" }) => !without.includes(long) && !options.some((own) => own.long === long),
    );
    for (const option of [...options, ...common]) command.addOption(option);
    return command.action(async (...given: readonly unknown[]) => {
      // Options shared with the parent command are parsed by the parent.
      const chosen: PackOptions & { readonly dbPath?: string } = command.optsWithGlobals();
      const typed = given.slice(0, names.length);
      const { words, isNamed } = mayLackPack
        ? await wordsWithPack(context, command, names.slice(1), typed.flat(), chosen.dbPath)
        : { words: typed, isNamed: true };
      // SAFETY: the arguments and the options, as declared.
      await run(context, ...([...words, { ...chosen, isNamed }] as unknown as Given));
    });
  };
}

/** The pack, named or not, and the arguments after it; a list for `...`. @param typed by position, undefined at the end */
async function wordsWithPack(
  context: CliContext,
  command: Command,
  names: readonly (readonly [name: string, description: string])[],
  typed: readonly unknown[],
  option: string | undefined,
): Promise<{ readonly words: readonly unknown[]; readonly isNamed: boolean }> {
  const given = typed.filter((word): word is string => typeof word === "string");
  const hasMany = names.at(-1)?.[0].includes("...") === true;
  const [first = ""] = given;
  const isFixed = !hasMany && names.every(([word]) => word.startsWith("<"));
  const least = names.filter(([word]) => word.startsWith("<")).length;
  // Something that looks like a path, or a mistyped pack, may be a text, and files are not packs.
  const mayBePath = given.length > least && !names.some(([word]) => word.includes("file"));
  const isFirst = isFixed
    ? given.length > names.length
    : isPack(first) || (mayBePath && /^(?:(?:\.{0,2}|~)\/\S*|[^:]+\.pac?k)$/i.test(first));
  const words = isFirst ? given.slice(1) : given;
  const lacking = names.findIndex(([word], at) => word.startsWith("<") && at >= words.length);
  if (lacking >= 0) {
    const [name = "", description] = names[lacking] ?? [];
    command.error(`error: missing required argument '${name.slice(1, -1)}': ${description}`);
  }
  const pack = onePack(isFirst ? first : undefined, option) ?? (await packInPlace(context));
  const many = hasMany ? names.length - 1 : names.length;
  return {
    words: [
      pack,
      ...names.slice(0, many).map((_, at) => words[at]),
      ...(hasMany ? [words.slice(many)] : []),
    ],
    isNamed: isFirst || option !== undefined,
  };
}

/** Whether a first word names a pack, existing or not, and is not a text. */
function isPack(word: string): boolean {
  if (/^https?:/i.test(word)) return false;
  if ((isAddress(word) && !/\s/.test(word)) || /^\S*\.pack\/?$/i.test(word)) return true;
  if (!existsSync(word)) return false;
  const isNamed = /\.pack\/?$/i.test(word) || basename(word) === "memory.db";
  return isNamed || existsSync(join(word, "memory.db"));
}

/** An option with a whole number. */
export function countOption(
  flags: string,
  description: string,
  [min, max]: readonly [number, number],
  preset: number,
): Option {
  return new Option(flags, description).argParser(wholeNumber(min, max)).default(preset);
}

/** An option that takes one of several words, in any case. All words are in lower case. */
export function choiceOption(flags: string, description: string, words: readonly string[]): Option {
  const option = new Option(flags, description).choices(words);
  const { parseArg } = option;
  return option.argParser((text, former: unknown) => parseArg?.(text.toLowerCase(), former));
}
