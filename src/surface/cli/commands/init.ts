import { randomBytes } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Command } from "commander";
import kleur from "kleur";
import { reachedHost } from "../../../app/models.ts";
import { rememberPack } from "../../../app/own-pack.ts";
import { layoutOf } from "../../../app/pack-path.ts";
import { SELF } from "../../../assistants/catalogue.ts";
import type { ServerCommand } from "../../../assistants/server-entry.ts";
import { withEncryptionKey } from "../../../config/load.ts";
import { type Config, DEFAULT_LANGUAGE_MODEL } from "../../../config/schema.ts";
import { addSettings } from "../../../config/settings-file.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { shellWord } from "../../../lib/text.ts";
import { inTemporaryFolder } from "../../../packs/through-pack.ts";
import { shownHits } from "../../contract/retrieval/text.ts";
import type { CliContext } from "../context.ts";
import { ownerFor, ownerInWords, withEngine } from "../memories.ts";
import { aboutKey, chooseKey, type KeyOptions, plainOption } from "../new-key.ts";
import {
  configOfPack,
  configWithoutKey,
  encryptionKeyOption,
  keyRequest,
  modelOption,
  packOf,
  packWord,
  withModel,
} from "../options.ts";
import { askLine, askSecret, isTerminal } from "../terminal.ts";
import { packName } from "./serve.ts";

type InitOptions = KeyOptions & { readonly owner?: string; readonly model?: string };

export function initCommand(context: CliContext): Command {
  return new Command("init")
    .description("make an encrypted pack and print what to paste into an assistant")
    .argument(
      "[path]",
      "the pack: a name ending in .pack, or a directory (default: that of the settings, or ./memory.pack)",
    )
    .addOption(plainOption())
    .addOption(encryptionKeyOption())
    .option(
      "--owner <name>",
      "owner of the pack, used by the command line and assistants (default: your user name)",
    )
    .addOption(modelOption())
    .addHelpText(
      "after",
      `
Examples:
  svc init                     make ./memory.pack, encrypted
  svc init ~/notes.pack        make a pack elsewhere
  svc init ./memory            make a directory pack
  svc init --plain             make an unencrypted pack, which anyone with the file can read
  svc init --owner anna        whose memories it holds, where no other owner is named
  svc init --model multilingual    for memories and questions in about 100 languages

On a terminal it offers a passphrase. Otherwise, and on Enter alone, it makes a key and keeps it in the system's secret
store or, where there is none, in a file that only you can read; svc serve, svc mcp and every command find it there.
If you lose the key, you lose the pack: keep a copy of it elsewhere, made with svc key export.`,
    )
    .action((path: string | undefined, options: InitOptions) => init(context, path, options));
}

async function init(
  context: CliContext,
  given: string | undefined,
  options: InitOptions,
): Promise<void> {
  const { output } = context;
  const config = withModel(configOfPack(context, given, true), options.model);
  // A database has none of these.
  layoutOf(config);
  const main = config.pack_path ?? config.db_path;
  const path = given ?? packName({ ...config, db_path: packOf(main) });
  const exists = existsSync(main) && (statSync(main).isDirectory() || statSync(main).size > 0);
  if (exists) await examine(context, config, options);
  else await make(context, config, path, options);
  const file = packOf(main);
  output.line();
  const { assistantOf } = await import("../../../assistants/assistant-command.ts");
  const wish = { pack: resolve(file), userId: config.mcp.user_id };
  const { server } = await assistantOf(config, wish);
  for (const line of assistantLines(file, server)) output.line(line);
  output.line();
  // Shown without its name if it is found from anywhere, or from its folder.
  const isOwn = rememberPack(resolve(file)) || resolve(file) === resolve("memory.pack");
  const word = isOwn ? "" : `${packWord(path)} `;
  output.line("Or try it here:");
  output.line(`  svc store ${word}"Anna is allergic to peanuts"`);
  output.line(`  svc find ${word}"what must Anna not eat?"`);
  if (isOnPath()) return;
  output.line();
  output.line("svc is not on your PATH: put it there, or type instead:");
  output.line(`  ${SELF.map(shellWord).join(" ")}`);
}

/** Opens an existing pack if its key is known, and describes it. */
async function examine(
  context: CliContext,
  config: Config,
  { encryptionKey, owner }: InitOptions,
): Promise<void> {
  const { output } = context;
  const known: string[] = [];
  const { keyStatus } = await import("../../../packs/key-custody.ts");
  const { path, encrypted } = await keyStatus(config);
  const state = encrypted
    ? "encrypted"
    : "not encrypted: anyone who can read the file can read the memories";
  try {
    // A key in the settings is for new packs, and irrelevant to an existing unencrypted one.
    const request = encrypted ? keyRequest(encryptionKey) : { given: encryptionKey ?? "" };
    const { findKey } = await import("../../../app/pack-key.ts");
    const { config: opened } = await findKey(config, request);
    const claim = async (engine: MemoryEngine): Promise<void> => {
      const found = await engine.claimPack(owner);
      known.push(` ${await ownerInWords(engine)}`);
      if (owner !== undefined && owner !== found) {
        known.push(` To change it: svc owner use ${shellWord(packOf(path))} ${shellWord(owner)}`);
      }
    };
    await withEngine(context, opened, claim, { createIfMissing: true });
  } catch (error) {
    const isKeyUnknown = error instanceof SvcError && error.code === "encryption_failed";
    if (!isKeyUnknown || encryptionKey !== undefined) throw error;
    output.note(`Warning: ${error.message}`);
  }
  output.line(`${packOf(path)} is already a pack, ${state}. It stays as it is.${known.join("")}`);
}

async function make(
  context: CliContext,
  config: Config,
  path: string,
  options: InitOptions,
): Promise<void> {
  const { output } = context;
  const newKey = await chooseKey(context, config, options);
  const { createPack } = await import("../../../packs/create-pack.ts");
  const { reportOnPack } = await import("../../../packs/inspect-pack.ts");
  const made = await createPack(config, newKey, options.owner);
  const report = await reportOnPack(made.config, false);
  const whose = made.owner === undefined ? "" : ` Its owner is ${made.owner}.`;
  const [state, ...rest] = await aboutKey(newKey, made.keptIn, path);
  const form = config.pack_path === undefined ? "a directory pack, " : "";
  output.line(`${kleur.green("Made")} ${packOf(report.path)}, ${form}${state}${whose}`);
  if (made.model !== undefined) output.line(made.model);
  for (const line of rest) output.line(line);
  await offerExtraction(context, config, report.path);
}

/** Extraction for a new pack, as chosen by a person at a terminal. */
const PROVIDERS = ["openai", "anthropic", "ollama"] as const;
type Provider = (typeof PROVIDERS)[number];

/**
 * Asks at a terminal which model extracts facts from ingested messages, and stores the answer next to the pack. Does nothing elsewhere, or
 * if extraction is on.
 * @param pack path of its main file
 */
async function offerExtraction(
  { output }: CliContext,
  config: Config,
  pack: string,
): Promise<void> {
  if (!isTerminal() || config.isExtractionOn === true) return;
  const provider = await askProvider(output);
  if (provider === undefined) return;
  const settings = await askSettings(provider);
  if (settings === undefined) {
    output.note("No model was named: facts are not extracted.");
    return;
  }
  const file = join(dirname(resolve(pack)), ".env");
  addSettings(file, settings);
  output.line(
    `Facts are extracted from ingested messages by ${settings.get(MODEL)} of ${provider}.`,
  );
  const host = reachedHost(provider, settings.get(ADDRESS));
  output.line(`The text of ingested messages is sent to ${host}.`);
  output.line(
    `The settings are in ${file}, which only you can read: svc mcp reads it, and what runs in that folder.`,
  );
}

const MODEL = "SVC_EXTRACTION__MODEL";
const ADDRESS = "SVC_EXTRACTION__BASE_URL";

async function askProvider(output: CliContext["output"]): Promise<Provider | undefined> {
  const question = `Extract facts from ingested messages with a language model? ${PROVIDERS.join(", ")} (just Enter: no): `;
  for (;;) {
    const answer = (await askLine(question)).trim().toLowerCase();
    if (answer === "" || answer === "no" || answer === "n") return undefined;
    const provider = PROVIDERS.find((one) => one === answer);
    if (provider !== undefined) return provider;
    output.note(`There is no provider ${JSON.stringify(answer)}.`);
  }
}

/** The settings under the names of their variables; undefined without a model. */
async function askSettings(provider: Provider): Promise<ReadonlyMap<string, string> | undefined> {
  const preset = provider === DEFAULT_LANGUAGE_MODEL.provider ? DEFAULT_LANGUAGE_MODEL.name : "";
  const hint = preset === "" ? "" : ` (just Enter: ${preset})`;
  const model = (await askLine(`Model${hint}: `)).trim() || preset;
  if (model === "") return undefined;
  const settings = new Map([
    ["SVC_EXTRACTION__PROVIDER", provider],
    [MODEL, model],
  ]);
  if (provider === "ollama") {
    const address = (await askLine("Address (just Enter: http://localhost:11434): ")).trim();
    if (address !== "") settings.set(ADDRESS, address);
    return settings;
  }
  const variable = `${provider.toUpperCase()}_API_KEY`;
  const key = (await askSecret(`Key, not shown (just Enter: ${variable} is used): `)).trim();
  if (key !== "") settings.set("SVC_EXTRACTION__API_KEY", key);
  return settings;
}

/**
 * Lines that connect assistants to a pack, as commands or for pasting.
 * @param pack absolute path
 * @param server how an assistant starts this program
 */
function assistantLines(pack: string, { command, args, env }: ServerCommand): readonly string[] {
  const variables = Object.entries(env);
  const entry = { command, args, ...(variables.length > 0 && { env }) };
  const json = { mcpServers: { memory: entry } };
  const set = variables.flatMap(([name, value]) => ["--env", shellWord(`${name}=${value}`)]);
  return [
    "Connect an assistant (svc connect --help lists them):",
    `  svc connect claude-code --db-path ${shellWord(pack)}`,
    "",
    "Or by hand, in Claude Code:",
    // The option for variables consumes everything up to the next option.
    `  ${["claude mcp add", ...set, "--scope user memory --", ...[command, ...args].map(shellWord)].join(" ")}`,
    "",
    "Any other assistant (its MCP configuration):",
    ...JSON.stringify(json, null, 2)
      .split("\n")
      .map((line) => `  ${line}`),
  ];
}

/** Whether the command `svc` in a shell starts this very program. */
function isOnPath(): boolean {
  const [program, ...rest] = SELF;
  const found = Bun.which("svc");
  return rest.length === 0 && found !== null && realpathSync(found) === realpathSync(program);
}

const SENTENCES = [
  "Anna moved to Lisbon in March and works from a small office near the river.",
  "The spare key lies under the blue flower pot next to the garage.",
  "Anna is allergic to peanuts, so the cake for her birthday must be made without nuts.",
  "We agreed to ship the mobile app on 12 June and to leave the watch app for later.",
  "The mobile app now ships on 3 July instead of 12 June, because the payment tests take longer.",
  "Tom prefers short e-mails in the morning and never reads chat messages before noon.",
  "The staging database was moved to the new cluster; its password is in the team vault.",
  "Our car needs new winter tyres before the trip to the mountains in December.",
];

const QUESTIONS = [
  "How can I get into the house if I locked myself out?",
  "What should I keep in mind when I cook for Anna?",
  "Was the launch of our phone application postponed?",
  "What is the best way to reach Tom early in the day?",
];

/** Asked if the program has a model that reads more than English. */
const FOREIGN_QUESTIONS = ["Unter welchem Topf liegt der Schlüssel?", "¿A qué es alérgica Anna?"];

const SHOWN_RESULTS = 2;

export function demoCommand(context: CliContext): Command {
  return new Command("demo")
    .description("store some sentences in a throwaway pack and retrieve them")
    .addHelpText(
      "after",
      `
Examples:
  svc demo

Nothing stays behind: the pack lies in a temporary folder and is removed at the end.`,
    )
    .action(() => demo(context));
}

async function demo(context: CliContext): Promise<void> {
  const { output } = context;
  await inTemporaryFolder("svc-demo-", async (folder) => {
    const named = configWithoutKey(context, join(folder, "demo.pack"));
    const { includedModels } = await import("../../../app/models.ts");
    const model = includedModels().find(({ isEnglish }) => !isEnglish);
    const questions = model === undefined ? QUESTIONS : [...QUESTIONS, ...FOREIGN_QUESTIONS];
    const key = `raw_key:${randomBytes(32).toString("base64url")}`;
    const config = withEncryptionKey(withModel(named, model?.name), key);
    const run = async (engine: MemoryEngine): Promise<void> => {
      const question = { given: undefined, path: folder, isStoring: true };
      const owner = await ownerFor(context, engine, question);
      await storeAll(context, engine, owner);
      for (const query of questions) await ask(context, engine, owner, query);
    };
    await withEngine(context, config, run, { createIfMissing: true });
  });
  output.line();
  output.line("To make a memory of your own, and connect an assistant to it: svc init");
}

async function storeAll(
  { output }: CliContext,
  engine: MemoryEngine,
  userId: string,
): Promise<void> {
  output.line(kleur.bold(`Storing ${SENTENCES.length} sentences (the first one loads the model)`));
  for (const content of SENTENCES) {
    const ms = await timed(() => engine.store({ content, userId }));
    output.line(`  ${duration(ms.ms)}  ${content}`);
  }
}

async function ask(
  { output }: CliContext,
  engine: MemoryEngine,
  userId: string,
  query: string,
): Promise<void> {
  const { value, ms } = await timed(() => engine.retrieve({ query, userId }));
  output.line();
  output.line(kleur.bold(`${query}`) + kleur.dim(`  (${ms.toFixed(0)} ms)`));
  const { hits, isKnown } = shownHits(value, SHOWN_RESULTS);
  for (const { hit } of isKnown ? hits : hits.slice(0, 1)) {
    output.line(`  ${isKnown ? "->" : "nearest:"} ${hit.node.content}`);
  }
}

async function timed<T>(run: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const started = performance.now();
  const value = await run();
  return { value, ms: performance.now() - started };
}

function duration(ms: number): string {
  return `${ms.toFixed(0)} ms`.padStart(8);
}
