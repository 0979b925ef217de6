/** Shared by commands about memories: an operation's members as options, one call, one answer. */
import { isUtf8 } from "node:buffer";
import { Option } from "commander";
import { z } from "zod";
import type { OpenOptions } from "../../app/open-engine.ts";
import { VERSION } from "../../app/version.ts";
import type { Config } from "../../config/schema.ts";
import { LIFECYCLE_STATES } from "../../domain/enums.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { isPinned, type MemoryNode } from "../../domain/node.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { fromDate } from "../../lib/instant.ts";
import { parseJson } from "../../lib/json.ts";
import { parseUuid, type Uuid } from "../../lib/uuid.ts";
import type { Asked, LineBinding } from "../contract/core/operation.ts";
import { age, shownOwners, tellNothingUnder, tellSeveral } from "../contract/core/tool-text.ts";
import type { CliContext } from "./context.ts";
import { momentOf } from "./moments.ts";
import {
  choiceOption,
  configFor,
  ownerOption,
  PACK,
  type PackOptions,
  packCommand,
  packWord,
  warnOn,
  wholeNumber,
} from "./options.ts";
import { type Output, oneLine, printAnswer, shortIds, table } from "./output.ts";

/** The actor of changes made on the command line. */
export const ACTOR = "cli-operator";
export const ID_ARGUMENT = "its id, or an end or start of it that no other memory has";

/** Minimum digits of an id for a lookup. */
const LEAST_DIGITS = 4;
const ID_DIGITS = 32;
/** Memories listed if an id is ambiguous. */
const NAMED = 5;

/** The options of these commands. */
export type MemoryOptions = PackOptions & { readonly userId?: string };

/** An operation as seen by commands. */
type Askable<Output> = { readonly line: LineBinding<Output> };

/** The context of a command about memories. */
export type Desk<Options> = {
  readonly context: CliContext;
  readonly output: Output;
  readonly engine: MemoryEngine;
  /** The pack, as it could be typed. */
  readonly pack: string;
  /** The named owner, else that of the pack; undefined: all owners. */
  readonly owner: string | undefined;
  readonly options: Options & MemoryOptions;
  /** The options, as members of the operation. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Determines the owner. @throws SvcError */
  ask<Answer>(
    operation: Askable<Answer>,
    given: Readonly<Record<string, unknown>>,
  ): Promise<Asked<Answer>>;
  /** The memory with an id or part of one, in any state. @throws as `findMemory` */
  find(given: string): Promise<MemoryNode>;
  /** Prints the JSON, or lines; by default those of the answer. */
  tell(json: object, lines?: () => readonly string[]): void;
};

type MemoryDeclaration = {
  readonly name: string;
  readonly description: string;
  /** The arguments after the pack. */
  readonly words?: readonly (readonly [name: string, description: string])[];
  /** Options that are members of the operation, by flag; with a description if the member has no suitable one. */
  readonly members?: Readonly<
    Record<string, string | readonly [member: string, description: string]>
  >;
  readonly of?: Askable<unknown>;
  readonly options?: readonly Option[];
  /** The default owner. Default: the pack's. */
  readonly isOfAll?: true;
  /** Whether it creates memories, which records an owner in an unused pack. */
  readonly isStoring?: true;
  /** The progress message on a terminal. */
  readonly doing?: string;
  readonly examples: string;
};

/** A command about memories. @param run gets the words after the pack, a list for `...` */
export function memoryCommand<Options, Words extends readonly unknown[]>(
  declared: MemoryDeclaration,
  run: (desk: Desk<Options>, ...words: Words) => Promise<void>,
): ReturnType<typeof packCommand> {
  const { name, description, words = [], examples, isOfAll, isStoring = false, doing } = declared;
  const members = offered(declared);
  const whose = isOfAll
    ? new Option("--user-id <owner>", "only of this owner (default: all owners)")
    : ownerOption();
  const options = [whose, ...members.map(({ option }) => option), ...(declared.options ?? [])];
  const { line } = declared.of ?? {};
  return packCommand(
    { name, description, arguments: [PACK, ...words], options, examples },
    async (context, path: string, ...typed: readonly unknown[]) => {
      // SAFETY: the words as declared, then the options.
      const chosen = typed.at(-1) as Options & MemoryOptions;
      const spoken = typed.slice(0, -1) as unknown as Words;
      const { output } = context;
      const read = await readMembers(members, chosen);
      const config = patient(await configFor(context, path, chosen.encryptionKey));
      await withEngine(context, config, async (engine) => {
        const stop = doing === undefined ? () => {} : await output.progress(doing);
        try {
          const given = chosen.userId === "" ? undefined : chosen.userId;
          const owner =
            isOfAll === true ? given : await ownerFor(context, engine, { given, path, isStoring });
          const find = (id: string) => findAnyMemory(engine, owner, id);
          const desk: Desk<Options> = {
            ...{ context, output, engine, owner, find },
            pack: packWord(path),
            options: chosen,
            given: line === undefined ? {} : await withIds(read, find),
            ask: ({ line: { members: known, ask } }, asked) => {
              const own = owner !== undefined && "user_id" in known ? { user_id: owner } : {};
              return ask(withoutAbsent({ ...own, ...asked }), callOf(engine, name, owner));
            },
            tell: (json, lines) => {
              stop();
              if (chosen.format === "json" || lines === undefined) {
                return printAnswer(output, chosen.format, json);
              }
              for (const text of lines()) output.line(text);
            },
          };
          await run(desk, ...spoken);
        } finally {
          stop();
        }
      });
    },
  );
}

/** Milliseconds for texts that wait to be found: no later question of this process would find them. */
const PENDING_MS = 2_000;

function patient(config: Config): Config {
  const { materialization_budget_ms: given } = config;
  return { ...config, materialization_budget_ms: Math.max(given, PENDING_MS) };
}

function callOf(engine: MemoryEngine, name: string, userId: string | undefined) {
  return {
    engine: () => engine,
    caller: { boundUserId: undefined, defaultUserId: userId },
    userId,
    operator: ACTOR,
    version: VERSION,
    client: `svc ${name}`,
    signal: undefined,
  };
}

function withoutAbsent(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** How an option's text becomes a member. */
type Kind = "time" | "json" | "id" | "ids" | "plain";
type Offered = { readonly option: Option; readonly member: string; readonly kind: Kind };

/** The options that are members of an operation. */
function offered({ of, members = {} }: MemoryDeclaration): readonly Offered[] {
  return Object.entries(members).map(([flag, told]) => {
    const [member, own] = typeof told === "string" ? [told] : told;
    const schema = of?.line.members[member];
    if (schema === undefined) throw new Error(`${member} is no member of the operation`);
    return { member, ...optionOf(flag, schema, own) };
  });
}

type Shape = {
  readonly type?: unknown;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly default?: unknown;
};

/** An option for a value of this schema. @param own its description, if the schema's does not fit */
function optionOf(flag: string, schema: z.ZodType, own: string | undefined) {
  // SAFETY: a JSON schema that has members of these names has them in this form.
  const whole = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape;
  const shape = { ...whole, ...whole.anyOf?.find(({ type }) => type !== "null") };
  const preset = whole.default === undefined ? "" : ` (default: ${String(whole.default)})`;
  const sentence = (whole.description ?? shape.description ?? "").replace(/\.$/, "");
  const about = own ?? `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}${preset}`;
  const words = shape.enum ?? shape.items?.enum;
  if (words !== undefined) {
    return { option: choiceOption(`--${flag} <${flag}>`, about, words), kind: "plain" } as const;
  }
  if (shape.type === "integer" || shape.type === "number") {
    const range = [shape.minimum ?? 0, Math.min(shape.maximum ?? 1e9, 1e9)] as const;
    const read = wholeNumber(...range);
    const option = new Option(`--${flag} <count>`, about).argParser(read);
    return { option, kind: "plain" } as const;
  }
  const [name, kind] = readingOf(shape);
  return { option: new Option(`--${flag}${name === "" ? "" : ` <${name}>`}`, about), kind };
}

/** The name of a value, none for a flag, and its parser. */
function readingOf({ type, items, format }: Shape): readonly [string, Kind] {
  if (type === "boolean") return ["", "plain"];
  if (items !== undefined) return ["id...", "ids"];
  if (format === "date-time") return ["time", "time"];
  if (format === "uuid") return ["id", "id"];
  return Array.isArray(type) && type.includes("object") ? ["json", "json"] : ["text", "plain"];
}

type ReadMember = { readonly member: string; readonly kind: Kind; readonly value: unknown };

/** Arguments that can be parsed before the pack is open. @throws SvcError invalid_argument */
async function readMembers(
  members: readonly Offered[],
  options: object,
): Promise<readonly ReadMember[]> {
  const read: ReadMember[] = [];
  for (const { option, member, kind } of members) {
    const value: unknown = Reflect.get(options, option.attributeName());
    if (value === undefined) continue;
    const flag = option.long ?? "";
    if (kind === "time") read.push({ member, kind, value: await momentOf(String(value), flag) });
    else if (kind === "json") read.push({ member, kind, value: objectOf(String(value), member) });
    else read.push({ member, kind, value });
  }
  return read;
}

async function withIds(
  read: readonly ReadMember[],
  find: (id: string) => Promise<MemoryNode>,
): Promise<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  for (const { member, kind, value } of read) {
    const idOf = async (id: unknown) => parseUuid(String(id)) ?? (await find(String(id))).id;
    if (kind === "id") given[member] = await idOf(value);
    else if (kind === "ids" && Array.isArray(value)) {
      const ids: string[] = [];
      for (const id of value) ids.push(await idOf(id));
      given[member] = ids;
    } else given[member] = value;
  }
  return given;
}

/** @throws SvcError invalid_argument */
function objectOf(text: string, name: string): object {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    // Told below.
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalid(name, `${JSON.stringify(text)} is not a JSON object, such as '{"source":"diary"}'`);
}

/** The beginning of a memory's text on one line, after facts about it. */
export function textAfter(facts: readonly string[], { content }: MemoryNode): string {
  const text = oneLine(content.slice(0, 500));
  return facts.length === 0 ? text : `(${facts.join(", ")}) ${text}`;
}

/** The day on which what a memory says happened, if it has one; local time. */
export function dayOf({ eventTime }: MemoryNode): readonly string[] {
  // The Swedish form of a date is that of ISO 8601.
  return eventTime === undefined ? [] : [new Date(eventTime).toLocaleDateString("sv-SE")];
}

/** Memories for a person, texts first. @param isOfAll also shows their owners */
export function memoryTable(nodes: readonly MemoryNode[], isOfAll = false): readonly string[] {
  const now = fromDate(new Date());
  const name = shortIds(nodes.map(({ id }) => id));
  const isPlain = nodes.every(
    ({ lifecycleState: state }) => state === "tentative" || state === "stable",
  );
  const rows = nodes.map((node) => [
    textAfter([...(isPinned(node) ? ["pinned"] : []), ...dayOf(node)], node),
    node.nodeType,
    ...(isPlain ? [] : [node.lifecycleState]),
    ...(isOfAll ? [oneLine(node.userId)] : []),
    age(node.createdAt, now),
    name(node.id),
  ]);
  const state = isPlain ? [] : ["STATE"];
  const owner = isOfAll ? ["OWNER"] : [];
  return table(["MEMORY", "TYPE", ...state, ...owner, "STORED", "ID"], rows, true);
}

/**
 * The memory whose id is, starts or ends with a text, among all of an owner's, in any state.
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
  const digits = digitsOf(given);
  const beginning = await idsThatBegin(engine, userId, digits);
  // Lists show ends: an ambiguous beginning may still be a unique end.
  const ending = beginning.length === 1 ? [] : await idsThatEnd(engine, userId, digits);
  const found = ending.length === 1 || beginning.length === 0 ? ending : beginning;
  const [only] = found;
  if (only === undefined) throw missing(given, userId);
  if (found.length > 1) throw ambiguous(given, found);
  return only;
}

/** @throws SvcError invalid_argument for anything but a part of an id */
function digitsOf(given: string): string {
  const digits = given.replace(/^…/, "").replaceAll("-", "").toLowerCase();
  if (/^[0-9a-f]{4,31}$/.test(digits)) return digits;
  throw invalid(
    "id",
    `${JSON.stringify(given)} is neither the id of a memory nor a part of one with ${LEAST_DIGITS} or more hexadecimal digits`,
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

/** At most one more than are listed. Ids are read in order, so no other memory is read. */
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

/** The id right before all those that begin with these digits; undefined: none. */
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
    const bare = node.id.replaceAll("-", "");
    // The first of the digits that lists show identify it too.
    if (bare.endsWith(digits) || bare.slice(-6).startsWith(digits)) found.push(node);
    if (found.length > NAMED) break;
  }
  return found;
}

/** The text of arguments; `-` alone: standard input, to its end. @throws SvcError invalid_argument if that is not UTF-8 */
export async function textOf(words: readonly string[]): Promise<string> {
  const isPiped = words.length === 1 && words[0] === "-";
  if (!isPiped) return words.join(" ");
  const bytes = await Bun.stdin.bytes();
  if (!isUtf8(bytes)) throw invalid("standard input", "is not valid UTF-8");
  return new TextDecoder().decode(bytes).trimEnd();
}

/** Opens a pack, runs `work` with its engine, and always closes it. A missing pack is an error by default. */
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

/** The default owner in a pack of several owners without a recorded one: the owner of memories stored by this command line. */
const FORMER_OWNER = "_cli";

type OwnerQuestion = {
  /** The value of `--user-id`. */
  readonly given: string | undefined;
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

/** If the owner has no memories, lists owners that do. */
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

export async function ownerInWords(engine: MemoryEngine): Promise<string> {
  const owner = await engine.packOwner();
  if (owner !== undefined) return `Its owner is ${owner}.`;
  return `It has memories of several owners: ${shownOwners(await engine.ownersWithMemories())}.`;
}
