import { type Document, isMap, type Pair, parseDocument, type Scalar, stringify } from "yaml";
import {
  ConfigTextError,
  type Editor,
  editorOf,
  lineEndAt,
  lineEndingOf,
  type Members,
} from "./server-entry.ts";

/** Edits YAML in which the section is written in lines, not in braces. */
export function yamlEditor(section: string): Editor {
  return editorOf<Document.Parsed>(section, {
    parse,
    members: (parsed) => {
      const { [section]: entries, ...others }: Members = { ...parsed.toJS() };
      return entries === undefined || entries === null ? others : { ...others, [section]: entries };
    },
    noSection: `has ${section} that are no map`,
    put: (body, parsed, name, entry) => {
      const isEmpty = /^\s*\{\s*\}\s*$/.test(body);
      const rest = isEmpty ? "" : without(body, parsed, section, name);
      return put(rest, parse(rest), section, name, entry);
    },
    take: (body, parsed, name) => without(body, parsed, section, name),
    unfit: `writes ${section} in a form that cannot be changed without touching more than the entry; write each entry below it on lines of its own`,
    create: (name, members) => stringify({ [section]: { [name]: members } }, OPTIONS),
  });
}

const OPTIONS = { lineWidth: 0, indentSeq: false } as const;

function parse(body: string): Document.Parsed {
  const parsed = parseDocument(body);
  const [error] = parsed.errors;
  if (error !== undefined) {
    throw new ConfigTextError(`is not YAML: ${error.message.split("\n", 1)[0]?.replace(/:$/, "")}`);
  }
  if (isMap(parsed.contents) || parsed.toJS() === null) return parsed;
  throw new ConfigTextError("holds no YAML map");
}

/** A member of a map with its offsets: of the key, and of the end of its last line. */
type Member = {
  readonly pair: Pair<Scalar, unknown>;
  readonly start: number;
  readonly end: number;
};

function memberOf(body: string, map: unknown, name: string): Member | undefined {
  if (!isMap<Scalar>(map)) return undefined;
  const pair = map.items.find(({ key }) => String(key.value) === name);
  const start = pair?.key.range?.[0];
  if (pair === undefined || start === undefined) return undefined;
  const ends = [pair.key.range?.[1] ?? start, rangeEnd(pair.value) ?? start];
  return { pair, start, end: lineEndAt(body, Math.max(...ends) - 1) };
}

function rangeEnd(node: unknown): number | undefined {
  const range: unknown = typeof node === "object" && node !== null && "range" in node && node.range;
  return Array.isArray(range) && typeof range[1] === "number" ? range[1] : undefined;
}

function put(
  body: string,
  parsed: Document.Parsed,
  section: string,
  name: string,
  entry: Members,
): string {
  const lineEnding = lineEndingOf(body);
  const own = memberOf(body, parsed.contents, section);
  const entries: unknown = own?.pair.value;
  const last = isMap<Scalar>(entries) ? entries.items.at(-1) : undefined;
  const first = isMap<Scalar>(entries) ? (entries.items[0]?.key.range?.[0] ?? 0) : 0;
  const column = last === undefined ? 2 : first - (body.lastIndexOf("\n", first - 1) + 1);
  const lines = stringify(
    own === undefined ? { [section]: { [name]: entry } } : { [name]: entry },
    OPTIONS,
  );
  const text = lines
    .replaceAll(/^(?=.)/gm, own === undefined ? "" : " ".repeat(column))
    .replaceAll("\n", lineEnding);
  const end = own?.end ?? body.length;
  const colon = own === undefined ? end : colonOf(body, own);
  // Nothing, written as such, makes room for lines.
  const value = body.slice(colon, end);
  const head = body.slice(0, colon) + (last === undefined ? value.replace(NOTHING, "") : value);
  return `${head}${head === "" || head.endsWith("\n") ? "" : lineEnding}${text}${body.slice(end)}`;
}

const NOTHING = /^\s*(?:\{\s*\}|~|null)(?=\s|$)/;

/** Where the value of a member may begin. */
function colonOf(body: string, { pair }: Member): number {
  return body.indexOf(":", pair.key.range?.[1] ?? 0) + 1;
}

function without(body: string, parsed: Document.Parsed, section: string, name: string): string {
  const own = memberOf(body, parsed.contents, section);
  const entry = memberOf(body, own?.pair.value, name);
  if (own === undefined || entry === undefined) return body;
  const start = body.lastIndexOf("\n", entry.start - 1) + 1;
  const rest = body.slice(0, start) + body.slice(entry.end);
  const isLast = isMap(own.pair.value) && own.pair.value.items.length === 1;
  if (!isLast) return rest;
  const colon = colonOf(body, own);
  return `${rest.slice(0, colon)} {}${rest.slice(colon)}`;
}
