import { readFileSync } from "node:fs";
import { Command, Option } from "commander";
import { pathArgument } from "../../../config/path.ts";
import { invalid } from "../../../domain/errors.ts";
import type { KeyStatus } from "../../../packs/key-custody.ts";
import type { CliContext } from "../context.ts";
import {
  configWithoutKey,
  keyRequest,
  type PackOptions,
  packCommand,
  packWord,
} from "../options.ts";
import { fields } from "../output.ts";
import { askSecret, confirm, isTerminal } from "../terminal.ts";

const custody = async () => await import("../../../packs/key-custody.ts");

type ExportOptions = PackOptions & { readonly output?: string };

const EXAMPLES = `
Examples:
  svc key status                            where the key of the pack is kept
  svc key export --output memory.key        a backup, to be kept elsewhere
  svc key import --key-file memory.key      on another machine; without --key-file it is asked for
  svc key forget ./memory.pack              from this machine

Keys are kept in the system's secret store or, where there is none, in files that only you can read. A passphrase is kept
only when you import it. If you lose the key, you lose the pack. Only export shows a key.`;

export function keyCommand(context: CliContext): Command {
  const key = new Command("key")
    .description("keep, back up or forget the key of a pack")
    .addHelpText("after", EXAMPLES);
  for (const build of PARTS) key.addCommand(build(context));
  return key;
}

const PARTS = [
  packCommand(
    {
      name: "status",
      description: "show where the key of a pack is kept",
      without: ["--encryption-key"],
      examples: EXAMPLES,
    },
    async ({ output }, path: string, { format }: PackOptions) => {
      const found = await (await custody()).keyStatus(configWithoutKey({ output }, path));
      if (format === "json") output.json(toJson(found));
      else for (const line of fields(factsOf(found))) output.line(line);
    },
  ),
  packCommand(
    {
      name: "export",
      description: "show the key of a pack, or write it to a file",
      options: [new Option("--output <file>", "a new file, which only you can read")],
      without: ["--format"],
      examples: EXAMPLES,
    },
    exportKey,
  ),
  packCommand(
    {
      name: "import",
      description: "keep a key on this machine, after checking that it opens the pack",
      options: [
        new Option(
          "--key-file <file>",
          "its first line is the key or passphrase (default: standard input)",
        ),
      ],
      without: ["--encryption-key", "--format"],
      examples: EXAMPLES,
    },
    async ({ output }, path: string, { keyFile }: { readonly keyFile?: string }) => {
      const config = configWithoutKey({ output }, path);
      const place = await (await custody()).importKey(config, await readKey(keyFile));
      output.line(`The key opens the pack and is kept in ${place}.`);
    },
  ),
  packCommand(
    {
      name: "forget",
      description: "remove the key of a pack from this machine",
      options: [new Option("--yes", "do not ask")],
      without: ["--encryption-key", "--format"],
      examples: EXAMPLES,
    },
    forget,
  ),
];

function factsOf({ path, encrypted, salt, places, inSettings }: KeyStatus): [string, string][] {
  const facts: [string, string][] = [
    ["Pack", path],
    ["Encryption", encrypted ? "AES-256-GCM" : "none"],
  ];
  if (!encrypted) return facts;
  const kept = places.map(({ place, problem }) => problem ?? place);
  return [
    ...facts,
    ["Kept as", salt ?? ""],
    ...(kept.length === 0 ? ["no place on this machine"] : kept).map((place): [string, string] => [
      "Kept in",
      place,
    ]),
    ["In the settings", inSettings ? "yes, and used first" : "no"],
  ];
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
