/** What the commands that read or change single memories of one owner have in common. */
import { isUtf8 } from "node:buffer";
import type { OpenOptions } from "../../app/open-engine.ts";
import type { Config } from "../../config/schema.ts";
import { LIFECYCLE_STATES } from "../../domain/enums.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { parseUuid, type Uuid } from "../../lib/uuid.ts";
import { shownOwners, tellNothingUnder, tellSeveral } from "../contract/core/tool-text.ts";
import type { CliContext } from "./context.ts";
import { configFor, type PackOptions, packWord, warnOn } from "./options.ts";
import { shortened, table } from "./output.ts";

/** The actor of changes made on the command line. */
export const ACTOR = "cli-operator";
export const ID_ARGUMENT = "its id, or a start or end of it that no other memory has";

/** Characters of a memory in a table. */
export const SHOWN_CHARS = 80;
/** Minimum digits of an id for a lookup. */
const LEAST_DIGITS = 4;
const ID_DIGITS = 32;
/** Memories that are listed if an id is ambiguous. */
const NAMED = 5;

/** The options of every such command. */
export type MemoryOptions = PackOptions & { readonly userId?: string };

/** Runs `work` with the engine of a pack. */
export async function withPack(
  context: CliContext,
  path: string,
  options: PackOptions,
  work: (engine: MemoryEngine) => Promise<void>,
): Promise<void> {
  await withEngine(context, await configFor(context, path, options.encryptionKey), work);
}

/** Runs `work` with the engine of a pack and the requested owner. */
export async function withMemories(
  context: CliContext,
  path: string,
  options: MemoryOptions,
  work: (engine: MemoryEngine, owner: string) => Promise<void>,
): Promise<void> {
  await withPack(context, path, options, async (engine) => {
    const question = { given: options.userId, path, isStoring: false };
    await work(engine, await ownerFor(context, engine, question));
  });
}

/**
 * The memory that an id, or the start or end of one, identifies among all of an owner's, in any state.
 * @throws SvcError not_found; invalid_argument for anything but a part of an id, and for an ambiguous one
 */
export async function findMemory(
  engine: MemoryEngine,
  userId: string,
  given: string,
): Promise<MemoryNode> {
  const complete = parseUuid(given);
  if (complete !== undefined) {
    const node = await engine.getNode(complete, { userId, includeSuperseded: true });
    if (node !== undefined) return node;
    throw missing(given, userId);
  }
  const digits = digitsOf(given, "a memory");
  const beginning = await idsThatBegin(engine, userId, digits);
  const found = beginning.length > 0 ? beginning : await idsThatEnd(engine, userId, digits);
  const [only] = found;
  if (only === undefined) throw missing(given, userId);
  if (found.length > 1) throw ambiguous(given, found);
  return only;
}

/**
 * The id of an event: complete, or a start or end of it if a memory was made of the event already.
 * @throws as `findMemory`
 */
export async function findEventId(
  engine: MemoryEngine,
  userId: string,
  given: string,
): Promise<string> {
  return parseUuid(given) ?? (await findMemory(engine, userId, given)).id;
}

/**
 * The id among some that one, or the start or end of one, stands for; undefined if there is none.
 * @param what whose ids they are
 * @throws SvcError invalid_argument for anything but a part of an id, and for an ambiguous one
 */
export function findAmong(ids: readonly Uuid[], given: string, what: string): Uuid | undefined {
  const complete = parseUuid(given);
  if (complete !== undefined) return complete;
  const digits = digitsOf(given, what);
  const having = (isMeant: (id: string) => boolean) =>
    ids.filter((id) => isMeant(id.replaceAll("-", "")));
  const beginning = having((id) => id.startsWith(digits));
  const found = beginning.length > 0 ? beginning : having((id) => id.endsWith(digits));
  if (found.length > 1)
    throw ambiguous(
      given,
      found.map((id) => ({ id })),
    );
  return found[0];
}

/** @throws SvcError invalid_argument for anything but a part of an id */
function digitsOf(given: string, what: string): string {
  const digits = given.replace(/^…/, "").replaceAll("-", "").toLowerCase();
  if (/^[0-9a-f]{4,31}$/.test(digits)) return digits;
  throw invalid(
    "id",
    `${JSON.stringify(given)} is neither the id of ${what} nor a part of one with ${LEAST_DIGITS} or more hexadecimal digits`,
  );
}

function ambiguous(given: string, found: readonly { readonly id: string }[]): SvcError {
  const names = found.slice(0, NAMED).map(({ id }) => id);
  const others = found.length > NAMED ? " and others" : "";
  return invalid("id", `${given} stands for ${names.join(", ")}${others}; give more digits`);
}

/**
 * The same among all owners if none is named.
 * @throws SvcError not_found; invalid_argument for anything but a part of an id, and for an ambiguous one
 */
export async function findAnyMemory(
  engine: MemoryEngine,
  userId: string | undefined,
  given: string,
): Promise<MemoryNode> {
  if (userId !== undefined) return findMemory(engine, userId, given);
  const found: MemoryNode[] = [];
  for (const owner of await engine.listOwners()) {
    try {
      found.push(await findMemory(engine, owner.userId, given));
    } catch (error) {
      if (!(error instanceof SvcError && error.code === "not_found")) throw error;
    }
  }
  const [only, other] = found;
  if (only === undefined) throw missing(given, undefined);
  if (other === undefined) return only;
  throw invalid("id", `${given} stands for ${only.id} and ${other.id}; give more digits`);
}

function missing(given: string, userId: string | undefined): SvcError {
  return new SvcError(
    "not_found",
    userId === undefined
      ? `there is no memory ${given} here; svc nodes shows them`
      : `${JSON.stringify(userId)} has no memory ${given} here; svc list shows them`,
    { kind: "node", id: given },
  );
}

/** At most one more than are listed. Ids are read in order, so that no other memory is read. */
async function idsThatBegin(
  engine: MemoryEngine,
  userId: string,
  digits: string,
): Promise<readonly MemoryNode[]> {
  const { nodes } = await engine.scanNodes({
    userId,
    lifecycleStates: LIFECYCLE_STATES,
    afterId: idBefore(digits),
    limit: NAMED + 1,
  });
  return nodes.filter(({ id }) => id.replaceAll("-", "").startsWith(digits));
}

/** The id right before all that begin with these digits; undefined: there is none. */
function idBefore(digits: string): Uuid | undefined {
  const first = BigInt(`0x${digits.padEnd(ID_DIGITS, "0")}`);
  if (first === 0n) return undefined;
  return parseUuid((first - 1n).toString(16).padStart(ID_DIGITS, "0"));
}

async function idsThatEnd(
  engine: MemoryEngine,
  userId: string,
  digits: string,
): Promise<readonly MemoryNode[]> {
  const found: MemoryNode[] = [];
  const all = engine.iterNodes({ userId, lifecycleStates: LIFECYCLE_STATES, batchSize: 1000 });
  for await (const node of all) {
    if (node.id.replaceAll("-", "").endsWith(digits)) found.push(node);
    if (found.length > NAMED) break;
  }
  return found;
}

/** Memories as table rows. */
export function memoryTable(nodes: readonly MemoryNode[]): readonly string[] {
  const rows = nodes.map((node) => [
    node.id,
    node.createdAt.slice(0, 16).replace("T", " "),
    node.nodeType,
    node.lifecycleState,
    shortened(node.content, SHOWN_CHARS),
  ]);
  return table(["ID", "STORED (UTC)", "TYPE", "STATE", "CONTENT"], rows);
}

/**
 * The text of arguments; `-` alone: standard input, to its end.
 * @throws SvcError invalid_argument if that is no UTF-8
 */
export async function textOf(words: readonly string[]): Promise<string> {
  const isPiped = words.length === 1 && words[0] === "-";
  if (!isPiped) return words.join(" ");
  const bytes = await Bun.stdin.bytes();
  if (!isUtf8(bytes)) throw invalid("standard input", "is not valid UTF-8");
  return new TextDecoder().decode(bytes).trimEnd();
}

/** Opens a pack, runs `work` with its engine, and always closes it. A missing pack is refused by default. */
export async function withEngine<T>(
  context: CliContext,
  config: Config,
  work: (engine: MemoryEngine) => Promise<T>,
  opening: Omit<OpenOptions, "warn"> = {},
): Promise<T> {
  const { openEngine } = await import("../../app/open-engine.ts");
  const warn = warnOn(context);
  const engine = await openEngine(config, { createIfMissing: false, warn, ...opening });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** The owner that a command is for. */
/** The default owner in a pack of several owners without a recorded one: the owner of what came from the command line. */
const FORMER_OWNER = "_cli";

type OwnerQuestion = {
  /** The value of `--user-id`. */
  readonly given: string | undefined;
  /** The pack, as typed. */
  readonly path: string;
  /** Whether a memory will be stored, which records an owner in an unused pack. */
  readonly isStoring: boolean;
};

/** The given owner, else the one recorded in the pack, else the only one it has. Explains on stderr if that is ambiguous. */
export async function ownerFor(
  { output }: CliContext,
  engine: MemoryEngine,
  { given, path, isStoring }: OwnerQuestion,
): Promise<string> {
  if (given !== undefined) return given;
  const owner = await (isStoring ? engine.claimPack() : engine.packOwner());
  if (owner !== undefined) return owner;
  const owners = tellSeveral(await engine.ownersWithMemories());
  output.note(
    `${owners}. Taken: ${FORMER_OWNER}. To settle it: svc owner use ${packWord(path)} NAME`,
  );
  return FORMER_OWNER;
}

/** If the owner has no memories, names those that have some. */
export async function noteOtherOwners(
  { output }: CliContext,
  engine: MemoryEngine,
  userId: string,
): Promise<void> {
  const { nodeCount } = await engine.stats(userId);
  if (nodeCount > 0) return;
  const others = await engine.ownersWithMemories();
  if (others.length > 0) output.note(tellNothingUnder(userId, others));
}

/** The owner of a pack, in words. */
export async function ownerInWords(engine: MemoryEngine): Promise<string> {
  const owner = await engine.packOwner();
  if (owner !== undefined) return `Its owner is ${owner}.`;
  return `It has memories of several owners: ${shownOwners(await engine.ownersWithMemories())}.`;
}
