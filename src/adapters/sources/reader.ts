import { SvcError } from "../../domain/errors.ts";
import type {
  SourceInput,
  SourceItem,
  SourceOptions,
  SourcePart,
  SourceReader,
} from "../../ports/sources.ts";
import { CHATS, TRANSCRIPTS } from "./chats.ts";
import { DATABASES, openDatabase } from "./databases.ts";
import { DOCUMENTS } from "./documents.ts";
import {
  headOf,
  isArchive,
  type OpenSource,
  officeOf,
  openSource,
  type SourceFile,
  unsupported,
} from "./files.ts";
import { MEMORIES } from "./memories.ts";
import { NOTES } from "./notes.ts";
import { encodingOf, membersIn, PieceError } from "./pieces.ts";
import type { Environment, Head, Made, SourceRow } from "./values.ts";

/** Everything that can be imported; the first row that recognises a file reads it. */
const ROWS: readonly SourceRow[] = [
  ...CHATS,
  ...TRANSCRIPTS,
  ...MEMORIES,
  ...DATABASES,
  ...DOCUMENTS,
  ...NOTES,
];

const HEAD_BYTES = 64 * 1024;
const SQLITE = "SQLite format 3\u0000";
/** Bytes after which the progress is told. */
const TOLD_BYTES = 1024 * 1024;

/** Reads what other programs keep, by its content. */
export function createSourceReader(environment: Environment = {}): SourceReader {
  const kinds = new Map(ROWS.map((row) => [row.name, row]));
  return {
    kinds: [...kinds.values()].map(({ name, title, isLossless }) => ({ name, title, isLossless })),
    read: (input, options) => read(input, options, environment),
  };
}

async function* read(
  input: SourceInput,
  options: SourceOptions,
  environment: Environment,
): AsyncGenerator<SourceItem> {
  const source = await openSource(input, options.signal);
  try {
    let recognised = 0;
    for (const refused of source.refused) yield { kind: "unreadable", ...refused };
    const progress = new Progress(source.bytes);
    let before = 0;
    for await (const file of source.files) {
      options.signal.throwIfAborted();
      let head: Head;
      try {
        head = await lookAt(file, source);
      } catch (error) {
        const why = whyOf(error);
        if (why === undefined || !source.isFolder) throw error;
        recognised += 1;
        yield { kind: "unreadable", file: file.path, as: "a file", why };
        continue;
      }
      const row = rowFor(head, options.from);
      if (row !== undefined) {
        recognised += 1;
        yield* readFile(row, file, { source, options, progress, environment });
      } else if (source.isFolder) yield { kind: "left_out", why: "files of no known kind" };
      else throw unsupported(file.path, unknownAs(head, options.from));
      before += file.size;
      progress.done = before;
      yield* progress.items();
    }
    if (recognised === 0) {
      throw unsupported(source.instance, "none of its files is of a kind that can be imported");
    }
  } finally {
    source.close();
  }
}

function rowFor(head: Head, from: string | undefined): SourceRow | undefined {
  return ROWS.find((row) => (from === undefined || row.name === from) && row.recognises(head));
}

/** What a file is that no row reads. */
function unknownAs(head: Head, from: string | undefined): string {
  const as = ROWS.find((row) => row.recognises(head))?.title;
  if (from !== undefined && as !== undefined) return `it is not ${from}, but: ${as}`;
  if (head.columns.size > 0) return "it is a SQLite database of a program that is not known";
  if (head.office !== undefined) return "it is an Office file of a kind that is not read";
  if (head.first === "{" || head.first === "[") return "it is JSON of a program that is not known";
  if (head.text === "") return "it is empty, or neither text nor a known binary format";
  return "it is text of no known form";
}

type Reading = {
  readonly source: OpenSource;
  readonly options: SourceOptions;
  readonly progress: Progress;
  readonly environment: Environment;
};

async function* readFile(
  row: SourceRow,
  file: SourceFile,
  { source, options, progress, environment }: Reading,
): AsyncGenerator<SourceItem> {
  const { name, title, isLossless } = row;
  const instance = row.isOfPlace === true ? source.instance : "";
  const of: SourcePart = { source: { name, title, isLossless }, instance, file: file.path };
  const context = {
    ...options,
    instance,
    environment,
    onBytes: (count: number) => {
      progress.done += count;
    },
  };
  try {
    for await (const made of row.read(file, context)) {
      yield toItem(made, of);
      yield* progress.items(TOLD_BYTES);
    }
  } catch (error) {
    // A file that fails does not end the others of its folder.
    const why = whyOf(error);
    if (why === undefined || options.signal.aborted) throw error;
    if (!source.isFolder) throw unsupported(file.path, `it is a ${title}, but ${why}`, error);
    yield { kind: "unreadable", file: file.path, as: title, why };
  }
}

/** Why a file cannot be read; undefined: it is not about the file. */
function whyOf(error: unknown): string | undefined {
  if (error instanceof PieceError) return error.message;
  if (error instanceof SvcError) {
    return error.code === "unsupported_source" ? error.message : undefined;
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const isOfFile = /^(?:E[A-Z]+|Z_\w+|SQLITE_\w+)$/.test(code) && code !== "ENOSPC";
  if (isOfFile) return `it cannot be read (${code})`;
  // The library that unpacks archives has no codes.
  return error instanceof Error && error.constructor === Error ? error.message : undefined;
}

function toItem(made: Made, of: SourcePart): SourceItem {
  if ("leftOut" in made) return { kind: "left_out", why: made.leftOut, count: made.count ?? 1 };
  if ("unreadable" in made) {
    return { kind: "unreadable", file: of.file, as: of.source.title, why: made.unreadable };
  }
  if ("edge" in made) return { kind: "edge", of, edge: made.edge };
  if ("whole" in made) return { kind: "whole", of, sessionId: made.whole };
  return { kind: "record", of, record: made };
}

/** What the beginning of a file shows. */
async function lookAt(file: SourceFile, source: OpenSource): Promise<Head> {
  const bytes = await headOf(file, HEAD_BYTES);
  const base = { bytes, path: file.path, isNamed: !source.isFolder };
  const none = { text: "", members: new Set<string>(), first: "", columns: new Set<string>() };
  if (Buffer.from(bytes.subarray(0, SQLITE.length)).toString("latin1") === SQLITE) {
    return { ...none, ...base, columns: await columnsOf(file), office: undefined };
  }
  const office = isArchive(bytes) ? await officeOf(file) : undefined;
  if (office !== undefined) return { ...none, ...base, office };
  const encoding = encodingOf(bytes);
  const isBinary = encoding === "utf-8" && bytes.includes(0);
  if (isBinary) return { ...none, ...base, office };
  const text = new TextDecoder(encoding).decode(bytes);
  const first = text.trimStart().slice(0, 1);
  const isJson = first === "{" || first === "[";
  return {
    ...base,
    text,
    first,
    members: isJson ? membersIn(text) : none.members,
    columns: none.columns,
    office,
  };
}

/** Tables and columns of a database that its program may be using. */
async function columnsOf(file: SourceFile): Promise<ReadonlySet<string>> {
  try {
    using source = await openDatabase(file);
    const rows = source.database
      .query<{ name: string }, []>(
        "SELECT m.name || '.' || c.name AS name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
      )
      .all();
    return new Set(rows.map(({ name }) => name));
  } catch {
    return new Set(["?"]);
  }
}

/** How much of a source was read. */
class Progress {
  readonly #total: number;
  #told = 0;
  done = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Nothing if the last one was told a moment ago. */
  *items(least = 0): Generator<SourceItem> {
    if (this.done - this.#told < least) return;
    this.#told = this.done;
    yield { kind: "progress", done: Math.min(this.done, this.#total), total: this.#total };
  }
}
