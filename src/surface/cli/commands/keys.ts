import { Command, Option } from "commander";
import { pathArgument } from "../../../config/path.ts";
import { invalid } from "../../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { configWithoutKey, formatOption } from "../options.ts";
import { type Format, table } from "../output.ts";

type Options = {
  readonly file?: string;
  readonly userId?: string;
  readonly operator?: true;
  readonly format: Format;
};

const EXAMPLES = `
Examples:
  svc keys add laptop --user-id ada     prints the key, once
  svc keys add backup --operator        with access to all owners
  svc keys list
  svc keys revoke laptop

The file is that of api.keys_file, or --file. A running server takes what it says from the next request on. It holds hashes,
never the keys themselves.`;

const keyFile = async () => await import("../../../app/key-file.ts");

export function keysCommand(context: CliContext): Command {
  const { output } = context;
  const part = (name: string, description: string): Command =>
    new Command(name)
      .description(description)
      .addOption(new Option("--file <file>", "the file of the keys (default: api.keys_file)"))
      .addHelpText("after", EXAMPLES);
  const add = part("add", "make a key, and show it once")
    .argument("<name>", "of the key, such as laptop")
    .addOption(new Option("--user-id <name>", "the owner whose memories it opens"))
    .addOption(new Option("--operator", "it opens those of all owners"))
    .action(async (name: string, options: Options) => {
      const { userId, operator = false } = options;
      if (operator === (userId !== undefined) || userId?.trim() === "") {
        throw invalid("--user-id", "names the owner of the key; --operator in its place, all");
      }
      const key = (await keyFile()).addKey(fileOf(context, options), name, userId);
      output.note("This is shown once. Send it as: Authorization: Bearer <key>");
      output.line(key);
    });
  const list = part("list", "show the names of the keys, and whose they are")
    .addOption(formatOption())
    .action(async (options: Options) => {
      const keys = (await keyFile()).readKeyFile(fileOf(context, options));
      const told = keys.map(({ sha256: _, ...key }) => key);
      if (options.format === "json") return output.json({ keys: told });
      const rows = told.map(({ name, owner, created }) => [
        name,
        owner ?? "(operator)",
        created.slice(0, 16).replace("T", " "),
      ]);
      for (const line of table(["NAME", "OWNER", "MADE (UTC)"], rows)) output.line(line);
    });
  const revoke = part("revoke", "end a key; the next request with it is refused")
    .argument("<name>", "of the key")
    .action(async (name: string, options: Options) => {
      (await keyFile()).revokeKey(fileOf(context, options), name);
      output.line(`${name} opens nothing any more.`);
    });
  return new Command("keys")
    .description("make, list and revoke the keys of the callers of a server")
    .addHelpText("after", EXAMPLES)
    .addCommand(add)
    .addCommand(list)
    .addCommand(revoke);
}

function fileOf(context: CliContext, { file }: Options): string {
  const path =
    file === undefined
      ? configWithoutKey(context, undefined).api.keys_file
      : pathArgument("--file", file);
  if (path !== undefined) return path;
  throw invalid("--file", "is needed, or SVC_API__KEYS_FILE, which the server reads as well");
}
