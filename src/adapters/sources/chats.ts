import type { JsonObject } from "../../lib/json.ts";
import type { SourceRecord, SourceVoice } from "../../ports/sources.ts";
import type { SourceFile } from "./files.ts";
import { elementsOf, linesOf, textOf } from "./pieces.ts";
import {
  eachOf,
  type Fields,
  fieldsOf,
  leftOut,
  lent,
  listOf,
  type Made,
  parsed,
  type ReadContext,
  raw,
  type SourceRow,
  textIn,
  timeIn,
  without,
} from "./values.ts";

/** Exports of hosted assistants. */

const chatgpt: SourceRow = {
  name: "chatgpt",
  title: "ChatGPT export",
  isLossless: false,
  recognises: ({ first, members }) => first === "[" && members.has("mapping"),
  read: (file, context) => eachOf(file, context, (value) => readTree(value, context)),
};

const claude: SourceRow = {
  name: "claude-ai",
  title: "Claude.ai export",
  isLossless: false,
  recognises: ({ first, members }) =>
    first === "[" &&
    (members.has("chat_messages") ||
      (members.has("prompt_template") && members.has("uuid")) ||
      members.has("conversations_memory")),
  read: (file, context) => eachOf(file, context, (value) => readClaude(value, context)),
};

const gemini: SourceRow = {
  name: "gemini",
  title: "Gemini export (Takeout)",
  isLossless: false,
  recognises: ({ first, members, text }) =>
    first === "[" && members.has("header") && members.has("time") && /"Gemini/.test(text),
  read: readTakeout,
};

export const CHATS: readonly SourceRow[] = [chatgpt, claude, gemini];

const HIDDEN_KINDS = new Set(["thoughts", "reasoning_recap"]);

/** A conversation of ChatGPT: a tree of messages, of which its user saw one branch last. */
function* readTree(value: unknown, context: ReadContext): Generator<Made> {
  const conversation = fieldsOf(value);
  const nodes = fieldsOf(conversation["mapping"]);
  const session = textIn(conversation["conversation_id"]) ?? textIn(conversation["id"]);
  const began = timeIn(conversation["create_time"], context);
  const shown = branchOf(nodes, textIn(conversation["current_node"]));
  const about = {
    title: textIn(conversation["title"]) ?? null,
    ...raw(without(conversation, "mapping", "title", "conversation_id", "id", "create_time")),
  };
  const ids = context.allBranches ? [...shown, ...othersThan(nodes, shown)] : shown;
  let position = 0;
  for (const id of ids) {
    const message = fieldsOf(fieldsOf(nodes[id])["message"]);
    if (Object.keys(message).length === 0) continue;
    position += 1;
    // Of the conversation only what every message needs: the rest is kept with its first one.
    const of = position === 1 ? about : { title: about.title };
    yield* readMessage({ message, id, session, position, of, began }, context);
  }
  if (context.allBranches) return;
  const others = Object.keys(nodes).length - shown.length;
  if (others > 0) yield leftOut("other branches", others);
}

/** From the newest message to the root, in the order of the conversation. A circle is cut where it closes. */
function branchOf(nodes: Readonly<Record<string, unknown>>, current: string | undefined): string[] {
  const seen = new Set<string>();
  let id = current !== undefined && current in nodes ? current : newestLeaf(nodes);
  while (id !== undefined && id in nodes && !seen.has(id)) {
    seen.add(id);
    id = textIn(fieldsOf(nodes[id])["parent"]);
  }
  return [...seen].reverse();
}

function newestLeaf(nodes: Readonly<Record<string, unknown>>): string | undefined {
  let [leaf, latest]: [string | undefined, number] = [undefined, Number.NEGATIVE_INFINITY];
  for (const [id, node] of Object.entries(nodes)) {
    const { children, message } = fieldsOf(node);
    if (listOf(children).some((child) => String(child) in nodes)) continue;
    const time = Number(fieldsOf(message)["create_time"] ?? 0);
    if (time >= latest) [leaf, latest] = [id, time];
  }
  return leaf ?? Object.keys(nodes).at(-1);
}

function othersThan(nodes: Readonly<Record<string, unknown>>, shown: readonly string[]): string[] {
  const seen = new Set(shown);
  return Object.keys(nodes).filter((id) => !seen.has(id));
}

type TreeMessage = {
  readonly message: Readonly<Record<string, unknown>>;
  readonly id: string;
  readonly session: string | undefined;
  readonly position: number;
  readonly of: JsonObject;
  readonly began: ReturnType<typeof timeIn>;
};

function* readMessage(
  { message, id, session, position, of, began }: TreeMessage,
  context: ReadContext,
): Generator<Made> {
  const content = fieldsOf(message["content"]);
  const kind = textIn(content["content_type"]) ?? "text";
  const { hidden, voice } = voiceOf(message, kind, context);
  if (hidden !== undefined) return yield leftOut(hidden);
  const { text, files } = textOfContent(content, kind);
  if (files > 0) yield leftOut("pictures and files", files);
  const own = timeIn(message["create_time"], context);
  const metadata = fieldsOf(message["metadata"]);
  const attachments = listOf(metadata["attachments"]).map((one) => {
    const { name, mime_type: type, size } = fieldsOf(one);
    return { name: String(name ?? ""), type: String(type ?? ""), size: Number(size ?? 0) };
  });
  yield {
    identity: { id: [session ?? "", textIn(message["id"]) ?? id] },
    voice,
    content: text,
    nodeType: kind === "user_editable_context" ? "preference" : undefined,
    sessionId: session,
    ...(own.eventTime === undefined ? lent(began) : own),
    about: {
      native_id: textIn(message["id"]) ?? id,
      position,
      ...of,
      ...(attachments.length > 0 && { attachments }),
      ...(textIn(metadata["model_slug"]) !== undefined && {
        model: String(metadata["model_slug"]),
      }),
    },
  };
}

function voiceOf(
  message: Readonly<Record<string, unknown>>,
  kind: string,
  { tools }: ReadContext,
): { readonly hidden: string | undefined; readonly voice: SourceVoice } {
  const { role } = fieldsOf(message["author"]);
  const { is_visually_hidden_from_conversation: isHidden } = fieldsOf(message["metadata"]);
  // Custom instructions are hidden, and its user's own; memories are what the model noted.
  if (kind === "user_editable_context") return { hidden: undefined, voice: "said" };
  if (kind === "model_editable_context") return { hidden: undefined, voice: "derived" };
  if (role === "system" || role === "developer" || isHidden === true) {
    return { hidden: "hidden", voice: "said" };
  }
  if (HIDDEN_KINDS.has(kind)) return { hidden: "reasoning", voice: "answer" };
  if (role === "user") return { hidden: undefined, voice: "said" };
  const isTool = role === "tool" || (message["recipient"] ?? "all") !== "all";
  if (isTool) return { hidden: tools ? undefined : "tools", voice: "tool" };
  return { hidden: undefined, voice: "answer" };
}

function textOfContent(
  content: Readonly<Record<string, unknown>>,
  kind: string,
): { readonly text: string; readonly files: number } {
  if (kind === "code") {
    const language = textIn(content["language"]) ?? "";
    const fence = language === "unknown" ? "" : language;
    return { text: `\`\`\`${fence}\n${textIn(content["text"]) ?? ""}\n\`\`\``, files: 0 };
  }
  if (kind === "user_editable_context") {
    const parts = [content["user_profile"], content["user_instructions"]];
    return { text: parts.flatMap((part) => textIn(part) ?? []).join("\n\n"), files: 0 };
  }
  if (kind === "model_editable_context") {
    return { text: textIn(content["model_set_context"]) ?? "", files: 0 };
  }
  const parts = listOf(content["parts"]);
  const texts = parts.flatMap((part) => {
    if (typeof part === "string") return part;
    return textIn(fieldsOf(part)["text"]) ?? [];
  });
  const text = parts.length === 0 ? (textIn(content["text"]) ?? "") : texts.join("\n");
  return { text, files: parts.length - texts.length };
}

function* readClaude(value: unknown, context: ReadContext): Generator<Made> {
  const one = fieldsOf(value);
  if ("conversations_memory" in one) return yield* readClaudeMemories(one);
  if ("docs" in one || "prompt_template" in one) return yield* readClaudeProject(one, context);
  for (const [at, item] of listOf(one["chat_messages"]).entries()) {
    yield* readClaudeMessage(one, fieldsOf(item), at, context);
  }
}

function* readClaudeMessage(
  one: Readonly<Record<string, unknown>>,
  message: Readonly<Record<string, unknown>>,
  at: number,
  context: ReadContext,
): Generator<Made> {
  const session = textIn(one["uuid"]);
  const blocks = listOf(message["content"]).map(fieldsOf);
  const said = blocks.filter(({ type }) => type === "text");
  const texts = said.flatMap(({ text }) => textIn(text) ?? []);
  if (said.length < blocks.length) {
    yield leftOut("tools and reasoning", blocks.length - said.length);
  }
  const files = [...listOf(message["attachments"]), ...listOf(message["files"])].map(fieldsOf);
  if (files.length > 0) yield leftOut("pictures and files", files.length);
  const own = timeIn(message["created_at"], context);
  const attachments = files.map(({ file_name: name, file_size: size }) => ({
    name: String(name ?? ""),
    size: Number(size ?? 0),
  }));
  yield {
    identity: { id: [session ?? "", textIn(message["uuid"]) ?? at] },
    voice: message["sender"] === "human" ? "said" : "answer",
    content: texts.length > 0 ? texts.join("\n") : (textIn(message["text"]) ?? ""),
    sessionId: session,
    ...(own.eventTime === undefined ? lent(timeIn(one["created_at"], context)) : own),
    about: {
      native_id: textIn(message["uuid"]) ?? at,
      position: at + 1,
      title: textIn(one["name"]) ?? null,
      ...(attachments.length > 0 && { attachments }),
    },
  };
}

function* readClaudeProject(
  project: Readonly<Record<string, unknown>>,
  context: ReadContext,
): Generator<Made> {
  const [id, name] = [textIn(project["uuid"]) ?? "", textIn(project["name"]) ?? ""];
  const about = { project: name, ...raw(without(project, "docs", "prompt_template", "name")) };
  const scope = "project" as const;
  const prompt = textIn(project["prompt_template"]);
  if (prompt !== undefined) {
    const when = timeIn(project["created_at"], context);
    const identity = { id: [id, "prompt"] };
    yield {
      identity,
      voice: "said",
      content: prompt,
      nodeType: "preference",
      scope,
      ...when,
      about,
    };
  }
  for (const [at, item] of listOf(project["docs"]).entries()) {
    const doc = fieldsOf(item);
    yield {
      identity: { id: [id, textIn(doc["uuid"]) ?? at] },
      voice: "document",
      content: textIn(doc["content"]) ?? "",
      scope,
      ...timeIn(doc["created_at"], context),
      about: { ...about, file: textIn(doc["filename"]) ?? null },
    };
  }
}

/** What Claude noted about its user: a note for each paragraph. */
function* readClaudeMemories(one: Readonly<Record<string, unknown>>): Generator<Made> {
  const texts: [string, unknown][] = [["conversations", one["conversations_memory"]]];
  for (const [project, text] of Object.entries(fieldsOf(one["project_memories"]))) {
    texts.push([project, text]);
  }
  for (const [of, text] of texts) {
    for (const paragraph of (textIn(text) ?? "").split(/\n\s*\n/)) {
      yield {
        identity: { key: ["memories", of], isOfText: true },
        voice: "derived",
        content: paragraph.trim(),
        about: { memory_of: of },
      };
    }
  }
}

/** Activities, without conversations: a question, and often its answer as HTML. */
async function* readTakeout(file: SourceFile, context: ReadContext): AsyncGenerator<Made> {
  let titles: string[] = [];
  for await (const one of elementsOf(textOf(file))) {
    if ("text" in one) titles.push(textIn(fieldsOf(parsed(one.text))["title"]) ?? "");
    // The word that all titles begin with shows early.
    if (titles.length >= 1000) break;
  }
  const prefix = sharedWord(titles);
  titles = [];
  yield* eachOf(file, context, function* (value): Generator<Made> {
    const { title, time, safeHtmlItem } = fieldsOf(value);
    const whole = textIn(title) ?? "";
    const about = { raw: without(value, "safeHtmlItem", "title", "time"), title: whole };
    const when = timeIn(time, context);
    const question = whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
    const at = String(time ?? "");
    const key = (part: string) => ({ key: [at, part], isOfText: true });
    yield { identity: key("question"), voice: "said", content: question, ...when, about };
    for (const item of listOf(safeHtmlItem)) {
      const content = textOfHtml(textIn(fieldsOf(item)["html"]) ?? "");
      yield { identity: key("answer"), voice: "answer", content, ...when, about: { title: whole } };
    }
  });
}

/** The words that all titles begin with: `Prompted `, in the language of the account. */
function sharedWord(titles: readonly string[]): string {
  const [first = "", ...others] = titles.filter((title) => title !== "");
  if (others.length === 0) return /^Prompted\s/.exec(first)?.[0] ?? "";
  let length = first.length;
  for (const other of others) {
    let same = 0;
    while (same < length && other[same] === first[same]) same += 1;
    length = same;
  }
  return first.slice(0, first.lastIndexOf(" ", length - 1) + 1);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

export function textOfHtml(html: string): string {
  return html
    .replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/gi, "")
    .replace(/<li\b[^>]*>/gi, "\n- ")
    .replace(/<br\s*\/?>|<\/(?:p|div|h[1-6]|li|tr|pre|ul|ol|table)>/gi, "\n")
    .replace(/<\/t[dh]>/gi, "\t")
    .replace(/<[^>]*>/g, "")
    .replace(/&(#x?[0-9a-f]+|\w+);/gi, (whole, name: string) => {
      if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replace(/[ \t]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

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
