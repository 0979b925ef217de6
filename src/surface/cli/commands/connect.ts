import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { rememberPack } from "../../../app/own-pack.ts";
import { mainFileOf } from "../../../app/pack-path.ts";
import {
  CLIENT_NAMES,
  CONFIG_SCOPES,
  type ConfigScope,
  findClient,
  lastingSelf,
  requireClient,
  serverNameFor,
  surroundings,
} from "../../../assistants/catalogue.ts";
import type { ClientChange, ClientEntry } from "../../../assistants/config-change.ts";
import type { HookTrial } from "../../../assistants/hook-trial.ts";
import type { RoundTrip } from "../../../assistants/round-trip.ts";
import type { RemoteServer, ServerCommand } from "../../../assistants/server-entry.ts";
import type { Config } from "../../../config/schema.ts";
import { invalid } from "../../../domain/errors.ts";
import { shellWord } from "../../../lib/text.ts";
import type { ToolSet } from "../../contract/core/operation.ts";
import type { CliContext } from "../context.ts";
import { TOOL_SETS } from "../mcp-options.ts";
import { configOfPack, formatOption, packOf } from "../options.ts";
import type { Format } from "../output.ts";
import { confirm, isTerminal } from "../terminal.ts";

/** Milliseconds within which the server must answer; its first start unpacks libraries. */
const LIMIT_MS = 30_000;

type ConnectOptions = ChangeOptions & {
  readonly dbPath?: string;
  readonly url?: string;
  readonly keyEnv?: string;
  readonly userId?: string;
  readonly tools: ToolSet;
  readonly capture?: boolean;
  readonly rule?: boolean;
  readonly print?: true;
  readonly force?: true;
  readonly verify: boolean;
};

export function connectCommand(context: CliContext): Command {
  return new Command("connect")
    .description("let an assistant use a pack")
    .usage("[options] <client>")
    .addArgument(clientArgument())
    .option("--db-path <path>", "the pack (default: the configured one, else ./memory.pack)")
    .addOption(
      new Option("--url <url>", "a server over HTTP in the place of a pack").conflicts([
        "dbPath",
        "userId",
        "tools",
      ]),
    )
    .option(
      "--key-env <name>",
      "with --url: the variable with its key in the assistant's environment",
    )
    .addOption(serverName())
    .addOption(scopeOption())
    .option(
      "--user-id <owner>",
      "owner of the memories (default: SVC_MCP_USER_ID, else the owner of the pack)",
      ownerName,
    )
    .addOption(
      new Option("--tools <set>", "which tools to offer: those of every day, or all")
        .choices(TOOL_SETS)
        .default("core" satisfies ToolSet),
    )
    .addOption(new Option("--dry-run", "show what would change, and stop").conflicts("print"))
    .option("--yes", "do not ask")
    .option("--print", "print what to put into the configuration, and change nothing")
    .option("--force", "replace a server of another program that has the same name")
    .option("--capture", "also remember without being asked, by hooks of the assistant")
    .option("--no-capture", "do not ask about that")
    .option("--rule", "also add a sentence to its rules that points it to the memory")
    .option("--no-rule", "do not ask about that")
    .option("--no-verify", "do not start the server")
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
Examples:
  svc connect claude-code                              its user's configuration, for ./memory.pack
  svc connect cursor --db-path ~/notes.pack --dry-run  only show what would change
  svc connect codex --user-id anna --yes               one owner for everything; do not ask
  svc connect vscode --scope project                   for everyone who works in this folder
  svc connect codex --url https://memory.example/mcp --key-env SVC_KEY   a server, for a team
  svc connect any-other --print                        what to put into another assistant

The file is backed up first, and only the entry is changed. Then the server is started just as the assistant will start it,
and spoken to. No key is ever written. svc disconnect takes it back.`,
    )
    .action((client: string | undefined, options: ConnectOptions) =>
      connect(context, namedClient(client), options),
    );
}

async function connect(
  context: CliContext,
  client: string,
  options: ConnectOptions,
): Promise<void> {
  const { output } = context;
  const { name = serverNameFor(client), scope } = options;
  const { planned, pack } = await targetOf(context, options);
  const desk = await import("../../../assistants/config-change.ts");
  const warn = (concern: string): void => output.note(`Warning: ${concern}`);
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
  const changed = (server: AnyServer) => desk.planConnection(entry, server, options.force === true);
  if (options.dryRun !== true && pack !== undefined) {
    await makeIfMissing(context, pack.config, async () => changed((await planned()).server));
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
  remember(outcome, scope, pack?.pack);
  const isTried = options.verify && outcome.status !== "planned";
  const trip = isTried ? await tryServer(context, server) : undefined;
  if (trip?.isOk === false) context.fail();
  const capture = pack && (await connectHooks(context, entry, pack, options));
  const rule = await connectRule(context, entry, options);
  const done: Done = {
    entry,
    server,
    concerns,
    change,
    outcome,
    trip,
    undo: undoCommand(entry),
    capture,
    rule,
  };
  if (options.format === "json") output.json(toJson(done));
  else report(context, done);
}

type AnyServer = ServerCommand | RemoteServer;

type Target = {
  readonly planned: () => Promise<{
    readonly server: AnyServer;
    readonly concerns: readonly string[];
  }>;
  /** Undefined: a server over HTTP. */
  readonly pack:
    | { readonly config: Config; readonly pack: string; readonly userId: string | undefined }
    | undefined;
};

/** What the assistant is to use. @throws SvcError invalid_argument for an address or a name that is none */
async function targetOf(context: CliContext, options: ConnectOptions): Promise<Target> {
  const { url, keyEnv, tools } = options;
  const assistant = await import("../../../assistants/assistant-command.ts");
  if (url !== undefined) {
    if (options.capture === true) throw invalid("--capture", "needs a pack on this machine");
    const server = assistant.remoteServer(url, keyEnv);
    const isUnset = valueFor(server.keyEnv) === "";
    const concern = `${server.keyEnv} is not set here, so the server is not tried; the assistant needs it in its environment`;
    return {
      planned: async () => ({ server, concerns: isUnset ? [concern] : [] }),
      pack: undefined,
    };
  }
  if (keyEnv !== undefined) throw invalid("--key-env", "needs --url");
  const config = configOfPack(context, options.dbPath);
  const userId = options.userId ?? config.mcp.user_id;
  const pack = packOf(resolve(config.pack_path ?? config.db_path));
  const planned = () => assistant.assistantOf(config, { pack, userId, tools });
  return { planned, pack: { config, pack, userId } };
}

type Changed = { readonly change: ClientChange; readonly outcome: ChangeOutcome };

type Captured = Changed & {
  readonly trials: readonly HookTrial[];
  /** What the assistant notes for itself. */
  readonly notes: readonly string[];
};

/** Adds the hooks that store and recall without being asked, if the person wants them. */
async function connectHooks(
  context: CliContext,
  { client, scope }: ClientEntry,
  wish: { readonly pack: string; readonly userId: string | undefined },
  options: ConnectOptions,
): Promise<Captured | undefined> {
  const isAsked = options.capture === undefined && mayAsk(options);
  if (scope !== "user" || !(options.capture ?? isAsked)) return undefined;
  const change = await hooksFor(context, client, wish, isAsked);
  if (change === undefined) return undefined;
  const chosen = isAsked ? options : { ...options, yes: true as const };
  const outcome = await changeConfig(context, change, chosen, "Remember without being asked?");
  const isThere = outcome.status === "done" || outcome.status === "unchanged";
  const trials = options.verify && isThere ? await tryHooksOf(client) : [];
  if (trials.some(({ problem }) => problem !== undefined)) context.fail();
  const { ownNotes } = await import("../../../capture/own-folders.ts");
  const notes = ownNotes(client, surroundings().home).map(shellWord);
  return { change, outcome, trials, notes };
}

function mayAsk({ yes, dryRun }: ChangeOptions): boolean {
  return isTerminal() && yes !== true && dryRun !== true;
}

/** Adds the sentence that points an assistant to the memory, if the person wants it. */
async function connectRule(
  context: CliContext,
  { client, scope }: ClientEntry,
  options: ConnectOptions,
): Promise<Changed | undefined> {
  const isAsked = options.rule === undefined && mayAsk(options);
  if (!(options.rule ?? isAsked)) return undefined;
  const { planRule } = await import("../../../assistants/rule.ts");
  const change = planRule({ client, scope }, surroundings());
  if (change === undefined) {
    const why = `${client} needs no rule, or has no file for one that svc knows`;
    if (!isAsked) context.output.note(`Warning: ${why}; see docs/connect.md.`);
    return undefined;
  }
  const chosen = isAsked ? options : { ...options, yes: true as const };
  const outcome = await changeConfig(context, change, chosen, "Add this rule?");
  return { change, outcome };
}

async function hooksFor(
  { output }: CliContext,
  client: string,
  wish: { readonly pack: string; readonly userId: string | undefined },
  isAsked: boolean,
): Promise<ClientChange | undefined> {
  const hooks = await import("../../../assistants/hooks.ts");
  const here = surroundings();
  const { name } = requireClient(client);
  const change = hooks.planHooks(name, { program: lastingSelf(here), ...wish }, here);
  if (change === undefined) {
    if (!isAsked) output.note(`Warning: ${client} runs no hooks; it remembers when it is told to.`);
    return undefined;
  }
  if (hooks.hasPlugin(name, here)) {
    output.note(`${change.title} has the plugin of svc, which brings the same hooks.`);
    return undefined;
  }
  if (!hooks.runsHooksOfClaude(name, here) || change.before !== undefined) return change;
  output.note(`${change.title} runs the hooks of Claude Code's file, which has them already.`);
  return undefined;
}

async function tryHooksOf(client: string): Promise<readonly HookTrial[]> {
  const { tryHooks } = await import("../../../assistants/hook-trial.ts");
  return await tryHooks(requireClient(client).name, surroundings());
}

/** Makes a missing pack, as `svc init` does: the assistant does not. @param check throws if connecting would fail */
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

/** The pack of a person's assistant is the default of the other commands. */
function remember({ status }: ChangeOutcome, scope: ConfigScope, pack: string | undefined): void {
  if (pack !== undefined && status !== "planned" && scope === "user") rememberPack(pack);
}

function meant(names: readonly string[]): string {
  return `Did you mean ${names.join(" or ")}?`;
}

/** Everything to report. */
type Done = {
  readonly entry: ClientEntry;
  readonly server: AnyServer;
  readonly concerns: readonly string[];
  readonly change: ClientChange;
  readonly outcome: ChangeOutcome;
  /** Undefined: the server was not tested. */
  readonly trip: RoundTrip | undefined;
  /** The command that undoes the connection. */
  readonly undo: string;
  /** Undefined: no hooks were wanted. */
  readonly capture: Captured | undefined;
  /** Undefined: no rule was wanted. */
  readonly rule: Changed | undefined;
};

function reportHooks({ output }: CliContext, { change, outcome, trials, notes }: Captured): void {
  if (outcome.status === "unchanged") output.line("Its hooks are there already.");
  if (outcome.status === "done") {
    output.line(`It remembers without being asked; svc capture shows what, and turns it off.`);
    if (outcome.copy !== undefined) output.line(`The previous file of hooks is ${outcome.copy}.`);
    if (change.title === "Codex")
      output.line("Codex runs no hook that it was not told to trust: open /hooks once.");
    for (const path of notes)
      output.line(`Its own notes stay its own, and can be remembered too: svc import ${path}`);
  }
  for (const { event, ms, problem } of trials) {
    if (problem === undefined) output.line(`Tested: ${event} in ${ms} ms.`);
    else output.note(`Error: the hook of ${event} failed after ${ms} ms: ${problem}`);
  }
}

function report(context: CliContext, done: Done): void {
  reportServer(context, done);
  if (done.capture !== undefined) reportHooks(context, done.capture);
  if (done.rule?.outcome.status === "done") {
    context.output.line(`The rule is in ${done.rule.change.file}.`);
  }
}

function reportServer({ output }: CliContext, { change, outcome, trip, undo, server }: Done): void {
  const { title, before } = change;
  if (outcome.status === "unchanged") output.line(`${title} is already connected.`);
  if (outcome.status === "done") {
    output.line(`Connected. It takes effect the next time ${title} starts.`);
    if (before !== undefined) output.line(`The previous file is ${outcome.copy}.`);
  }
  if (trip?.isOk === true) {
    const start = "command" in server ? ` (${trip.startMs} ms to start)` : "";
    output.line(
      `Tested: the server answered in ${trip.ms} ms${start} and offers ${trip.tools} tools.`,
    );
  }
  if (outcome.status === "done") output.line(`To undo this: ${undo}`);
  if (trip?.isOk !== false) return;
  const how = "command" in server ? "started as the assistant will start it" : "asked";
  output.note(`Error: the server was ${how}, and failed after ${trip.ms} ms: ${trip.problem}`);
  output.note(`The new configuration stays; to undo it, run: ${undo}`);
}

function toJson(done: Done): Record<string, unknown> {
  const { entry, server, concerns, change, outcome, trip, undo, capture, rule } = done;
  return {
    ...changeToJson(entry, change, outcome, "connected"),
    server: "url" in server ? { url: server.url, key_env: server.keyEnv } : server,
    concerns,
    round_trip: trip === undefined ? null : tripToJson(trip),
    undo,
    capture: capture === undefined ? null : captureToJson(capture),
    rule: rule === undefined ? null : changedToJson(rule),
  };
}

function changedToJson({ change, outcome }: Changed): Record<string, unknown> {
  const { status, copy, diff } = outcome;
  return { file: change.file, status, backup: copy ?? null, diff };
}

function captureToJson({ trials, ...changed }: Captured): Record<string, unknown> {
  const trial = trials.map(({ event, ms, problem }) => ({ event, ms, problem: problem ?? null }));
  return { ...changedToJson(changed), trials: trial };
}

function tripToJson(trip: RoundTrip): Record<string, unknown> {
  return trip.isOk
    ? { ok: true, ms: trip.ms, start_ms: trip.startMs, tools: trip.tools, problem: null }
    : { ok: false, ms: trip.ms, start_ms: null, tools: null, problem: trip.problem };
}

/** The value of a variable of this process; empty if it is not set. */
function valueFor(variable: string): string {
  return surroundings().environment[variable] ?? "";
}

/** Undefined: the variable with the key is not set in this process. */
async function tryServer(context: CliContext, server: AnyServer): Promise<RoundTrip | undefined> {
  const key = "url" in server ? valueFor(server.keyEnv) : undefined;
  if (key === "") return undefined;
  const stopProgress = await context.output.progress("trying the server");
  const round = await import("../../../assistants/round-trip.ts");
  const trip =
    "url" in server
      ? round.tryRemote(server, key ?? "", LIMIT_MS)
      : round.tryServer(server, { limitMs: LIMIT_MS });
  return await trip.finally(stopProgress);
}

function undoCommand({ client, name, scope }: ClientEntry): string {
  return [
    `svc disconnect ${client}`,
    ...(name === serverNameFor(client) ? [] : [`--name ${name}`]),
    ...(scope === "user" ? [] : [`--scope ${scope}`]),
  ].join(" ");
}

function ownerName(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("An owner has a name.");
  return text;
}

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
    .addHelpText(
      "after",
      `
Examples:
  svc disconnect claude-code
  svc disconnect vscode --scope project --dry-run

When nothing else was changed since svc connect, the file becomes what it was before, to the last byte; a file that it made
is removed. Otherwise the entry alone goes, and the file is backed up first. The pack stays.`,
    )
    .action((client: string | undefined, options: ChangeOptions) =>
      disconnect(context, namedClient(client), options),
    );
}

async function disconnect(
  context: CliContext,
  client: string,
  options: ChangeOptions,
): Promise<void> {
  const { output } = context;
  const { name = serverNameFor(client), scope, format } = options;
  const { planDisconnection } = await import("../../../assistants/config-change.ts");
  const entry = { client, scope, name };
  if ((await disconnectHooks(context, entry, options)) === "declined") return;
  const change = await planDisconnection(entry);
  const done = await changeConfig(context, change, options, `Disconnect ${change.title}?`);
  if (done.status === "declined") return;
  await disconnectRule(context, entry, options);
  if (format === "json") {
    output.json(changeToJson(entry, change, done, "disconnected"));
    return;
  }
  if (done.status === "unchanged") reportIdle(context, change, name);
  if (done.status === "done") reportDone(context, change, done.copy);
}

/** Takes the hooks out, before the entry: the two may be in one file. */
async function disconnectHooks(
  context: CliContext,
  { client, scope }: ClientEntry,
  options: ChangeOptions,
): Promise<ChangeOutcome["status"]> {
  const { planUnhook } = await import("../../../assistants/hooks.ts");
  const name = findClient(client)?.name;
  const change = name && scope === "user" ? planUnhook(name, surroundings()) : undefined;
  if (change === undefined || change.before === change.after) return "unchanged";
  const question = `Take the hooks of svc out of ${change.title}?`;
  const { status } = await changeConfig(context, change, options, question);
  if (status === "done" && options.format === "table") {
    context.output.line(`The hooks are gone from ${change.file}. What was captured stays.`);
  }
  return status;
}

/** Takes the rule away, which other assistants of a project may still follow. */
async function disconnectRule(
  context: CliContext,
  { client, scope }: ClientEntry,
  options: ChangeOptions,
): Promise<void> {
  const { hasOthersIn } = await import("../../../assistants/config-change.ts");
  const { planNoRule } = await import("../../../assistants/rule.ts");
  const here = surroundings();
  const change = planNoRule({ client, scope }, here);
  if (change === undefined || change.before === change.after) return;
  if (scope === "project" && (await hasOthersIn(client, here))) return;
  await changeConfig(context, change, options, `Take the rule of svc out of ${change.file}?`);
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

/** `--name`. A name that every client accepts. */
function serverName(): Option {
  const description = "the server's name in the configuration (default: memory; for goose svc)";
  return new Option("--name <name>", description).argParser((text) => {
    if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text)) return text;
    throw new InvalidArgumentError(
      "A name is made of up to 64 ASCII letters, digits, - and _, and begins with a letter or digit.",
    );
  });
}

/** `--scope user|project`. */
function scopeOption(): Option {
  return new Option("--scope <scope>", "the configuration of the user, or of the working directory")
    .choices(CONFIG_SCOPES)
    .default("user");
}

/** The argument of commands about one assistant; `namedClient` reports a missing one. */
function clientArgument(): Argument {
  const argument = new Argument("[client]", "the assistant");
  // For help and completion. An unknown name gets a suggestion, which commander's own check would not give.
  argument.argChoices = [...CLIENT_NAMES];
  return argument;
}

/** @throws SvcError invalid_argument if no assistant was named */
function namedClient(client: string | undefined): string {
  if (client !== undefined) return client;
  throw invalid("client", `is missing; choose one of ${CLIENT_NAMES.join(", ")}`);
}

/** The options of these commands. */
type ChangeOptions = {
  readonly name?: string;
  readonly scope: ConfigScope;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly format: Format;
};

type ChangeOutcome = {
  readonly status: "unchanged" | "planned" | "declined" | "done";
  /** The lines of the file that differ. */
  readonly diff: readonly string[];
  /** The backup of the previous file. */
  readonly copy: string | undefined;
};

/**
 * Shows a change and applies it once the person agrees.
 * @throws SvcError invalid_argument without a terminal to ask on and without `--yes`
 */
async function changeConfig(
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

/** A change as JSON. @param done the word for an applied change */
function changeToJson(
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

/** Unchanged characters of a line shown on either side of a change. */
const AROUND = 30;
/** Lines up to this length are shown as they are. */
const LINE_MAX = 160;

/**
 * The difference of two texts: the lines between the common start and the common end, under a heading with their positions. Unchanged
 * lines, and most of a long line, are hidden, since configuration files contain other programs' secrets. Empty if the texts are equal.
 */
export function lineDiff(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const [one, other] = [linesOf(before), linesOf(after)];
  const start = commonStart(one, other);
  const end = commonStart(one.slice(start).reverse(), other.slice(start).reverse());
  const gone = one.slice(start, one.length - end);
  const come = other.slice(start, other.length - end);
  const [shownGone, shownCome] = shortened(gone, come);
  return [
    `@@ ${rangeOf("-", start, gone.length)} ${rangeOf("+", start, come.length)} @@`,
    ...shownGone.map((line) => `-${line}`),
    ...shownCome.map((line) => `+${line}`),
  ];
}

/** Without the empty line after the last line feed. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function commonStart<T>(one: ArrayLike<T>, other: ArrayLike<T>): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

/** Lines are counted from 1; an empty range names the line before it. */
function rangeOf(sign: string, start: number, count: number): string {
  return `${sign}${count === 0 ? start : start + 1},${count}`;
}

/** The context of the difference between two versions of one long line. */
function shortened(
  gone: readonly string[],
  come: readonly string[],
): readonly [readonly string[], readonly string[]] {
  const [one, ...others] = gone;
  const [other = "", ...rest] = come;
  const isLong = Math.max(one?.length ?? 0, other.length) > LINE_MAX;
  if (one === undefined || others.length > 0 || rest.length > 0 || !isLong) return [gone, come];
  const start = commonStart([...one], [...other]);
  const end = commonStart([...one].slice(start).reverse(), [...other].slice(start).reverse());
  return [[window(one, start, end)], [window(other, start, end)]];
}

function window(line: string, start: number, end: number): string {
  const characters = [...line];
  const from = Math.max(0, start - AROUND);
  const to = Math.min(characters.length, characters.length - end + AROUND);
  const shown = characters.slice(from, to).join("");
  return `${from > 0 ? "…" : ""}${shown}${to < characters.length ? "…" : ""}`;
}
