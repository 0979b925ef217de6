import { isDeepStrictEqual } from "node:util";
import {
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import {
  applyEdits,
  ConfigTextError,
  type Edit,
  type Editor,
  lineEndingOf,
  type Members,
  positionOf,
  splitMark,
  withMembers,
} from "./editor.ts";

const DEFAULT_INDENT = "  ";
/** What can be between members besides white space. */
const COMMA_OR_COMMENT = /,|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;

/** Edits JSON, even with comments and trailing commas. @param section the member of the root that holds the entries */
export function jsonEditor(section: string): Editor {
  return {
    read: (text) => {
      const root = parseRoot(splitMark(text).body);
      return new Map(Object.entries(valuesIn(root && sectionOf(root, section))));
    },
    hasSection: (text) => {
      const root = parseRoot(splitMark(text).body);
      return root !== undefined && sectionOf(root, section) !== undefined;
    },
    set: (text, name, members) => {
      const { mark, body } = splitMark(text);
      const root = parseRoot(body);
      if (root === undefined) return mark + wholeText(section, name, members, lineEndingOf(body));
      const entries = valuesIn(sectionOf(root, section));
      const entry = withMembers(entries[name], members);
      const changed = applyEdits(body, setEdits(body, root, section, name, entry));
      requireValue(changed, { ...valuesIn(root), [section]: { ...entries, [name]: entry } });
      return mark + changed;
    },
    remove: (text, name, keepSection) => {
      const { mark, body } = splitMark(text);
      const root = parseRoot(body);
      const entries = root && sectionOf(root, section);
      const property = entries && propertyOf(entries, name);
      if (root === undefined || entries === undefined || property === undefined) return text;
      const isAlone = entries.children?.length === 1;
      const whole = isAlone && !keepSection ? propertyOf(root, section) : undefined;
      const edits =
        whole === undefined
          ? removalEdits(body, entries, property)
          : removalEdits(body, root, whole);
      const changed = applyEdits(body, edits);
      const { [section]: _section, ...others } = valuesIn(root);
      const { [name]: _entry, ...left } = valuesIn(entries);
      requireValue(changed, whole === undefined ? { ...others, [section]: left } : others);
      return mark + changed;
    },
    create: (name, members) => wholeText(section, name, members, "\n"),
  };
}

/** The root object; undefined for blank text. */
function parseRoot(body: string): Node | undefined {
  if (body.trim() === "") return undefined;
  const errors: ParseError[] = [];
  const root = parseTree(body, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined || root === undefined) {
    const code = first === undefined ? "no value" : printParseErrorCode(first.error);
    throw new ConfigTextError(
      `is not JSON at ${positionOf(body, first?.offset ?? 0)} (${inWords(code)})`,
    );
  }
  if (root.type !== "object") throw new ConfigTextError("holds no JSON object");
  return root;
}

/** `CommaExpected` as `comma expected`. */
function inWords(code: string): string {
  return code.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

function sectionOf(root: Node, section: string): Node | undefined {
  const value = propertyOf(root, section)?.children?.[1];
  if (value === undefined || value.type === "object") return value;
  throw new ConfigTextError(`has a ${JSON.stringify(section)} that is no object`);
}

/** The member of this name; of several the last, which counts for every parser. */
function propertyOf(object: Node, name: string): Node | undefined {
  return object.children?.findLast((property) => keyOf(property) === name);
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

function valuesIn(object: Node | undefined): Readonly<Record<string, unknown>> {
  if (object === undefined) return {};
  const entries = (object.children ?? []).map((property) => {
    const [, value] = property.children ?? [];
    const plain: unknown = value === undefined ? null : getNodeValue(value);
    return [keyOf(property), plain] as const;
  });
  return Object.fromEntries(entries);
}

/** @throws ConfigTextError if a change did not have exactly the intended effect */
function requireValue(body: string, expected: Readonly<Record<string, unknown>>): void {
  if (isDeepStrictEqual(plain(valuesIn(parseRoot(body))), plain(expected))) return;
  throw new ConfigTextError("cannot be changed without touching more than the entry");
}

/** Without what distinguishes JSON objects with the same members. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function setEdits(
  body: string,
  root: Node,
  section: string,
  name: string,
  entry: Members,
): readonly Edit[] {
  const style = styleOf(body, root);
  const entries = sectionOf(root, section);
  if (entries === undefined) return insertion(body, root, section, { [name]: entry }, style);
  const property = propertyOf(entries, name);
  const [, former] = property?.children ?? [];
  if (property === undefined || former === undefined) {
    return insertion(body, entries, name, entry, style);
  }
  const indent = indentBefore(body, property.offset);
  const text =
    indent === undefined ? printOnLine(entry, style) : printLines(entry, style, indent).trimStart();
  return [{ from: former.offset, to: former.offset + former.length, text }];
}

/** How a file is laid out. */
type Style = {
  readonly lineEnding: string;
  /** One level of indentation. */
  readonly indent: string;
  /** No white space at all. */
  readonly isCompact: boolean;
};

function styleOf(body: string, root: Node): Style {
  const [first] = root.children ?? [];
  const indent = first && indentBefore(body, first.offset);
  const isOneLine = !body.trim().includes("\n");
  return {
    lineEnding: lineEndingOf(body),
    indent: indent === undefined || indent === "" ? DEFAULT_INDENT : indent,
    isCompact: isOneLine && /^\S/.test(body.slice((first?.colonOffset ?? body.length) + 1)),
  };
}

/** The white space before something that begins its line; undefined if it does not. */
function indentBefore(body: string, offset: number): string | undefined {
  const before = body.slice(body.lastIndexOf("\n", offset - 1) + 1, offset);
  return before.trim() === "" && offset > 0 ? before : undefined;
}

/** The indentation of the line at an offset. */
function indentOfLine(body: string, offset: number): string {
  const line = body.slice(offset === 0 ? 0 : body.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** Adds a member after all others, and after the comments that follow them. */
function insertion(
  body: string,
  object: Node,
  key: string,
  value: unknown,
  style: Style,
): readonly Edit[] {
  const close = object.offset + object.length - 1;
  const last = object.children?.at(-1);
  const start = last === undefined ? object.offset + 1 : last.offset + last.length;
  const { comma, end } = lookAt(body, start, close);
  const indent = last === undefined ? undefined : indentBefore(body, last.offset);
  const isOnLine = last === undefined ? style.isCompact : indent === undefined;
  if (isOnLine) {
    const gap = style.isCompact ? "" : " ";
    const text = `${JSON.stringify(key)}:${gap}${printOnLine(value, style)}`;
    return around({ start, end, comma, isFirst: last === undefined }, `${gap}${text}`);
  }
  const { lineEnding } = style;
  const outer = indentOfLine(body, object.offset);
  const inner = indent ?? `${outer}${style.indent}`;
  const member = `${JSON.stringify(key)}: ${printLines(value, style, inner).trimStart()}`;
  const isClosedOnLine = last === undefined && !body.slice(end, close).includes("\n");
  const tail = isClosedOnLine ? `${lineEnding}${outer}` : "";
  const text = `${lineEnding}${inner}${member}${tail}`;
  return around({ start, end, comma, isFirst: last === undefined }, text);
}

/** Where a new member goes. */
type Gap = {
  /** End of the last member. */
  readonly start: number;
  /** End of everything that follows it. */
  readonly end: number;
  readonly comma: number | undefined;
  readonly isFirst: boolean;
};

/** A comma after the last member, unless there is one, and the new member after everything that follows it. */
function around({ start, end, comma, isFirst }: Gap, text: string): readonly Edit[] {
  if (isFirst) return [insert(end, text)];
  if (comma !== undefined) return [insert(end, `${text},`)];
  if (start === end) return [insert(end, `,${text}`)];
  return [insert(start, ","), insert(end, text)];
}

function insert(at: number, text: string): Edit {
  return { from: at, to: at, text };
}

/** What is between two offsets: a comma, and the end of the last comma or comment. */
function lookAt(
  body: string,
  from: number,
  to: number,
): { readonly comma: number | undefined; readonly end: number } {
  let comma: number | undefined;
  let end = from;
  for (const { 0: token, index } of body.slice(from, to).matchAll(COMMA_OR_COMMENT)) {
    if (token === ",") comma ??= from + index;
    end = from + index + token.length;
  }
  return { comma, end };
}

/** Removes a member, with the white space before it and one comma. */
function removalEdits(body: string, object: Node, property: Node): readonly Edit[] {
  const properties = object.children ?? [];
  const index = properties.indexOf(property);
  const close = object.offset + object.length - 1;
  const before = properties[index - 1];
  const after = properties[index + 1];
  const end = property.offset + property.length;
  const from = object.offset + 1 + body.slice(object.offset + 1, property.offset).trimEnd().length;
  const { comma } = lookAt(body, end, after?.offset ?? close);
  const own: Edit = { from, to: end, text: "" };
  if (comma !== undefined) return cut(own, comma);
  if (before !== undefined) {
    const behind = lookAt(body, before.offset + before.length, property.offset).comma;
    return behind === undefined ? [own] : cut(own, behind);
  }
  const isBlank = body.slice(object.offset + 1, from) + body.slice(end, close);
  return isBlank.trim() === "" ? [{ from: object.offset + 1, to: close, text: "" }] : [own];
}

/** A removal and that of a comma outside of it, merged if they touch. */
function cut(own: Edit, comma: number): readonly Edit[] {
  if (comma === own.to) return [{ ...own, to: comma + 1 }];
  if (comma === own.from - 1) return [{ ...own, from: comma }];
  if (comma >= own.from && comma < own.to) return [own];
  return [own, { from: comma, to: comma + 1, text: "" }];
}

function wholeText(section: string, name: string, entry: Members, lineEnding: string): string {
  const style = { lineEnding, indent: DEFAULT_INDENT, isCompact: false };
  return `${printLines({ [section]: { [name]: entry } }, style, "")}${lineEnding}`;
}

/** A value over several lines, each after `indent`. */
function printLines(value: unknown, { lineEnding, indent: step }: Style, indent: string): string {
  return JSON.stringify(value, null, step)
    .split("\n")
    .map((line) => `${indent}${line}`)
    .join(lineEnding);
}

/** A value on one line. */
function printOnLine(value: unknown, { isCompact }: Style): string {
  if (isCompact) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((item: unknown) => printOnLine(item, SPACED)).join(", ")}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}: ${printOnLine(member, SPACED)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

const SPACED: Style = { lineEnding: "\n", indent: DEFAULT_INDENT, isCompact: false };
