import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { mainFileOf } from "../../../app/pack-path.ts";
import type { ClientChange, ClientEntry } from "../../../assistants/config-change.ts";
import type { RoundTrip } from "../../../assistants/round-trip.ts";
import type { ServerCommand } from "../../../assistants/server-entry.ts";
import type { Config } from "../../../config/schema.ts";
import type { ToolSet } from "../../contract/core/operation.ts";
import {
  type ChangeOptions,
  type ChangeOutcome,
  changeConfig,
  changeToJson,
  clientArgument,
  DEFAULT_NAME,
  requireClient,
  scopeOption,
  serverName,
} from "../client-change.ts";
import type { CliContext } from "../context.ts";
import { configOfPack, packOf } from "../default-pack.ts";
import { DEFAULT_TOOLS, TOOL_SETS } from "../mcp-options.ts";
import { formatOption } from "../options.ts";

const EXAMPLES = `
Examples:
  svc connect claude-code                              its user's configuration, for ./memory.pack
  svc connect cursor --db-path ~/notes.pack --dry-run  only show what would change
  svc connect codex --user-id anna --yes               one owner for everything; do not ask
  svc connect vscode --scope project                   for everyone who works in this folder
  svc connect any-other --print                        what to put into another assistant

The file is backed up first, and only the entry is changed. Then the server is started just as the assistant will start it,
and spoken to. No key is ever written. svc disconnect takes it back.`;

/** Milliseconds within which the server must answer; its first start unpacks libraries. */
const LIMIT_MS = 30_000;

type ConnectOptions = ChangeOptions & {
  readonly dbPath?: string;
  readonly userId?: string;
  readonly tools: ToolSet;
  readonly print?: true;
  readonly force?: true;
  readonly verify: boolean;
};

/** `svc connect`: tells an assistant how to start the memory server, and tests it. Repeating it changes nothing. */
export function connectCommand(context: CliContext): Command {
  return new Command("connect")
    .description("let an assistant use a pack")
    .usage("[options] <client>")
    .addArgument(clientArgument())
    .option("--db-path <path>", "the pack (default: the configured one, else ./memory.pack)")
    .addOption(serverName())
    .addOption(scopeOption())
    .option(
      "--user-id <owner>",
      "owner of the memories (default: SVC_MCP_USER_ID, else the owner of the pack)",
      ownerName,
    )
    .addOption(
      new Option("--tools <set>", "which tools to offer; core costs the model fewer tokens")
        .choices(TOOL_SETS)
        .default(DEFAULT_TOOLS),
    )
    .addOption(new Option("--dry-run", "show what would change, and stop").conflicts("print"))
    .option("--yes", "do not ask")
    .option("--print", "print what to put into the configuration, and change nothing")
    .option("--force", "replace a server of another program that has the same name")
    .option("--no-verify", "do not start the server")
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((client: string | undefined, options: ConnectOptions) =>
      connect(context, requireClient(client), options),
    );
}

async function connect(
  context: CliContext,
  client: string,
  options: ConnectOptions,
): Promise<void> {
  const { output } = context;
  const { name, scope, tools } = options;
  const config = configOfPack(context, options.dbPath);
  const userId = options.userId ?? config.mcp.user_id;
  const wish = { pack: packOf(resolve(config.pack_path ?? config.db_path)), userId, tools, client };
  const { assistantOf } = await import("../../../assistants/assistant-command.ts");
  const desk = await import("../../../assistants/config-change.ts");
  const warn = (concern: string): void => output.note(`Warning: ${concern}`);
  const planned = () => assistantOf(config, wish);
  if (options.print === true) {
    const { server, concerns } = await planned();
    concerns.forEach(warn);
    const { text, similar } = await desk.snippetFor(client, name, server);
    if (similar.length > 0) {
      warn(`${client} is not known; most assistants read this. ${meant(similar)}`);
    }
    output.line(text.trimEnd());
    return;
  }
  const entry = { client, scope, name };
  const changed = (server: ServerCommand) =>
    desk.planConnection(entry, server, options.force === true);
  if (options.dryRun !== true) {
    await makeIfMissing(context, config, async () => changed((await planned()).server));
  }
  const { server, concerns } = await planned();
  const change = await changed(server);
  const isNew = change.before === undefined && scope === "user";
  if (isNew && !existsSync(dirname(change.file))) {
    warn(`${dirname(change.file)} is missing: ${change.title} may not be installed`);
  }
  concerns.forEach(warn);
  const outcome = await changeConfig(context, change, options, `Connect ${change.title}?`);
  if (outcome.status === "declined") return;
  const isTried = options.verify && outcome.status !== "planned";
  const trip = isTried ? await tryServer(context, server) : undefined;
  if (trip?.isOk === false) context.fail();
  const done: Done = { entry, server, concerns, change, outcome, trip, undo: undoCommand(entry) };
  if (options.format === "json") output.json(toJson(done));
  else report(context, done);
}

/** Makes a missing pack, as `svc init` does: the assistant makes none. @param check throws where it would be for nothing */
async function makeIfMissing(
  { output }: CliContext,
  config: Config,
  check: () => Promise<unknown>,
): Promise<void> {
  if (existsSync(mainFileOf(config))) return;
  await check();
  const { openOrMake } = await import("../../../packs/create-pack.ts");
  const engine = await openOrMake(config, (message) => output.note(message));
  await engine.close();
}

function meant(names: readonly string[]): string {
  return `Did you mean ${names.join(" or ")}?`;
}

/** Everything to report. */
type Done = {
  readonly entry: ClientEntry;
  readonly server: ServerCommand;
  readonly concerns: readonly string[];
  readonly change: ClientChange;
  readonly outcome: ChangeOutcome;
  /** Undefined: the server was not tested. */
  readonly trip: RoundTrip | undefined;
  /** The command that undoes the connection. */
  readonly undo: string;
};

function report({ output }: CliContext, { change, outcome, trip, undo }: Done): void {
  const { title, before } = change;
  if (outcome.status === "unchanged") output.line(`${title} is already connected.`);
  if (outcome.status === "done") {
    output.line(`Connected. It takes effect the next time ${title} starts.`);
    if (before !== undefined) output.line(`The previous file is ${outcome.copy}.`);
  }
  if (trip?.isOk === true) {
    output.line(
      `Tested: the server answered in ${trip.ms} ms (${trip.startMs} ms to start) and offers ${trip.tools} tools.`,
    );
  }
  if (outcome.status === "done") output.line(`To undo this: ${undo}`);
  if (trip?.isOk !== false) return;
  output.note(
    `Error: the server was started as the assistant will start it, and failed after ${trip.ms} ms: ${trip.problem}`,
  );
  output.note(`The new configuration stays; to undo it, run: ${undo}`);
}

function toJson(done: Done): Record<string, unknown> {
  const { entry, server, concerns, change, outcome, trip, undo } = done;
  return {
    ...changeToJson(entry, change, outcome, "connected"),
    server,
    concerns,
    round_trip: trip === undefined ? null : tripToJson(trip),
    undo,
  };
}

function tripToJson(trip: RoundTrip): Record<string, unknown> {
  return trip.isOk
    ? { ok: true, ms: trip.ms, start_ms: trip.startMs, tools: trip.tools, problem: null }
    : { ok: false, ms: trip.ms, start_ms: null, tools: null, problem: trip.problem };
}

async function tryServer(context: CliContext, server: ServerCommand): Promise<RoundTrip> {
  const stopProgress = await context.output.progress("starting the server");
  const round = await import("../../../assistants/round-trip.ts");
  return await round.tryServer(server, { limitMs: LIMIT_MS }).finally(stopProgress);
}

function undoCommand({ client, name, scope }: ClientEntry): string {
  return [
    `svc disconnect ${client}`,
    ...(name === DEFAULT_NAME ? [] : [`--name ${name}`]),
    ...(scope === "user" ? [] : [`--scope ${scope}`]),
  ].join(" ");
}

function ownerName(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("An owner has a name.");
  return text;
}
