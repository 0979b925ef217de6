import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import {
  ConfigTextError,
  type Editor,
  editorOf,
  lineEndAt,
  lineEndingOf,
  type Members,
} from "./server-entry.ts";

/** Edits TOML: an entry is the table `[section.name]` with the tables below it. @param section a bare key */
export function tomlEditor(section: string): Editor {
  const unfit = `writes ${section} in a form that cannot be changed without touching more than the entry; give the entry a table of its own, or take it out`;
  return editorOf<Parsed>(section, {
    parse,
    members: ({ value }) => value,
    noSection: `has a ${section} that is no table`,
    put: (body, parsed, name, entry) =>
      appended(without(body, parsed, [section, name]), section, name, entry),
    take: (body, parsed, name) => without(body, parsed, [section, name]),
    unfit,
    create: (name, members) => tableText(section, name, members, "\n"),
  });
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

function appended(body: string, section: string, name: string, entry: Members): string {
  const lineEnding = lineEndingOf(body);
  const table = tableText(section, name, entry, lineEnding);
  if (body === "") return table;
  return `${body}${body.endsWith("\n") ? "" : lineEnding}${lineEnding}${table}`;
}

function tableText(section: string, name: string, entry: Members, lineEnding: string): string {
  return [`[${section}.${name}]`, ...memberLines(entry), ""].join(lineEnding);
}

/** Without a table and those below it, and without the empty line before the first of them if there would be one on both sides. */
function without(body: string, { tables }: Parsed, path: readonly string[]): string {
  const own = tables.filter(({ resolvedKey }) => path.every((key, at) => resolvedKey[at] === key));
  let result = body;
  for (const { range } of own.toReversed()) {
    const before = result.slice(0, result.lastIndexOf("\n", range[0] - 1) + 1);
    const after = result.slice(lineEndAt(result, range[1]));
    const isOpen = /^(\r?\n|$)/.test(after);
    result = (isOpen ? before.replace(/(?<=\n)\r?\n$/, "") : before) + after;
  }
  return result;
}

function memberLines(members: Members): readonly string[] {
  return Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${printKey(key)} = ${printValue(value)}`);
}

/** Everything but a time, which no entry of a server has. */
function printValue(value: unknown): string {
  if (typeof value === "string") return printText(value);
  if (["number", "bigint", "boolean"].includes(typeof value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(", ")}]`;
  if (typeof value !== "object" || value === null || value instanceof Date) {
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
