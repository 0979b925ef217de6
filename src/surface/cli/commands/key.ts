import { readFileSync } from "node:fs";
import { Command } from "commander";
import { pathArgument } from "../../../config/path.ts";
import { invalid } from "../../../domain/errors.ts";
import type { KeyStatus } from "../../../packs/key-custody.ts";
import type { CliContext } from "../context.ts";
import {
  configWithoutKey,
  encryptionKeyOption,
  formatOption,
  keyRequest,
  PACK,
  packWord,
} from "../options.ts";
import { type Format, fields } from "../output.ts";
import { askSecret, confirm, isTerminal } from "../terminal.ts";

const custody = async () => await import("../../../packs/key-custody.ts");

type ExportOptions = { readonly output?: string; readonly encryptionKey?: string };
type ImportOptions = { readonly keyFile?: string };

/** `svc key`: keeps, shows and removes the keys of packs on this machine. */
export function keyCommand(context: CliContext): Command {
  const key = new Command("key")
    .description("keep, back up or forget the key of a pack")
    .addHelpText(
      "after",
      `
Examples:
  svc key status ./memory.pack                            where its key is kept
  svc key export ./memory.pack --output memory.key        a backup, to be kept elsewhere
  svc key import ./memory.pack --key-file memory.key      on another machine; without --key-file it is asked for
  svc key forget ./memory.pack                            from this machine

Keys are kept in the system's secret store or, where there is none, in files that only you can read. A passphrase is kept
only when you import it. If you lose the key, you lose the pack. Only export shows a key.`,
    );
  key
    .command("status")
    .description("show where the key of a pack is kept")
    .argument(...PACK)
    .addOption(formatOption())
    .action((path: string, { format }: { format: Format }) => status(context, path, format));
  key
    .command("export")
    .description("show the key of a pack, or write it to a file")
    .argument(...PACK)
    .option("--output <file>", "a new file, which only you can read")
    .addOption(encryptionKeyOption())
    .action((path: string, options: ExportOptions) => exportKey(context, path, options));
  key
    .command("import")
    .description("keep a key on this machine, after checking that it opens the pack")
    .argument(...PACK)
    .option(
      "--key-file <file>",
      "its first line is the key or passphrase (default: standard input)",
    )
    .action((path: string, options: ImportOptions) => importKey(context, path, options));
  key
    .command("forget")
    .description("remove the key of a pack from this machine")
    .argument(...PACK)
    .option("--yes", "do not ask")
    .action((path: string, options: { yes?: true }) => forget(context, path, options));
  return key;
}

async function status(context: CliContext, path: string, format: Format): Promise<void> {
  const { output } = context;
  const found = await (await custody()).keyStatus(configWithoutKey(context, path));
  if (format === "json") return output.json(toJson(found));
  const entries: [string, string][] = [
    ["Pack", found.path],
    ["Encryption", found.encrypted ? "AES-256-GCM" : "none"],
  ];
  if (found.encrypted) {
    entries.push(["Kept as", found.salt ?? ""]);
    for (const { place, problem } of found.places) entries.push(["Kept in", problem ?? place]);
    if (found.places.length === 0) entries.push(["Kept in", "no place on this machine"]);
    entries.push(["In the settings", found.inSettings ? "yes, and used first" : "no"]);
  }
  for (const line of fields(entries)) output.line(line);
}

function toJson({ path, encrypted, salt, places, inSettings }: KeyStatus): Record<string, unknown> {
  return {
    db_path: path,
    encryption: encrypted ? "AES-256-GCM" : "none",
    salt: salt ?? null,
    places: places.map(({ place, problem }) => ({ place, problem: problem ?? null })),
    in_settings: inSettings,
  };
}

async function exportKey(context: CliContext, path: string, options: ExportOptions): Promise<void> {
  const { output } = context;
  if (options.output === "") throw invalid("output", "is empty; name a new file");
  const config = configWithoutKey(context, path);
  const request = keyRequest(options.encryptionKey);
  const exported = await (await custody()).exportKey(config, request, options.output);
  output.note("Warning: anyone who has this key can read the pack. Keep it apart from the pack.");
  if (!exported.isRemembered) {
    output.note("The pack could not be written, so svc doctor will keep asking for a backup.");
  }
  const { key, path: file } = exported;
  output.line(key ?? `The key is in ${file}. Move it to a place that outlives this machine.`);
}

async function importKey(context: CliContext, path: string, options: ImportOptions): Promise<void> {
  const { output } = context;
  const config = configWithoutKey(context, path);
  const place = await (await custody()).importKey(config, await readKey(options.keyFile));
  output.line(`The key opens the pack and is kept in ${place}.`);
}

/** A key or passphrase: the first line of a file, else typed or piped input. */
async function readKey(file: string | undefined): Promise<string> {
  if (file !== undefined) return firstLine(readText(pathArgument("--key-file", file)));
  return isTerminal()
    ? await askSecret("Key or passphrase of the pack: ")
    : firstLine(await Bun.stdin.text());
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    throw invalid("--key-file", `${file} cannot be read (${code})`);
  }
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? "";
}

async function forget(
  context: CliContext,
  path: string,
  options: { readonly yes?: true },
): Promise<void> {
  const { output } = context;
  const config = configWithoutKey(context, path);
  const { forgetKey, keyStatus } = await custody();
  const { places } = await keyStatus(config);
  if (options.yes !== true && places.length > 0 && !(await agrees(path))) {
    output.note("Nothing was removed.");
    return;
  }
  const removed = await forgetKey(config);
  if (removed.length === 0) output.line("No key of the pack is kept on this machine.");
  for (const place of removed) output.line(`Removed the key from ${place}.`);
}

async function agrees(path: string): Promise<boolean> {
  if (!isTerminal()) {
    throw invalid(
      "--yes",
      `is missing: without a copy of the key the pack can never be read again; make one with: svc key export ${packWord(path)}`,
    );
  }
  return await confirm(
    "Without a copy of the key the pack can never be read again. Remove it from this machine?",
    false,
  );
}
