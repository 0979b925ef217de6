import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import kleur from "kleur";
import { layoutOf } from "../../../app/pack-path.ts";
import { SELF } from "../../../assistants/catalogue.ts";
import type { Config } from "../../../config/schema.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { shellWord } from "../../../lib/text.ts";
import { assistantLines, isOnPath } from "../assistant.ts";
import type { CliContext } from "../context.ts";
import { configOfPack, packOf, packWord } from "../default-pack.ts";
import { withEngine } from "../engine.ts";
import { aboutKey, chooseKey, type KeyOptions, plainOption } from "../new-key.ts";
import { offerExtraction } from "../offer-extraction.ts";
import { encryptionKeyOption, keyRequest, modelOption, withModel } from "../options.ts";
import { ownerInWords } from "../owner.ts";
import { packName } from "../serving.ts";

const EXAMPLES = `
Examples:
  svc init                     make ./memory.pack, encrypted
  svc init ~/notes.pack        make a pack elsewhere
  svc init ./memory            make a directory pack
  svc init --plain             make a pack that everybody can read who can read the file
  svc init --owner anna        whose memories it holds, where no other owner is named
  svc init --model multilingual    for memories and questions in about 100 languages

On a terminal it offers a passphrase. Otherwise, and on Enter alone, it makes a key and keeps it in the system's secret
store or, where there is none, in a file that only you can read; svc serve, svc mcp and every command find it there.
If you lose the key, you lose the pack: keep a copy of it elsewhere, made with svc key export.`;

type InitOptions = KeyOptions & { readonly owner?: string; readonly model?: string };

/** `svc init`: makes a pack and says how to connect an assistant to it. Repeating it changes nothing. */
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
    .addHelpText("after", EXAMPLES)
    .action((path: string | undefined, options: InitOptions) => init(context, path, options));
}

async function init(
  context: CliContext,
  given: string | undefined,
  options: InitOptions,
): Promise<void> {
  const { output } = context;
  const config = withModel(configOfPack(context, given), options.model);
  // A database has no such thing.
  layoutOf(config);
  const main = config.pack_path ?? config.db_path;
  const path = given ?? packName({ ...config, db_path: packOf(main) });
  const exists = existsSync(main) && (statSync(main).isDirectory() || statSync(main).size > 0);
  if (exists) await examine(context, config, options);
  else await make(context, config, path, options);
  const file = packOf(main);
  output.line();
  const { assistantOf } = await import("../../../assistants/assistant-command.ts");
  const wish = { pack: resolve(file), userId: config.mcp.user_id, tools: "full" } as const;
  const { server } = await assistantOf(config, wish);
  for (const line of assistantLines(file, server)) output.line(line);
  output.line();
  output.line("Or try it here:");
  const word = packWord(path);
  output.line(`  svc store ${word} "Anna is allergic to peanuts"`);
  output.line(`  svc search ${word} "what must Anna not eat?"`);
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
    // A key in the settings is for new packs, and says nothing about an existing unencrypted one.
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
  const [state, ...rest] = aboutKey(newKey, made.keptIn, path);
  const form = config.pack_path === undefined ? "a directory pack, " : "";
  output.line(`${kleur.green("Made")} ${packOf(report.path)}, ${form}${state}${whose}`);
  if (made.model !== undefined) output.line(made.model);
  for (const line of rest) output.line(line);
  await offerExtraction(context, config, report.path);
}
