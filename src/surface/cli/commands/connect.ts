import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { changeConfig, scopeOption, serverName } from "../client-change.ts";
import type { Assistant, ClientChange, RoundTrip, Scope } from "../client-deps.ts";
import { configOfPack, packOf } from "../default-pack.ts";
import type { CliContext } from "../deps.ts";
import { formatOption } from "../options.ts";
import type { Format } from "../output.ts";

const EXAMPLES = `
Examples:
  svc connect claude-code                              its user's configuration, for ./memory.pack
  svc connect cursor --db-path ~/notes.pack --dry-run  only show what would change
  svc connect codex --user-id anna --yes               one owner for everything; do not ask
  svc connect vscode --scope project                   for whoever works in this folder
  svc connect any-other --print                        what to put into another assistant

The file is backed up first, and only the entry is changed. Then the server is started just as the assistant will start it,
and spoken to. No key is ever written. svc disconnect takes it back.`;

type ConnectOptions = {
  readonly dbPath?: string;
  readonly name: string;
  readonly scope: Scope;
  readonly userId?: string;
  readonly tools: "core" | "full";
  readonly dryRun?: true;
  readonly yes?: true;
  readonly print?: true;
  readonly force?: true;
  readonly verify: boolean;
  readonly format: Format;
};

/** `svc connect`: tells an assistant how to start the memory server, and tries it. Repeating it changes nothing. */
export async function connectCommand(context: CliContext): Promise<Command> {
  const names = await context.deps.clients.names();
  return new Command("connect")
    .description("let an assistant use a pack")
    .argument("<client>", `the assistant: ${names.join(", ")}`)
    .option("--db-path <path>", "the pack (default: the configured one, else ./memory.pack)")
    .addOption(serverName())
    .addOption(scopeOption())
    .option(
      "--user-id <owner>",
      "whose memory it is; else the assistant names the owner",
      ownerName,
    )
    .addOption(
      new Option("--tools <set>", "which tools to offer; core costs the model fewer tokens")
        .choices(["core", "full"])
        .default("full"),
    )
    .addOption(new Option("--dry-run", "show what would change, and stop").conflicts("print"))
    .option("--yes", "do not ask")
    .option("--print", "print what to put into the configuration, and change nothing")
    .option("--force", "replace a server of another program that has the same name")
    .option("--no-verify", "do not start the server")
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((client: string, options: ConnectOptions) => connect(context, client, options));
}

async function connect(
  context: CliContext,
  client: string,
  options: ConnectOptions,
): Promise<void> {
  const { deps, output } = context;
  const { name, scope, userId, tools } = options;
  const config = await configOfPack(context, options.dbPath);
  const pack = packOf(config);
  const assistant = await deps.clients.assistant(config, { pack, userId, tools });
  if (options.print === true) {
    for (const concern of assistant.concerns) output.note(`Warning: ${concern}`);
    output.line((await deps.clients.snippet(client, name, assistant.server)).trimEnd());
    return;
  }
  const { server } = assistant;
  const change = await deps.clients.planConnection(
    { client, scope, name },
    server,
    options.force === true,
  );
  if (change.before === undefined && !existsSync(dirname(change.file))) {
    output.note(
      `Warning: ${dirname(change.file)} is missing: ${change.title} may not be installed.`,
    );
  }
  for (const concern of assistant.concerns) output.note(`Warning: ${concern}`);
  const done = await changeConfig(context, change, options, `Connect ${change.title}?`);
  if (done.status === "declined") return;
  const isTried = options.verify && done.status !== "planned";
  const trip = isTried ? await tryServer(context, assistant) : undefined;
  if (trip?.isOk === false) context.fail();
  const undo = undoCommand(client, options);
  if (options.format === "json") {
    output.json({
      client,
      scope,
      name,
      file: change.file,
      status: done.status === "done" ? "connected" : done.status,
      backup: done.copy ?? null,
      diff: done.diff,
      server,
      concerns: assistant.concerns,
      round_trip: trip === undefined ? null : toJson(trip),
      undo,
    });
    return;
  }
  if (done.status === "unchanged") output.line(`${change.title} is connected already.`);
  if (done.status === "done") reportDone(context, change, done.copy);
  if (trip !== undefined) reportTrip(context, trip, undo);
  if (done.status === "done") output.line(`To take it back: ${undo}`);
}

function reportDone({ output }: CliContext, { title, before }: ClientChange, copy?: string): void {
  output.line(`Connected. It takes effect when ${title} is started the next time.`);
  if (before !== undefined) output.line(`The former file is ${copy}.`);
}

function reportTrip({ output }: CliContext, trip: RoundTrip, undo: string): void {
  if (trip.isOk) {
    output.line(
      `Tried out: the server answered in ${trip.ms} ms (${trip.startMs} ms to start) and offers ${trip.tools} tools.`,
    );
    return;
  }
  output.note(
    `Error: the server was started as the assistant will start it, and failed after ${trip.ms} ms: ${trip.problem}`,
  );
  output.note(`The configuration stays as it is now; to take it back run: ${undo}`);
}

async function tryServer(context: CliContext, { server }: Assistant): Promise<RoundTrip> {
  const stopProgress = await context.output.progress("starting the server");
  return await context.deps.clients.tryServer(server).finally(stopProgress);
}

function toJson(trip: RoundTrip): Record<string, unknown> {
  return trip.isOk
    ? { ok: true, ms: trip.ms, start_ms: trip.startMs, tools: trip.tools, problem: null }
    : { ok: false, ms: trip.ms, start_ms: null, tools: null, problem: trip.problem };
}

function undoCommand(client: string, { name, scope }: ConnectOptions): string {
  return [
    `svc disconnect ${client}`,
    ...(name === "memory" ? [] : [`--name ${name}`]),
    ...(scope === "user" ? [] : [`--scope ${scope}`]),
  ].join(" ");
}

function ownerName(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("An owner has a name.");
  return text;
}
