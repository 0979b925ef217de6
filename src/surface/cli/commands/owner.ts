import { Command, Option } from "commander";
import type { PlaceWord } from "../../../app/pack-path.ts";
import { isDatabaseUrl } from "../../../domain/addresses.ts";
import { invalid } from "../../../domain/errors.ts";
import type { OwnerSummary } from "../../../domain/owner.ts";
import { counted, shownOwner } from "../../contract/core/tool-text.ts";
import type { CliContext } from "../context.ts";
import { ACTOR, withEngine } from "../memories.ts";
import { configFor, PACK, type PackOptions, packCommand, packWord } from "../options.ts";
import { table } from "../output.ts";
import { confirm, isTerminal } from "../terminal.ts";

const EXAMPLES = `
Examples:
  svc owner list                   who has memories, and whose the pack is
  svc owner use anna               whom the command line and assistants mean
  svc owner rename _cli anna       another name for everything of one owner
  svc owner join _cli anna         everything of _cli becomes anna's

rename and join show what they are about to do and ask; --dry-run only shows it, --yes does not ask. Nothing is lost: what was
said stays as it was said, and the audit log keeps who had it before. A join cannot be taken back.`;

type OwnerOptions = PackOptions & { readonly dryRun?: true; readonly yes?: true };

export function ownerCommand(context: CliContext): Command {
  const command = new Command("owner").description("list, choose, rename and join owners");
  for (const build of [listPart, usePart, movePart(false), movePart(true)]) {
    command.addCommand(build(context));
  }
  return command.addHelpText("after", EXAMPLES);
}

const listPart = packCommand(
  { name: "list", description: "show who has memories, and who owns the pack", examples: EXAMPLES },
  async (context, path: string, { encryptionKey, format }: PackOptions) => {
    const { output } = context;
    const config = await configFor(context, path, encryptionKey);
    await withEngine(context, config, async (engine) => {
      const [owners, own] = [await engine.listOwners(), await engine.packOwner()];
      if (format === "json") output.json({ owner: own ?? null, owners: owners.map(toJson) });
      else for (const line of ownerLines(owners, own, path)) output.line(line);
    });
  },
);

function ownerLines(
  owners: readonly OwnerSummary[],
  own: string | undefined,
  path: string,
): readonly string[] {
  const rows = owners.map(({ userId, memories, events, lastUsed }) => [
    shownOwner(userId),
    String(memories),
    String(events),
    lastUsed?.slice(0, 16).replace("T", " ") ?? "",
    userId === own ? `the ${wordOf(path)}'s` : "",
  ]);
  const lines = table(["OWNER", "MEMORIES", "EVENTS", "LAST USED (UTC)", ""], rows);
  if (own === undefined) {
    return [
      ...lines,
      `The ${wordOf(path)} names none of them: svc owner use ${packWord(path)} NAME`,
    ];
  }
  if (owners.some(({ userId }) => userId === own)) return lines;
  return [
    ...lines,
    `The ${wordOf(path)} belongs to ${shownOwner(own)}, who has nothing in it yet.`,
  ];
}

/** @param path as it was typed */
function wordOf(path: string): PlaceWord {
  return isDatabaseUrl(path) ? "database" : "pack";
}

function toJson({ userId, memories, events, lastUsed }: OwnerSummary): Record<string, unknown> {
  return { user_id: userId, memories, events, last_used: lastUsed ?? null };
}

const usePart = packCommand(
  {
    name: "use",
    description: "set the owner of the pack",
    arguments: [
      PACK,
      ["<name>", "the owner that the command line and assistants use if none is named"],
    ],
    examples: EXAMPLES,
  },
  async (context, path: string, name: string, { encryptionKey, format }: PackOptions) => {
    const config = await configFor(context, path, encryptionKey);
    await withEngine(context, config, async (engine) => {
      const before = await engine.packOwner();
      await engine.usePackOwner(name, ACTOR);
      if (format === "json") context.output.json({ owner: name, before: before ?? null });
      else context.output.line(`The ${wordOf(path)} now belongs to ${shownOwner(name)}.`);
    });
  },
);

/** `rename`, or `join`, which merges two owners. */
function movePart(isJoin: boolean): ReturnType<typeof packCommand> {
  return packCommand(
    {
      name: isJoin ? "join" : "rename",
      description: isJoin ? "give everything of one owner to another" : "rename an owner",
      arguments: [
        PACK,
        [isJoin ? "<from>" : "<old>", "the owner who has them now"],
        [isJoin ? "<into>" : "<new>", isJoin ? "the owner who gets them" : "the new name"],
      ],
      options: [
        new Option("--dry-run", "show what would be done, and stop"),
        new Option("--yes", "do not ask"),
      ],
      examples: EXAMPLES,
    },
    async (context, path: string, from: string, into: string, options: OwnerOptions) => {
      const { encryptionKey, format, dryRun, yes } = options;
      const config = await configFor(context, path, encryptionKey);
      await withEngine(context, config, async (engine) => {
        const { output } = context;
        const given = { from, into, isJoin, actorId: ACTOR };
        const whom = shownOwner(into);
        const found = await engine.moveOwner({ ...given, isPreview: true });
        const isDone = dryRun !== true && (yes === true || (await isAgreed(whatOf(found), whom)));
        const moved = isDone ? await engine.moveOwner(given) : found;
        if (format === "json") {
          output.json({ from, into, is_join: isJoin, is_done: isDone, moved: toJson(moved) });
        } else if (isDone) output.line(`${whatOf(moved)} now belong to ${whom}.`);
        else output.line(`Would give ${whatOf(moved)} to ${whom}. Nothing was changed.`);
      });
    },
  );
}

function whatOf({ userId, memories, events }: OwnerSummary): string {
  return `${counted(memories, "memory", "memories")} and ${counted(events, "event", "events")} of ${shownOwner(userId)}`;
}

/** @throws SvcError invalid_argument if there is no terminal to ask on */
async function isAgreed(what: string, into: string): Promise<boolean> {
  if (isTerminal()) return await confirm(`Give ${what} to ${into}?`, false);
  throw invalid(
    "--yes",
    `is needed where there is no terminal to ask on: it gives ${what} to ${into}`,
  );
}
