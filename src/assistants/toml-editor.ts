import { isDeepStrictEqual } from "node:util";
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import {
  applyEdits,
  ConfigTextError,
  type Edit,
  type Editor,
  lineEndingOf,
  type Members,
  splitMark,
  withMembers,
} from "./editor.ts";

/** Edits TOML: an entry is the table `[section.name]` with the tables below it. @param section a bare key */
export function tomlEditor(section: string): Editor {
  return {
    read: (text) => new Map(Object.entries(entriesIn(parse(splitMark(text).body), section))),
    hasSection: (text) => Object.hasOwn(parse(splitMark(text).body).value, section),
    set: (text, name, members) => {
      const { mark, body } = splitMark(text);
      const parsed = parse(body);
      const entries = entriesIn(parsed, section);
      const entry = withMembers(entries[name], members);
      const changed = Object.hasOwn(entries, name)
        ? applyEdits(body, replacement(body, parsed, [section, name], members))
        : appended(body, section, name, entry);
      requireValue(changed, parsed, section, { ...entries, [name]: entry });
      return mark + changed;
    },
    remove: (text, name) => {
      const { mark, body } = splitMark(text);
      const parsed = parse(body);
      const { [name]: entry, ...left } = entriesIn(parsed, section);
      if (entry === undefined) return text;
      const edits = tablesBelow(parsed, [section, name]).map((table) => lines(body, table));
      const changed = withoutGap(body, edits);
      requireValue(changed, parsed, section, left);
      return mark + changed;
    },
    create: (name, members) => tableText(section, name, members, "\n"),
  };
}

type Table = AST.TOMLTable;
type Parsed = {
  readonly tables: readonly Table[];
  readonly value: Readonly<Record<string, unknown>>;
};

function parse(body: string): Parsed {
  try {
    const program = parseTOML(body, { tomlVersion: "1.1" });
    const tables = program.body[0].body.filter((node) => node.type === "TOMLTable");
    return { tables, value: Object.fromEntries(Object.entries(getStaticTOMLValue(program))) };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const { lineNumber, column, message } = error;
    throw new ConfigTextError(
      `is not TOML at line ${lineNumber}, column ${column + 1} (${message})`,
    );
  }
}

function entriesIn({ value }: Parsed, section: string): Readonly<Record<string, unknown>> {
  const entries = value[section];
  if (entries === undefined) return {};
  if (typeof entries === "object" && entries !== null && !Array.isArray(entries)) {
    return { ...entries };
  }
  throw new ConfigTextError(`has a ${section} that is no table`);
}

function tablesBelow({ tables }: Parsed, path: readonly string[]): readonly Table[] {
  return tables.filter(({ resolvedKey }) => path.every((key, index) => resolvedKey[index] === key));
}

/** @throws ConfigTextError if a change did not have exactly the intended effect */
function requireValue(
  body: string,
  before: Parsed,
  section: string,
  entries: Readonly<Record<string, unknown>>,
): void {
  const { [section]: _entries, ...others } = before.value;
  const found = tryParse(body);
  const { [section]: now = {}, ...rest } = found ?? {};
  const isRight = found !== undefined && isDeepStrictEqual(now, entries);
  if (isRight && isDeepStrictEqual(rest, others)) return;
  throw new ConfigTextError(
    `writes ${section} in a form that cannot be changed without touching more than the entry; give the entry a table of its own, or take it out`,
  );
}

function tryParse(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parse(body).value;
  } catch (error) {
    if (error instanceof ConfigTextError) return undefined;
    throw error;
  }
}

function appended(body: string, section: string, name: string, entry: Members): string {
  const lineEnding = lineEndingOf(body);
  const table = tableText(section, name, entry, lineEnding);
  if (body === "") return table;
  return `${body}${body.endsWith("\n") ? "" : lineEnding}${lineEnding}${table}`;
}

function tableText(section: string, name: string, entry: Members, lineEnding: string): string {
  return [`[${section}.${name}]`, ...memberLines(entry), ""].join(lineEnding);
}

/** The members of the entry replace those of the same name; the rest of the table stays. */
function replacement(
  body: string,
  parsed: Parsed,
  path: readonly string[],
  members: Members,
): readonly Edit[] {
  const lineEnding = lineEndingOf(body);
  const tables = tablesBelow(parsed, path);
  const own = tables.find(({ resolvedKey }) => resolvedKey.length === path.length);
  if (own === undefined) return [];
  const former = own.body.filter((member) => Object.hasOwn(members, firstKey(member)));
  const below = tables.filter((table) =>
    Object.hasOwn(members, table.resolvedKey[path.length] ?? ""),
  );
  const at = lineEndAt(body, own.key.range[1]);
  const text = memberLines(members)
    .map((line) => `${line}${lineEnding}`)
    .join("");
  return [
    { from: at, to: at, text },
    ...former.map((member) => ({ ...wholeLines(body, member.range), text: "" })),
    ...below.map((table) => lines(body, table)),
  ];
}

function firstKey({ key }: AST.TOMLKeyValue): string {
  const [first] = key.keys;
  if (first === undefined) return "";
  return first.type === "TOMLBare" ? first.name : first.value;
}

/** Removes the lines of a table. */
function lines(body: string, table: Table): Edit {
  return { ...wholeLines(body, table.range), text: "" };
}

function wholeLines(
  body: string,
  [start, end]: readonly [number, number],
): { readonly from: number; readonly to: number } {
  return { from: body.lastIndexOf("\n", start - 1) + 1, to: lineEndAt(body, end) };
}

/** The end of the line at an offset, after its line feed. */
function lineEndAt(body: string, offset: number): number {
  const at = body.indexOf("\n", offset);
  return at < 0 ? body.length : at + 1;
}

/** Without these parts, and without the empty line before the first of them if there would be one on both sides. */
function withoutGap(body: string, edits: readonly Edit[]): string {
  const [first] = edits;
  const last = edits.at(-1);
  if (first === undefined || last === undefined) return body;
  const gap = /(?<=\n)\r?\n$/.exec(body.slice(0, first.from))?.[0] ?? "";
  const isOpen = /^(\r?\n|$)/.test(body.slice(last.to));
  const from = isOpen ? first.from - gap.length : first.from;
  return applyEdits(body, [{ ...first, from }, ...edits.slice(1)]);
}

function memberLines(members: Members): readonly string[] {
  return Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${printKey(key)} = ${printValue(value)}`);
}

/** Texts, and lists and inline tables of them, which is all that this program writes. */
function printValue(value: unknown): string {
  if (typeof value === "string") return printText(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) {
    throw new ConfigTextError(`has an entry with ${JSON.stringify(value)}, which is not rewritten`);
  }
  const members = Object.entries(value).map(
    ([key, member]) => `${printKey(key)} = ${printValue(member)}`,
  );
  return `{ ${members.join(", ")} }`;
}

function printKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : printText(key);
}

/** A basic string. JSON's notation is the same except for one control character. */
function printText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007F", "\\u007F");
}
