import { Command } from "commander";
import type { PlaceWord } from "../../../app/pack-path.ts";
import { isDatabaseUrl } from "../../../domain/addresses.ts";
import { invalid } from "../../../domain/errors.ts";
import type { OwnerSummary } from "../../../domain/owner.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { shownOwner } from "../../contract/core/tool-text.ts";
import type { CliContext } from "../context.ts";
import { ACTOR, withEngine } from "../memories.ts";
import {
  configFor,
  encryptionKeyOption,
  formatOption,
  PACK,
  type PackOptions,
  packWord,
} from "../options.ts";
import { table } from "../output.ts";
import { confirm, isTerminal } from "../terminal.ts";

const EXAMPLES = `
Examples:
  svc owner list ./memory.pack                   who has memories, and whose the pack is
  svc owner use ./memory.pack anna               whom the command line and assistants mean
  svc owner rename ./memory.pack _cli anna       another name for everything of one owner
  svc owner join ./memory.pack _cli anna         everything of _cli becomes anna's

rename and join show what they are about to do and ask; --dry-run only shows it, --yes does not ask. Nothing is lost: what was
said stays as it was said, and the audit log keeps who had it before. A join cannot be taken back.`;

type OwnerOptions = PackOptions & {
  readonly dryRun?: true;
  readonly yes?: true;
};

/** `svc owner`: who has memories in a pack, and who owns it. */
export function ownerCommand(context: CliContext): Command {
  const command = new Command("owner").description("list, choose, rename and join owners");
  const part = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .argument(...PACK)
      .addOption(encryptionKeyOption())
      .addOption(formatOption())
      .addHelpText("after", EXAMPLES);
  part("list", "show who has memories, and who owns the pack").action(
    (path: string, options: OwnerOptions) =>
      withPack(context, path, options, (engine) => list(context, engine, path, options)),
  );
  part("use", "set the owner of the pack")
    .argument("<name>", "the owner that the command line and assistants use if none is named")
    .action((path: string, name: string, options: OwnerOptions) =>
      withPack(context, path, options, (engine) => use(context, engine, { path, name }, options)),
    );
  for (const [name, from, into] of [
    ["rename", "old", "new"],
    ["join", "from", "into"],
  ] as const) {
    part(name, name === "join" ? "give everything of one owner to another" : "rename an owner")
      .argument(`<${from}>`, "the owner who has them now")
      .argument(`<${into}>`, name === "join" ? "the owner who gets them" : "the new name")
      .option("--dry-run", "show what would be done, and stop")
      .option("--yes", "do not ask")
      .action((path: string, old: string, target: string, options: OwnerOptions) => {
        const wish = { from: old, into: target, isJoin: name === "join" };
        return withPack(context, path, options, (engine) => move(context, engine, wish, options));
      });
  }
  return command.addHelpText("after", EXAMPLES);
}

async function withPack(
  context: CliContext,
  path: string,
  { encryptionKey }: OwnerOptions,
  work: (engine: MemoryEngine) => Promise<void>,
): Promise<void> {
  const config = await configFor(context, path, encryptionKey);
  await withEngine(context, config, work);
}

async function list(
  { output }: CliContext,
  engine: MemoryEngine,
  path: string,
  { format }: OwnerOptions,
): Promise<void> {
  const [owners, own] = [await engine.listOwners(), await engine.packOwner()];
  if (format === "json") {
    output.json({ owner: own ?? null, owners: owners.map(toJson) });
    return;
  }
  const rows = owners.map((owner) => [
    shownOwner(owner.userId),
    String(owner.memories),
    String(owner.events),
    owner.lastUsed?.slice(0, 16).replace("T", " ") ?? "",
    owner.userId === own ? `the ${wordOf(path)}'s` : "",
  ]);
  for (const line of table(["OWNER", "MEMORIES", "EVENTS", "LAST USED (UTC)", ""], rows)) {
    output.line(line);
  }
  if (own === undefined) {
    output.line(`The ${wordOf(path)} names none of them: svc owner use ${packWord(path)} NAME`);
  } else if (!owners.some(({ userId }) => userId === own)) {
    output.line(`The ${wordOf(path)} belongs to ${shownOwner(own)}, who has nothing in it yet.`);
  }
}

/** @param path as it was typed */
function wordOf(path: string): PlaceWord {
  return isDatabaseUrl(path) ? "database" : "pack";
}

function toJson({ userId, memories, events, lastUsed }: OwnerSummary): Record<string, unknown> {
  return { user_id: userId, memories, events, last_used: lastUsed ?? null };
}

async function use(
  { output }: CliContext,
  engine: MemoryEngine,
  { path, name }: { readonly path: string; readonly name: string },
  { format }: OwnerOptions,
): Promise<void> {
  const before = await engine.packOwner();
  await engine.usePackOwner(name, ACTOR);
  if (format === "json") output.json({ owner: name, before: before ?? null });
  else output.line(`The ${wordOf(path)} now belongs to ${shownOwner(name)}.`);
}

type Wish = { readonly from: string; readonly into: string; readonly isJoin: boolean };

async function move(
  { output }: CliContext,
  engine: MemoryEngine,
  wish: Wish,
  { format, dryRun, yes }: OwnerOptions,
): Promise<void> {
  const given = { ...wish, actorId: ACTOR };
  const into = shownOwner(wish.into);
  const found = await engine.moveOwner({ ...given, isPreview: true });
  const isDone = dryRun !== true && (yes === true || (await isAgreed(whatOf(found), into)));
  const moved = isDone ? await engine.moveOwner(given) : found;
  if (format === "json") {
    const { from, isJoin } = wish;
    output.json({ from, into: wish.into, is_join: isJoin, is_done: isDone, moved: toJson(moved) });
  } else if (isDone) output.line(`${whatOf(moved)} now belong to ${into}.`);
  else output.line(`Would give ${whatOf(moved)} to ${into}. Nothing was changed.`);
}

function whatOf({ userId, memories, events }: OwnerSummary): string {
  return `${counted(memories, "memory", "memories")} and ${counted(events, "event", "events")} of ${shownOwner(userId)}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** @throws SvcError invalid_argument if there is no terminal to ask on */
async function isAgreed(what: string, into: string): Promise<boolean> {
  if (isTerminal()) return await confirm(`Give ${what} to ${into}?`, false);
  throw invalid(
    "--yes",
    `is needed where there is no terminal to ask on: it gives ${what} to ${into}`,
  );
}
