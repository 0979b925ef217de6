import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, JsonObject } from "../../lib/json.ts";
import { openSqlite } from "../native/load-library.ts";
import { asOurs, headOf, type SourceFile } from "./files.ts";
import { textOf } from "./pieces.ts";
import {
  type Fields,
  fieldsOf,
  leftOut,
  listOf,
  type Made,
  parsed,
  type ReadContext,
  type SourceRow,
  textIn,
  timeIn,
} from "./values.ts";

/** Flag of SQLite. */
const READ_ONLY = 1;
/** The version of the format of a file that has a log beside it. */
const LOGGED = 2;

/** Memories that keep a SQLite database. Each table is read as it stands at one moment, and its program notices nothing. */

const claudeMem: SourceRow = {
  name: "claude-mem",
  title: "Memory of claude-mem",
  isLossless: true,
  recognises: ({ columns, members }) =>
    columns.has("sdk_sessions.memory_session_id") ||
    (members.has("exportedAt") && members.has("observations")),
  read: (file, context) => readTables(file, context, readClaudeMem),
};

const mem0History: SourceRow = {
  name: "mem0",
  title: "Memories of mem0",
  isLossless: false,
  recognises: ({ columns }) =>
    columns.has("history.memory_id") && columns.has("history.new_memory"),
  read: (file, context) => readTables(file, context, readHistory),
};

const mcpMemory: SourceRow = {
  name: "mcp-memory-service",
  title: "Memory of mcp-memory-service",
  isLossless: true,
  recognises: ({ columns }) =>
    columns.has("memories.content_hash") && columns.has("memories.content"),
  read: (file, context) => readTables(file, context, readMcpMemory),
};

export const DATABASES: readonly SourceRow[] = [claudeMem, mem0History, mcpMemory];

/** The rows of tables that are there, one by one. */
type Rows = (table: string) => Iterable<Fields>;

const JSON_NAMES: Readonly<Record<string, string>> = {
  sdk_sessions: "sessions",
  user_prompts: "prompts",
  session_summaries: "summaries",
};

/** Reads a database, or the lists of its export as JSON. */
async function* readTables(
  file: SourceFile,
  context: ReadContext,
  read: (rows: Rows, context: ReadContext) => Iterable<Made>,
): AsyncGenerator<Made> {
  if (Buffer.from(await headOf(file, 6)).toString("latin1") === "SQLite") {
    using source = await openDatabase(file);
    const { database } = source;
    const names = database.query<{ name: string }, []>("SELECT name FROM sqlite_master").all();
    const isThere = new Set(names.map(({ name }) => name));
    const rows: Rows = (table) =>
      isThere.has(table) ? database.query<Fields, []>(`SELECT * FROM "${table}"`).iterate() : [];
    yield* read(rows, context);
  } else {
    const whole = fieldsOf(parsed((await Array.fromAsync(textOf(file))).join("")));
    yield* read((table) => listOf(whole[JSON_NAMES[table] ?? table]).map(fieldsOf), context);
  }
  context.onBytes(file.size);
}

type Opened = Disposable & { readonly database: ReturnType<typeof openSqlite> };

/** A database, read beside its program. Where none has it open, a copy is read: SQLite would leave files beside it. */
export async function openDatabase(file: SourceFile): Promise<Opened> {
  const path = await file.onDisk();
  const shared = `${path}-shm`;
  const [, version] = (await headOf(file, 20)).subarray(18);
  if (version !== LOGGED || existsSync(shared)) return opened(path);
  const folder = mkdtempSync(join(tmpdir(), "svc-import-"));
  const copy = join(folder, "copy");
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (const end of ["", "-wal"].filter((one) => existsSync(`${path}${one}`))) {
      copyFileSync(`${path}${end}`, `${copy}${end}`, constants.COPYFILE_FICLONE);
    }
    if (!existsSync(shared)) return opened(copy, remove);
  } catch (error) {
    remove();
    throw asOurs(error, path);
  }
  // Its program has begun to use it.
  remove();
  return opened(path);
}

function opened(path: string, remove: () => void = () => {}): Opened {
  const database = openSqlite(path, READ_ONLY);
  return {
    database,
    [Symbol.dispose]: () => {
      database.close();
      remove();
    },
  };
}

/** A row as JSON, complete: from it the row can be written again. Bytes, such as vectors, are left out. */
function whole(row: Fields, ...without: readonly string[]): JsonObject {
  const kept = Object.entries(row).filter(
    ([name, value]) => !without.includes(name) && !(value instanceof Uint8Array),
  );
  return Object.fromEntries(
    kept.map(([name, value]): [string, Json] => [
      name,
      // SAFETY: columns hold numbers, texts and nothing else that is kept.
      typeof value === "bigint" ? String(value) : ((value ?? null) as Json),
    ]),
  );
}

/** Tables of what claude-mem made up, and the columns that say it, in their order. */
const DERIVED: Readonly<Record<string, readonly string[]>> = {
  observations: ["title", "subtitle", "narrative", "text", "facts"],
  session_summaries: ["request", "investigated", "learned", "completed", "next_steps", "notes"],
};

function* readClaudeMem(rows: Rows, context: ReadContext): Generator<Made> {
  const sessions = new Map<unknown, Fields>();
  for (const row of rows("sdk_sessions")) {
    for (const column of [
      "content_session_id",
      "claude_session_id",
      "memory_session_id",
      "sdk_session_id",
    ]) {
      if (textIn(row[column]) !== undefined) sessions.set(row[column], row);
    }
  }
  for (const row of rows("user_prompts")) {
    const id = row["content_session_id"] ?? row["claude_session_id"];
    const session = sessions.get(id);
    yield {
      identity: { id: ["user_prompts", String(id), Number(row["prompt_number"] ?? row["id"])] },
      voice: "said",
      content: textIn(row["prompt_text"]) ?? "",
      sessionId: textIn(id),
      scope: "project",
      ...timeIn(row["created_at_epoch"] ?? row["created_at"], context),
      about: {
        ...ofProject(row, session),
        table: "user_prompts",
        raw: whole(row, "prompt_text"),
        ...(session !== undefined && { session: whole(session) }),
      },
    };
  }
  for (const [table, columns] of Object.entries(DERIVED)) {
    for (const row of rows(table)) yield readDerived(table, columns, row, sessions, context);
  }
}

function readDerived(
  table: string,
  columns: readonly string[],
  row: Fields,
  sessions: ReadonlyMap<unknown, Fields>,
  context: ReadContext,
): Made {
  const id = row["memory_session_id"] ?? row["sdk_session_id"];
  const session = sessions.get(id);
  const texts = columns.flatMap((column) => linesIn(row[column]));
  return {
    identity: {
      id: [table, String(id), Number(row["id"] ?? 0), Number(row["created_at_epoch"] ?? 0)],
    },
    voice: "derived",
    content: [...new Set(texts)].join("\n"),
    nodeType: table === "session_summaries" ? "summary" : "fact",
    sessionId: textIn(session?.["content_session_id"]) ?? textIn(id),
    scope: "project",
    ...timeIn(row["created_at_epoch"] ?? row["created_at"], context),
    about: { ...ofProject(row, session), table, raw: whole(row) },
  };
}

/** A text, or those of a list kept as JSON. */
function linesIn(value: unknown): readonly string[] {
  const text = textIn(value);
  if (text === undefined) return [];
  const list = text.startsWith("[") ? parsed(text) : undefined;
  return Array.isArray(list) ? list.map(String) : [text];
}

function ofProject(row: Fields, session: Fields | undefined): { readonly project?: string } {
  const project = textIn(row["project"]) ?? textIn(session?.["project"]);
  return project === undefined ? {} : { project };
}

/** The changes of each memory, oldest first: each text replaces the one before it. Deleted ones are not brought back. */
function* readHistory(rows: Rows, context: ReadContext): Generator<Made> {
  const chains = new Map<string, Fields[]>();
  for (const row of rows("history")) {
    chains.getOrInsertComputed(String(row["memory_id"]), () => []).push(row);
  }
  for (const [id, chain] of chains) {
    chain.sort((one, other) => timeOf(one).localeCompare(timeOf(other)));
    const last = chain.at(-1) ?? {};
    if (last["event"] === "DELETE" || Number(last["is_deleted"] ?? 0) === 1) {
      yield leftOut("deleted");
      continue;
    }
    yield {
      identity: { id: [id] },
      voice: "derived",
      content: textIn(last["new_memory"]) ?? "",
      nodeType: "fact",
      ...timeIn(last["updated_at"] ?? last["created_at"], context),
      about: { native_id: id, history: chain.map((row) => whole(row)) },
    };
  }
  for (const row of rows("messages")) {
    const isSaid = row["role"] === "user";
    yield {
      identity: { id: ["messages", String(row["id"])] },
      voice: isSaid ? "said" : "answer",
      content: textIn(row["content"]) ?? "",
      sessionId: textIn(row["session_scope"]),
      ...timeIn(row["created_at"], context),
      about: { table: "messages", raw: whole(row, "content") },
    };
  }
}

function timeOf(row: Fields): string {
  return String(row["updated_at"] ?? row["created_at"] ?? "");
}

function* readMcpMemory(rows: Rows, context: ReadContext): Generator<Made> {
  for (const row of rows("memories")) {
    // It does not find these itself.
    const gone = row["deleted_at"] ? "deleted" : row["superseded_by"] ? "replaced" : undefined;
    if (gone !== undefined) {
      yield leftOut(gone);
      continue;
    }
    const hash = String(row["content_hash"] ?? "");
    yield {
      // The hash is one of the text, so it is no id here, and goes with the text.
      identity: { key: ["memories"], isOfText: true },
      voice: "derived",
      content: textIn(row["content"]) ?? "",
      ...timeIn(row["created_at"] ?? row["created_at_iso"], context),
      about: {
        tags: (textIn(row["tags"]) ?? "").split(",").filter((tag) => tag !== ""),
        raw: whole(row, "content", "content_embedding"),
      },
      label: hash,
    };
  }
  yield* readMcpGraph(rows);
}

function* readMcpGraph(rows: Rows): Generator<Made> {
  const drawn = new Set<string>();
  for (const row of rows("memory_graph")) {
    const [from, to] = [String(row["source_hash"]), String(row["target_hash"])];
    const type = textIn(row["relationship_type"]) ?? textIn(row["connection_types"]) ?? "";
    const edgeType = /contradict/i.test(type) ? "contradicts" : "relates_to";
    drawn.add(`${from} ${to} ${type}`);
    // Relations without a direction stand there in both.
    if (drawn.has(`${to} ${from} ${type}`)) continue;
    yield { edge: { edgeType, from, to, metadata: { relation_type: type, raw: whole(row) } } };
  }
}
