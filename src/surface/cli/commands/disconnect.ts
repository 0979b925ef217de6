import { Command } from "commander";
import type { ClientChange } from "../../../assistants/config-change.ts";
import {
  type ChangeOptions,
  changeConfig,
  changeToJson,
  clientArgument,
  requireClient,
  scopeOption,
  serverName,
} from "../client-change.ts";
import type { CliContext } from "../context.ts";
import { formatOption } from "../options.ts";

const EXAMPLES = `
Examples:
  svc disconnect claude-code
  svc disconnect vscode --scope project --dry-run

When nothing else was changed since svc connect, the file becomes what it was before, to the last byte; a file that it made
is removed. Otherwise the entry alone goes, and the file is backed up first. The pack stays.`;

/** `svc disconnect`: undoes `svc connect`. Repeating it changes nothing. */
export function disconnectCommand(context: CliContext): Command {
  return new Command("disconnect")
    .description("undo svc connect for an assistant")
    .usage("[options] <client>")
    .addArgument(clientArgument())
    .addOption(serverName())
    .addOption(scopeOption())
    .option("--dry-run", "show what would change, and stop")
    .option("--yes", "do not ask")
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((client: string | undefined, options: ChangeOptions) =>
      disconnect(context, requireClient(client), options),
    );
}

async function disconnect(
  context: CliContext,
  client: string,
  options: ChangeOptions,
): Promise<void> {
  const { output } = context;
  const { name, scope, format } = options;
  const { planDisconnection } = await import("../../../assistants/config-change.ts");
  const entry = { client, scope, name };
  const change = await planDisconnection(entry);
  const done = await changeConfig(context, change, options, `Disconnect ${change.title}?`);
  if (done.status === "declined") return;
  if (format === "json") {
    output.json(changeToJson(entry, change, done, "disconnected"));
    return;
  }
  if (done.status === "unchanged") reportIdle(context, change, name);
  if (done.status === "done") reportDone(context, change, done.copy);
}

function reportIdle({ output }: CliContext, change: ClientChange, name: string): void {
  const { title, file, otherNames } = change;
  if (otherNames.length === 0) {
    output.line(`${title} is not connected: ${file} has no server called ${name}.`);
    return;
  }
  output.line(`${file} has no server called ${name}. It has a server of svc under another name:`);
  for (const other of otherNames) output.line(`  --name ${other}`);
}

function reportDone({ output }: CliContext, change: ClientChange, copy?: string): void {
  const { title, file, after } = change;
  output.line(`Disconnected. It takes effect the next time ${title} starts.`);
  if (after === undefined) output.line(`${file}, which svc connect created, has been removed.`);
  else if (copy === undefined) output.line(`${file} is what it was before svc connect.`);
  else
    output.line(
      `${file} has changed since, so only the entry was removed. The previous file is ${copy}.`,
    );
}
