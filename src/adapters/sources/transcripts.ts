import type { SourceRecord } from "../../ports/sources.ts";
import type { SourceFile } from "./files.ts";
import { linesOf, textOf } from "./pieces.ts";
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

/** Conversations that assistants on this machine write down: JSON Lines, one file for each session. */

const claudeCode: SourceRow = {
  name: "claude-code",
  title: "Transcript of Claude Code",
  isLossless: false,
  recognises: ({ members }) =>
    members.has("sessionId") && members.has("uuid") && members.has("parentUuid"),
  read: (file, context) => eachLine(file, context, claudeCodeReader(context)),
};

const codex: SourceRow = {
  name: "codex",
  title: "Transcript of Codex",
  isLossless: false,
  recognises: ({ members, text }) =>
    members.has("payload") && /"type":\s*"(?:session_meta|response_item|turn_context)"/.test(text),
  read: (file, context) => eachLine(file, context, codexReader(context)),
};

const geminiCli: SourceRow = {
  name: "gemini-cli",
  title: "Transcript of Gemini CLI",
  isLossless: false,
  recognises: ({ members }) => members.has("sessionId") && members.has("projectHash"),
  read: readGeminiCli,
};

export const TRANSCRIPTS: readonly SourceRow[] = [claudeCode, codex, geminiCli];

/** A line that its program has not finished writing is left to the next import. */
async function* eachLine(
  file: SourceFile,
  { onBytes }: Pick<ReadContext, "onBytes">,
  read: (line: Fields, number: number) => Iterable<Made>,
): AsyncGenerator<Made> {
  let broken: number | undefined;
  for await (const line of linesOf(textOf(file, onBytes))) {
    if (broken !== undefined) yield { unreadable: `line ${broken} is not JSON` };
    broken = undefined;
    if ("tooLong" in line) {
      yield { unreadable: `line ${line.number} is too long` };
      continue;
    }
    const value = parsed(line.text);
    if (value === undefined) broken = line.number;
    else yield* read(fieldsOf(value), line.number);
  }
  if (broken !== undefined) yield leftOut("unfinished last line");
}

/** What assistants put around or instead of a person's words. */
const INJECTED =
  /<(svc-memory|system-reminder|hook_context|claude-mem-context|hindsight_memories|relevant-memories|task-notification|environment_context|user_instructions|local-command-stdout|command-[a-z]+)\b[^>]*>[\s\S]*?<\/\1>/g;

function ownWords(text: string): string {
  return text.replace(INJECTED, "").trim();
}

/** The texts of a message, and whether it has others than texts. */
function wordsOf(content: unknown): { readonly text: string; readonly tools: readonly string[] } {
  if (typeof content === "string") return { text: ownWords(content), tools: [] };
  const blocks = listOf(content).map(fieldsOf);
  const texts = blocks.flatMap(({ type, text }) =>
    type === undefined || /^(?:input_|output_)?text$/.test(String(type))
      ? (textIn(text) ?? [])
      : [],
  );
  const tools = blocks.flatMap((block) => {
    if (block["type"] !== "tool_result") return [];
    const inner = block["content"];
    return typeof inner === "string" ? inner : wordsOf(inner).text;
  });
  return { text: ownWords(texts.join("\n")), tools };
}

function projectOf(folder: unknown): { readonly project?: string } {
  const path = textIn(folder);
  return path === undefined ? {} : { project: path };
}

function claudeCodeReader(context: ReadContext) {
  return function* (line: Fields): Generator<Made> {
    const { type, isMeta, isCompactSummary, isSidechain } = line;
    if (type !== "user" && type !== "assistant") return;
    if (isMeta === true || isCompactSummary === true) yield leftOut("hidden");
    else if (isSidechain === true) yield leftOut("subagents");
    else yield* readTurn(line, context);
  };
}

function* readTurn(line: Fields, context: ReadContext): Generator<Made> {
  const { type, uuid, sessionId, cwd } = line;
  const { text, tools } = wordsOf(fieldsOf(line["message"])["content"]);
  const base = {
    sessionId: textIn(sessionId),
    scope: "project" as const,
    ...timeIn(line["timestamp"], context),
    about: { ...projectOf(cwd), native_id: String(uuid ?? ""), client: "claude-code" },
  };
  const id = [String(sessionId ?? ""), String(uuid ?? "")];
  if (text !== "") {
    yield { identity: { id }, voice: type === "user" ? "said" : "answer", content: text, ...base };
  } else if (tools.length === 0) yield leftOut("reasoning and tools");
  if (tools.length > 0 && !context.tools) return yield leftOut("tools", tools.length);
  for (const [at, output] of tools.entries()) {
    yield { identity: { id: [...id, "tool", at] }, voice: "tool", content: output, ...base };
  }
}

function codexReader(context: ReadContext) {
  let session = "";
  let folder: unknown;
  return function* (line: Fields, number: number): Generator<Made> {
    const payload = fieldsOf(line["payload"]);
    if (line["type"] === "session_meta") {
      session = textIn(payload["id"]) ?? session;
      folder = payload["cwd"] ?? folder;
    } else if (line["type"] === "response_item") {
      const base = {
        identity: { id: [session, number] },
        sessionId: session === "" ? undefined : session,
        scope: "project" as const,
        ...timeIn(line["timestamp"], context),
        about: { ...projectOf(folder), line: number, client: "codex" },
      };
      yield readItem(payload, base, context);
    }
  };
}

function readItem(
  payload: Fields,
  base: Omit<SourceRecord, "voice" | "content">,
  { tools }: ReadContext,
): Made {
  const { type, role } = payload;
  const output = textIn(payload["output"]) ?? textIn(fieldsOf(payload["output"])["content"]);
  if (type === "function_call_output" && output !== undefined) {
    return tools ? { ...base, voice: "tool", content: output } : leftOut("tools");
  }
  if (type !== "message") return leftOut("reasoning and tools");
  const { text } = wordsOf(payload["content"]);
  // Instructions of the project come as a message of the user.
  const isOfProject = text === "" || /^# AGENTS\.md instructions/.test(text);
  if (isOfProject || (role !== "user" && role !== "assistant")) return leftOut("hidden");
  return { ...base, voice: role === "user" ? "said" : "answer", content: text };
}

/** Lines can undo those before them, so the messages of a session are collected first. */
async function* readGeminiCli(file: SourceFile, context: ReadContext): AsyncGenerator<Made> {
  const messages = new Map<string, Fields>();
  let meta: Fields = {};
  let whole = "";
  for await (const line of linesOf(textOf(file, context.onBytes))) {
    const text = "text" in line ? line.text : "";
    if ("tooLong" in line) yield { unreadable: `line ${line.number} is too long` };
    const value = whole === "" && text !== "" ? parsed(text) : undefined;
    if (value === undefined) whole += `${text}\n`;
    else meta = takeLine(fieldsOf(value), messages, meta);
  }
  // Earlier versions wrote one object over several lines.
  const object = whole.trim() === "" ? {} : parsed(whole);
  if (object === undefined) yield leftOut("unfinished last line");
  meta = takeLine(fieldsOf(object), messages, meta);
  for (const [id, message] of messages) yield ofGemini(id, message, meta, context);
}

function ofGemini(id: string, message: Fields, meta: Fields, context: ReadContext): Made {
  const { type, content, timestamp } = message;
  if (type !== "user" && type !== "gemini") return leftOut("hidden");
  const session = textIn(meta["sessionId"]);
  return {
    identity: { id: [session ?? "", id] },
    voice: type === "user" ? "said" : "answer",
    content: wordsOf(content).text,
    sessionId: session,
    scope: "project",
    ...timeIn(timestamp, context),
    about: { native_id: id, project: String(meta["projectHash"] ?? ""), client: "gemini-cli" },
  };
}

function takeLine(line: Fields, messages: Map<string, Fields>, meta: Fields): Fields {
  const rewind = textIn(line["$rewindTo"]);
  if (rewind !== undefined) {
    const ids = [...messages.keys()];
    const at = ids.indexOf(rewind);
    if (at >= 0) for (const id of ids.slice(at + 1)) messages.delete(id);
    return meta;
  }
  if ("$set" in line) {
    const set = fieldsOf(line["$set"]);
    takeMessages(set["messages"], messages);
    return { ...meta, ...set };
  }
  if ("sessionId" in line) {
    takeMessages(line["messages"], messages);
    return { ...meta, ...line };
  }
  takeMessages([line], messages);
  return meta;
}

function takeMessages(given: unknown, messages: Map<string, Fields>): void {
  for (const one of listOf(given).map(fieldsOf)) {
    const id = textIn(one["id"]);
    if (id !== undefined) messages.set(id, { ...messages.get(id), ...one });
  }
}
