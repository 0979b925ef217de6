import { Command, Option } from "commander";
import { mainFileOf } from "../../../app/pack-path.ts";
import { HOOK_CLIENTS, SWEPT_CLIENTS } from "../../../capture/clients.ts";
import {
  dropWaiting,
  type Run,
  readRuns,
  readSwitches,
  spool,
  switchedOff,
  waiting,
  writeSwitches,
} from "../../../capture/state.ts";
import { workingFolder } from "../../../config/path.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { counted } from "../../contract/core/tool-text.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../memories.ts";
import { momentOf } from "../moments.ts";
import { configFor, formatOption, ownerOption, type PackOptions, packCommand } from "../options.ts";
import { type Format, shortened, shortIds, table } from "../output.ts";

const EXAMPLES = `
Examples:
  svc capture status               what was stored of late, and what waits
  svc capture off                  no assistant stores or recalls anything
  svc capture off --here           not in this folder, nor in those in it
  svc capture off --client cursor  not from one assistant
  svc capture off --session ID     not from one conversation
  svc capture on                   undoes svc capture off; what was turned off with an option, the same option turns on
  svc capture retry                sends again what a pack refused
  svc capture sweep                stores what transcripts on this machine say and no hook delivered

Capture is part of svc connect. A prompt that begins with !nomem is not stored, and neither is what stands in
<private>...</private>. A folder with a file .svcignore is never captured; SVC_CAPTURE=0 turns it off for one program.`;

/** `svc hook`, for its help alone: the entry of the program answers it before commands are loaded. */
export function hookCommand(): Command {
  return new Command("hook")
    .description("what assistants run to store and recall: reads one message of theirs")
    .argument("<client>", "the assistant; what it sends decides")
    .option("--db-path <path>", "the pack")
    .option("--user-id <owner>", "owner of the memories (default: the owner of the pack)")
    .addHelpText("after", EXAMPLES);
}

type SwitchOptions = {
  readonly here?: true;
  readonly client?: string;
  readonly session?: string;
  readonly format: Format;
};

export function captureCommand(context: CliContext): Command {
  return new Command("capture")
    .description("turn storing without being asked on and off, and see what was stored")
    .addHelpText("after", EXAMPLES)
    .addCommand(switchPart(context, false))
    .addCommand(switchPart(context, true))
    .addCommand(statusPart(context))
    .addCommand(retryPart(context))
    .addCommand(sweepPart(context));
}

function switchPart({ output }: CliContext, isOn: boolean): Command {
  return new Command(isOn ? "on" : "off")
    .description(isOn ? "store and recall again" : "store and recall nothing")
    .option("--here", "in this folder and those in it alone")
    .addOption(new Option("--client <name>", "of one assistant alone").choices(HOOK_CLIENTS))
    .option("--session <id>", "of one conversation alone")
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action(({ here, client, session, format }: SwitchOptions) => {
      const { off, ...lists } = readSwitches();
      const changed = {
        folders: switched(lists.folders, here && workingFolder(), isOn),
        clients: switched(lists.clients, client, isOn),
        sessions: switched(lists.sessions, session, isOn),
      };
      const isPart = here === true || client !== undefined || session !== undefined;
      writeSwitches({ off: isPart ? off : !isOn, ...changed });
      const switches = readSwitches();
      if (format === "json") output.json(switches);
      else for (const line of switchLines()) output.line(line);
    });
}

function switched(
  list: readonly string[],
  given: string | undefined,
  isOn: boolean,
): readonly string[] {
  if (given === undefined) return list;
  const others = list.filter((one) => one !== given);
  return isOn ? others : [...others, given];
}

function switchLines(): readonly string[] {
  const { off, folders, clients, sessions } = readSwitches();
  const here = switchedOff({ client: "", session: "", folder: workingFolder() });
  return [
    off ? "Capture is off." : "Capture is on, for the assistants that have its hooks.",
    ...(folders.length > 0 ? [`Not in: ${folders.join(", ")}`] : []),
    ...(clients.length > 0 ? [`Not from: ${clients.join(", ")}`] : []),
    ...(sessions.length > 0 ? [`Not of the conversations: ${sessions.join(", ")}`] : []),
    ...(!off && here !== undefined ? [`This folder is not captured (${here}).`] : []),
  ];
}

const LISTED = 20;
/** Messages that are looked through for them. */
const SCANNED = 400;

const statusPart = packCommand(
  {
    name: "status",
    description: "show what was stored of late, and what waits",
    examples: EXAMPLES,
  },
  async (context, path: string, { encryptionKey, format }: PackOptions) => {
    const { output } = context;
    const config = await configFor(context, path, encryptionKey);
    await withEngine(context, config, async (engine) => {
      const stored = await storedByHooks(engine);
      const spooled = waiting(mainFileOf(config));
      const dead = waiting(mainFileOf(config), "dead");
      const last = lastRuns(readRuns());
      if (format === "json") {
        output.json({
          switches: readSwitches(),
          stored: stored.map(({ id, content, timestamp, metadata }) => ({
            id,
            content,
            created_at: timestamp,
            source: metadata?.["source"] ?? null,
          })),
          waiting: spooled.turns.length,
          refused: dead.turns.map(({ turn, why }) => ({ id: turn.id, why })),
          unreadable: spooled.unreadable + dead.unreadable,
          last_runs: last,
        });
        return;
      }
      for (const line of switchLines()) output.line(line);
      const short = shortIds(stored.map(({ id }) => id));
      const rows = stored.map(({ id, timestamp, metadata, content }) => [
        short(id),
        timestamp.slice(0, 16).replace("T", " "),
        String(metadata?.["source"] ?? "").replace("capture:", ""),
        shortened(content, 60),
      ]);
      if (rows.length > 0) {
        for (const line of table(["ID", "STORED (UTC)", "FROM", "TEXT"], rows)) output.line(line);
        output.line("To erase one for good: svc forget ID");
      } else output.line("No assistant has stored anything yet.");
      for (const { client, event, at, did, ms } of last) {
        output.line(
          `${client} ${event}: last at ${at.slice(0, 19)}Z, ${did}, ${Math.round(ms)} ms`,
        );
      }
      if (spooled.turns.length > 0) output.line(`Waiting: ${spooled.turns.length}`);
      if (dead.turns.length > 0) {
        output.line(
          `Refused by the pack: ${dead.turns.length}; svc capture retry sends them again`,
        );
      }
    });
  },
);

async function storedByHooks(engine: MemoryEngine) {
  const userId = await engine.packOwner();
  if (userId === undefined) return [];
  const { events } = await engine.listEvents({ userId, limit: SCANNED });
  return events
    .filter(({ metadata }) => String(metadata?.["source"] ?? "").startsWith("capture:"))
    .slice(0, LISTED);
}

function lastRuns(runs: readonly Run[]): readonly Run[] {
  const last = new Map(runs.map((run) => [`${run.client} ${run.event}`, run]));
  return [...last.values()].filter(({ event }) => event !== "");
}

const retryPart = packCommand(
  {
    name: "retry",
    description: "send again what the pack refused",
    options: [new Option("--drop", "throw it away instead")],
    examples: EXAMPLES,
  },
  async (context, path: string, options: PackOptions & { readonly drop?: true }) => {
    const { encryptionKey, format, drop = false } = options;
    const config = await configFor(context, path, encryptionKey);
    const mainFile = mainFileOf(config);
    const { turns } = waiting(mainFile, "dead");
    for (const one of turns) {
      if (!drop) spool(mainFile, one.turn);
      dropWaiting(one);
    }
    // Opening the pack takes in what waits.
    await withEngine(context, config, async () => undefined);
    const refused = waiting(mainFile, "dead").turns.length;
    const left = waiting(mainFile).turns.length;
    const stored = drop ? 0 : turns.length - refused - left;
    if (format === "json")
      context.output.json({ tried: turns.length, stored, refused, waiting: left });
    else if (drop) context.output.line(`Thrown away: ${counted(turns.length, "text", "texts")}`);
    else context.output.line(`Stored: ${stored} of ${turns.length}`);
    if (refused > 0) context.fail();
  },
);

type SweepCommand = PackOptions & {
  readonly since?: string;
  readonly client?: string;
  readonly userId?: string;
};

const sweepPart = packCommand(
  {
    name: "sweep",
    description: "store what transcripts on this machine say and no hook delivered",
    options: [
      new Option("--since <time>", 'only what was said from then on: a date, "yesterday", 7d'),
      new Option("--client <name>", "of this assistant, also where it has no hooks of svc").choices(
        SWEPT_CLIENTS,
      ),
      ownerOption(),
    ],
    examples: EXAMPLES,
  },
  async (context, path: string, { encryptionKey, format, since, client, userId }: SweepCommand) => {
    const { HOOKED, hasPlugin, hooksOf } = await import("../../../assistants/hooks.ts");
    const { surroundings } = await import("../../../assistants/catalogue.ts");
    const { sweep } = await import("../../../capture/sweep.ts");
    const here = surroundings();
    const clients =
      client === undefined
        ? HOOKED.filter((one) => hooksOf(one, here).length > 0 || hasPlugin(one, here))
        : [client];
    const config = await configFor(context, path, encryptionKey);
    await withEngine(context, config, async (engine) => {
      const swept = await sweep(engine, {
        home: here.home,
        user: userId ?? config.mcp.user_id,
        clients,
        since: await momentOf(since, "--since"),
      });
      if (format === "json")
        return context.output.json({ clients, ...swept, left_out: swept.leftOut });
      if (clients.length === 0) {
        return context.output.line("No assistant has hooks of svc; name one with --client.");
      }
      const { files, stored, known, leftOut } = swept;
      context.output.line(`Read ${counted(files, "file", "files")} of ${clients.join(", ")}.`);
      context.output.line(
        `Stored or there already: ${stored}, known from elsewhere: ${known}, left out: ${leftOut}`,
      );
    });
  },
);
