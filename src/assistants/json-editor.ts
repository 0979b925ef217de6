import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import {
  ConfigTextError,
  type Editor,
  editorOf,
  lineEndingOf,
  type Members,
} from "./server-entry.ts";

const DEFAULT_INDENT = "  ";

/** Edits JSON, even with comments and trailing commas. */
export function jsonEditor(section: string): Editor {
  return editorOf<Node | undefined>(section, {
    parse: parseRoot,
    members: contentOf,
    noSection: `has a ${JSON.stringify(section)} that is no object`,
    put: (body, root, name, entry) => {
      if (root === undefined) return wholeText(section, name, entry, lineEndingOf(body));
      return added(body, [section, name], entry);
    },
    take: (body, _root, name) => removed(body, [section, name]),
    unfit: "cannot be changed without touching more than the entry",
    create: (name, members) => wholeText(section, name, members, "\n"),
  });
}

/** With a value set, or at the end of a list (-1), laid out as its neighbours are. */
export function added(body: string, path: readonly (string | number)[], value: unknown): string {
  const root = parseTree(body, [], { allowTrailingComma: true });
  const edits = modify(body, [...path], value, { isArrayInsertion: path.at(-1) === -1 });
  return applyEdits(
    body,
    edits.flatMap((edit) => (root === undefined ? edit : laidOut(body, root, edit))),
  );
}

/** Without a member or an element, if it is there. */
export function removed(body: string, path: readonly (string | number)[]): string {
  const root = parseTree(body, [], { allowTrailingComma: true });
  const value = root && findNodeAtLocation(root, [...path]);
  const item = value?.parent?.type === "property" ? value.parent : value;
  return item === undefined ? body : applyEdits(body, [...removal(body, item)]);
}

function contentOf(root: Node | undefined): Members {
  return root === undefined ? {} : JSON.parse(JSON.stringify(getNodeValue(root)));
}

/** The members of a text's root. @throws ConfigTextError if it is not JSON with an object */
export function membersOf(text: string): Members {
  return contentOf(parseRoot(text.replace(/^\uFEFF/, "")));
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

/** The position of an offset, counted from 1, for a person. */
function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

/** A new entry goes on one line if everything else is; else it gets its own lines, after its neighbour's comment. */
function laidOut(body: string, root: Node, { offset, length, content }: Edit): readonly Edit[] {
  const [first] = root.children ?? [];
  if (first !== undefined && !body.trim().includes("\n")) return [{ offset, length, content }];
  const eol = lineEndingOf(body);
  const outer = indentOfLine(body, offset);
  const step = indentOfLine(body, first?.offset ?? 0) || DEFAULT_INDENT;
  if (length > 0) {
    const text = JSON.stringify(JSON.parse(content), null, step).replaceAll("\n", eol + outer);
    return [{ offset, length, content: text }];
  }
  const isFirst = /[{[]/.test(body[offset - 1] ?? "");
  const start = eol + outer + (isFirst ? step : "");
  const item = content.replace(/^,/, "");
  const whole = item.startsWith('"') ? `{${item}}` : `[${item}]`;
  const text = JSON.stringify(JSON.parse(whole), null, step)
    .split("\n")
    .slice(1, -1)
    .map((line) => start + line.slice(step.length))
    .join("");
  const rest = body.slice(offset);
  if (isFirst) {
    const end = /^[^\n]*?[\]}]/.test(rest) ? eol + outer : "";
    return [{ offset, length, content: text + end }];
  }
  const [line, comma] = /^(,?)[ \t]*\/\/[^\r\n]*/.exec(rest) ?? [];
  if (line === undefined) return [{ offset, length, content: `,${text}` }];
  const behind = { offset: offset + line.length, length: 0 };
  if (comma !== "") return [{ ...behind, content: `${text},` }];
  return [
    { offset, length, content: "," },
    { ...behind, content: text },
  ];
}

function indentOfLine(body: string, offset: number): string {
  const start = offset === 0 ? 0 : body.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(body.slice(start, offset))?.[0] ?? "";
}

/** Removes a member or an element with the white space before it and one comma; all comments stay. */
function removal(body: string, property: Node): readonly Edit[] {
  const siblings = property.parent?.children ?? [];
  const before = siblings[siblings.indexOf(property) - 1];
  const end = property.offset + property.length;
  const start = body.slice(0, property.offset).trimEnd().length;
  const comma =
    commaAfter(body, end) ?? (before && commaAfter(body, before.offset + before.length));
  return [
    { offset: start, length: end - start, content: "" },
    ...(comma === undefined ? [] : [{ offset: comma, length: 1, content: "" }]),
  ];
}

/** The comma between this and the next element, if any. */
function commaAfter(body: string, end: number): number | undefined {
  const between = /^(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/.exec(body.slice(end))?.[0] ?? "";
  return body[end + between.length] === "," ? end + between.length : undefined;
}

function wholeText(section: string, name: string, entry: Members, lineEnding: string): string {
  const text = JSON.stringify({ [section]: { [name]: entry } }, null, DEFAULT_INDENT);
  return `${text}\n`.replaceAll("\n", lineEnding);
}
