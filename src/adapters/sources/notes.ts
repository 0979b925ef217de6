import type { JsonObject } from "../../lib/json.ts";
import type { SourceEdge, SourceRecord } from "../../ports/sources.ts";
import type { SourceFile } from "./files.ts";
import { PieceError, textOf } from "./pieces.ts";
import { lent, type Made, type ReadContext, type SourceRow, timeIn, type When } from "./values.ts";

/** Notes and other texts: Markdown of any folder, Obsidian, basic-memory, auto memory of assistants, plain text. */

/** Of a folder only these are taken: every program text is one, too. */
const IS_NOTE = /\.(?:md|markdown|mdx|txt|text|rst|org)$/i;
/** Assistants read these by themselves. */
const IS_FOR_ASSISTANTS = /(?:^|\/)(?:CLAUDE|AGENTS|GEMINI)\.md$/;
const NOTE_MAX = 16 * 1024 * 1024;
/** UTF-16 units of a file that stays whole, and of the longest part. */
const WHOLE = 1500;
const PART_MAX = 6000;

export const NOTES: readonly SourceRow[] = [
  {
    name: "notes",
    title: "Notes and texts",
    isLossless: true,
    isOfPlace: true,
    recognises: ({ text, first, path, isNamed }) =>
      text.trim() !== "" &&
      (isNamed ? first !== "{" : IS_NOTE.test(path) && !IS_FOR_ASSISTANTS.test(path)),
    read: readNote,
  },
];

async function* readNote(file: SourceFile, context: ReadContext): AsyncGenerator<Made> {
  if (file.size > NOTE_MAX) throw new PieceError(`it has ${file.size} bytes, at most ${NOTE_MAX}`);
  const text = (await Array.fromAsync(textOf(file, context.onBytes))).join("");
  const front = frontMatter(text);
  const when = timeOf(front, file, context);
  const sections = sectionsOf(text);
  yield* partsOf(file, context, { sections, when, front });
}

export type Section = {
  readonly text: string;
  /** The headings above it, the outermost first. */
  readonly headings: readonly string[];
  /** From 1. */
  readonly page?: number;
};

type Document = {
  readonly sections: readonly Section[];
  readonly when: When;
  readonly front: JsonObject;
};

/** A document as records: its parts, what basic-memory states in it, and its links. */
export function* partsOf(
  file: SourceFile,
  { instance }: Pick<ReadContext, "instance">,
  { sections, when, front }: Document,
): Generator<Made> {
  const path = file.path;
  const sessionId = `document:${path}`;
  const base = { voice: "document", sessionId, ...when } as const;
  const note = labelOf(path);
  const place = typeof front["permalink"] === "string" ? front["permalink"] : path;
  for (const [at, { text, headings, page }] of sections.entries()) {
    const isFirst = at === 0;
    const label = isFirst ? note : `${path}#${at}`;
    yield {
      ...base,
      identity: { key: [place, "part", page ?? 0, ...headings], isOfText: false },
      content: text,
      place: [path, ...(page === undefined ? [] : [`page ${page}`]), ...headings].join(", "),
      about: {
        file: path,
        folder: instance,
        position: at + 1,
        ...(headings.length > 0 && { headings }),
        ...(page !== undefined && { page }),
        ...(isFirst && Object.keys(front).length > 0 && { front_matter: front }),
      },
      label,
      edges: linksIn(text).map(
        (to): SourceEdge => ({
          ...{ edgeType: "relates_to", from: label, to: labelOf(to.target) },
          ...(to.relation !== undefined && { metadata: { relation_type: to.relation } }),
        }),
      ),
    };
    yield* statementsIn(text, { base, place, note, path });
  }
  yield { whole: sessionId };
}

type Stating = {
  readonly base: Pick<SourceRecord, "voice" | "sessionId" | "eventTime" | "isTimeAssumed">;
  readonly place: string;
  readonly note: string;
  readonly path: string;
};

/** `- [category] text #tag (context)`, as basic-memory writes what it observed; no checkbox and no link. */
const STATEMENT = /^[ \t]*-[ \t]+\[([^\]\n]{2,60})\](?![[(])[ \t]+(\S.*)$/gm;

function* statementsIn(text: string, { base, place, note, path }: Stating): Generator<Made> {
  for (const [, category = "", content = ""] of text.matchAll(STATEMENT)) {
    const label = `${path}#${category}:${content}`;
    yield {
      ...base,
      identity: { key: [place, "observation", category], isOfText: true },
      content,
      nodeType: "fact",
      about: { file: path, category, tags: content.match(/#[\p{L}\p{N}_/-]+/gu) ?? [] },
      label,
      edges: [{ edgeType: "has_fact", from: note, to: label }],
    };
  }
}

const LINK =
  /^[ \t]*-[ \t]+([^[\n]{1,80}?)[ \t]+\[\[([^\]|#\n]+)[^\]\n]*\]\]|\[\[([^\]|#\n]+)[^\]\n]*\]\]/gm;

function linksIn(text: string) {
  return [...text.matchAll(LINK)].map(([, relation, related, bare]) => ({
    relation: relation?.trim(),
    target: related ?? bare ?? "",
  }));
}

/** Links name a note by its file, without folder and suffix. */
function labelOf(path: string): string {
  return `note:${path.trim().split("/").at(-1)?.replace(IS_NOTE, "").toLowerCase() ?? ""}`;
}

/** The lines of a front matter that are `name: value`; values as they stand, those on lines with dashes as a list. */
function frontMatter(text: string): JsonObject {
  const [, block = ""] = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  const lines = [...block.matchAll(/^([\w-]+):[ \t]*(.*?)[ \t]*$((?:\r?\n[ \t]*- .*)*)/gm)];
  const plain = (text: string): string => text.trim().replace(/^(["'])(.*)\1$/, "$2");
  return Object.fromEntries(
    lines.map(([, name = "", value = "", list = ""]) => [
      name,
      list === ""
        ? plain(value)
        : list
            .split(/\r?\n[ \t]*- /)
            .slice(1)
            .map(plain),
    ]),
  );
}

export function timeOf(front: JsonObject, file: SourceFile, context: ReadContext): When {
  for (const name of ["modified", "updated", "created", "date"]) {
    const when = timeIn(front[name], context);
    if (when.eventTime !== undefined) return when;
  }
  return file.modified === undefined ? {} : lent(timeIn(Math.floor(file.modified), context));
}

/** A text by its headings, so that the parts in their order are the text again. */
export function sectionsOf(text: string): readonly Section[] {
  const cuts = text.length <= WHOLE ? [] : headingsIn(text);
  const sections: Section[] = [];
  let headings: { readonly level: number; readonly title: string }[] = [];
  let from = 0;
  for (const { at, level, title } of cuts) {
    // What stands before the first heading goes with it if it is blank.
    if (text.slice(from, at).trim() !== "") {
      sections.push(
        ...pieces(
          text.slice(from, at),
          headings.map((one) => one.title),
        ),
      );
      from = at;
    }
    headings = [...headings.filter((one) => one.level < level), { level, title }];
  }
  sections.push(
    ...pieces(
      text.slice(from),
      headings.map((one) => one.title),
    ),
  );
  return sections;
}

function headingsIn(text: string) {
  const found: { readonly at: number; readonly level: number; readonly title: string }[] = [];
  let fence = "";
  for (const match of text.matchAll(/^ {0,3}(?:(```+|~~~+)|(#{1,6})[ \t]+(.*?)[ \t#]*\r?$)/gm)) {
    const [, mark, hashes = "", title = ""] = match;
    if (mark !== undefined)
      fence = fence === "" ? mark.slice(0, 3) : mark.startsWith(fence) ? "" : fence;
    else if (fence === "") found.push({ at: match.index, level: hashes.length, title });
  }
  return found;
}

/** A section in parts that are not too long, cut between paragraphs, else lines, else anywhere. */
export function pieces(text: string, headings: readonly string[]): readonly Section[] {
  const sections: Section[] = [];
  let from = 0;
  while (text.length - from > PART_MAX) {
    const part = text.slice(from, from + PART_MAX);
    const cut = ["\n\n", "\n", " "].map((mark) => part.lastIndexOf(mark) + mark.length);
    const length = cut.find((end) => end > PART_MAX / 4) ?? PART_MAX;
    sections.push({ text: text.slice(from, from + length), headings });
    from += length;
  }
  // Blanks alone are no part of their own.
  const rest = text.slice(from);
  const last = sections.at(-1);
  if (rest.trim() !== "" || last === undefined) sections.push({ text: rest, headings });
  else sections[sections.length - 1] = { ...last, text: last.text + rest };
  return sections;
}
