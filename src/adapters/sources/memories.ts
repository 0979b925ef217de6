import { EDGE_TYPES, NODE_TYPES, SCOPES } from "../../domain/enums.ts";
import type { SourceEdge } from "../../ports/sources.ts";
import type { SourceFile } from "./files.ts";
import { elementsOf, linesOf, PieceError, textOf } from "./pieces.ts";
import {
  eachOf,
  type Fields,
  fieldsOf,
  leftOut,
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

/** What other memories keep as JSON. Their systems made it up, so it is never called the user's word. */

const serverMemory: SourceRow = {
  name: "server-memory",
  title: "Knowledge graph of server-memory",
  isLossless: true,
  recognises: ({ text }) =>
    /^\ufeff?\s*\{[^\n]*"type":\s*"(?:entity|relation)"/.test(text) &&
    /"(?:entityType|relationType|relation_type)"/.test(text),
  read: readGraph,
};

const mem0: SourceRow = {
  name: "mem0",
  title: "Memories of mem0",
  isLossless: false,
  recognises: ({ members }) =>
    (members.has("memory") && members.has("id") && members.has("created_at")) ||
    (members.has("results[].memory") && members.has("results[].id")),
  read: readMem0List,
};

const original: SourceRow = {
  name: "prme",
  title: "Export of a memory as one JSON object",
  isLossless: false,
  recognises: ({ first, members }) =>
    first === "{" && (members.has("nodes[].node_type") || members.has("events[].content_hash")),
  read: readOriginal,
};

export const MEMORIES: readonly SourceRow[] = [serverMemory, mem0, original];

/** Entities, their observations and relations: no times and no ids. */
async function* readGraph(file: SourceFile, { onBytes }: ReadContext): AsyncGenerator<Made> {
  for await (const line of linesOf(textOf(file, onBytes))) {
    const value = "text" in line ? parsed(line.text) : undefined;
    if (value === undefined) {
      yield { unreadable: `line ${line.number} is not JSON, or too long` };
      continue;
    }
    const one = fieldsOf(value);
    if (one["type"] === "entity") yield* readEntity(one);
    else if (one["type"] === "relation") yield readRelation(one);
    else yield leftOut("unknown lines");
  }
}

function* readEntity(one: Fields): Generator<Made> {
  const name = textIn(one["name"]) ?? textIn(one["entityName"]) ?? "";
  const type = textIn(one["entityType"]) ?? textIn(one["entity_type"]) ?? null;
  const known = ["type", "name", "entityName", "entityType", "entity_type", "observations"];
  yield {
    identity: { key: ["entity", name], isOfText: true },
    voice: "derived",
    content: name,
    nodeType: "entity",
    about: { record: "entity", entity: name, entity_type: type, ...raw(without(one, ...known)) },
    label: `entity:${name}`,
  };
  for (const [at, observation] of listOf(one["observations"]).entries()) {
    const label = `observation:${name}:${at}`;
    yield {
      identity: { key: ["observation", name], isOfText: true },
      voice: "derived",
      content: String(observation),
      nodeType: "fact",
      about: { record: "observation", entity: name, position: at + 1 },
      label,
      edges: [{ edgeType: "has_fact", from: `entity:${name}`, to: label }],
    };
  }
}

function readRelation(one: Fields): Made {
  const from = textIn(one["from"]) ?? textIn(one["from_id"]) ?? "";
  const to = textIn(one["to"]) ?? textIn(one["to_id"]) ?? "";
  const type = textIn(one["relationType"]) ?? textIn(one["relation_type"]) ?? "";
  const known = ["type", "from", "to", "from_id", "to_id", "relationType", "relation_type"];
  const edge: SourceEdge = {
    edgeType: "relates_to",
    from: `entity:${from}`,
    to: `entity:${to}`,
    metadata: { relation_type: type },
  };
  return {
    identity: { key: ["relation", from, type, to], isOfText: false },
    voice: "derived",
    content: `${from} ${type} ${to}`,
    nodeType: "fact",
    about: { record: "relation", from, to, relation_type: type, ...raw(without(one, ...known)) },
    label: `relation:${from}:${type}:${to}`,
    edges: [edge],
  };
}

/** A list, or an object that has it. */
async function* readMem0List(file: SourceFile, context: ReadContext): AsyncGenerator<Made> {
  let member: string | undefined;
  for await (const text of textOf(file)) {
    if (text.trim() === "") continue;
    member = text.trimStart().startsWith("{") ? "results" : undefined;
    break;
  }
  yield* eachOf(file, context, (one) => readMem0(fieldsOf(one), context), member);
}

function* readMem0(one: Fields, context: ReadContext): Generator<Made> {
  const id = textIn(one["id"]);
  const content = textIn(one["memory"]) ?? textIn(one["text"]) ?? "";
  if (id === undefined) return yield leftOut("without an id");
  yield {
    identity: { id: [id] },
    voice: "derived",
    content,
    nodeType: "fact",
    sessionId: textIn(one["run_id"]),
    ...timeIn(one["updated_at"] ?? one["created_at"], context),
    about: { native_id: id, raw: without(one, "id", "memory", "run_id") },
  };
}

/**
 * Events and memories, which keep who said them, and edges. The event of a memory with the same text is left out: it would say everything
 * twice.
 */
async function* readOriginal(file: SourceFile, context: ReadContext): AsyncGenerator<Made> {
  const told = new Set<string>();
  for await (const one of partsOf(file, "nodes")) {
    for (const event of listOf(one["evidence_refs"])) told.add(sameText(event, one["content"]));
  }
  for await (const one of partsOf(file, "events")) {
    if (told.has(sameText(one["id"], one["content"]))) yield leftOut("said by a memory");
    else {
      const voice = VOICE_OF_ROLE[String(one["role"])] ?? "derived";
      yield { ...ofOriginal("events", one, context), voice };
    }
  }
  for await (const one of partsOf(file, "nodes", context.onBytes)) yield readNode(one, context);
  for await (const one of partsOf(file, "edges")) {
    const edgeType = EDGE_TYPES.find((type) => type === one["edge_type"]);
    if (edgeType === undefined) yield leftOut("edges of unknown types");
    else {
      const [from, to] = [`nodes:${String(one["source_id"])}`, `nodes:${String(one["target_id"])}`];
      yield { edge: { edgeType, from, to } };
    }
  }
}

function sameText(event: unknown, content: unknown): string {
  return Bun.hash(`${String(event)} ${String(content)}`).toString(36);
}

/** The elements of a list of the export, which need not have it. */
async function* partsOf(
  file: SourceFile,
  member: string,
  onBytes?: ReadContext["onBytes"],
): AsyncGenerator<Fields> {
  const elements = elementsOf(textOf(file, onBytes), member);
  try {
    for await (const one of elements) {
      const value = "text" in one ? parsed(one.text) : undefined;
      if (value === undefined) throw new PieceError(`entry ${one.number} of ${member} is not JSON`);
      yield fieldsOf(value);
    }
  } catch (error) {
    if (member === "nodes" || !(error instanceof PieceError)) throw error;
  }
}

const VOICE_OF_ROLE: Readonly<Record<string, "said" | "other" | "answer" | "tool">> = {
  user: "said",
  human: "said",
  participant: "other",
  assistant: "answer",
  tool: "tool",
};

function ofOriginal(part: string, one: Fields, context: ReadContext) {
  const id = textIn(one["id"]) ?? "";
  return {
    identity: { id: [part, id] },
    content: textIn(one["content"]) ?? "",
    sessionId: textIn(one["session_id"]),
    scope: SCOPES.find((scope) => scope === one["scope"]),
    ...timeIn(one["event_time"] ?? one["timestamp"] ?? one["created_at"], context),
    about: {
      record: part,
      native_id: id,
      raw: without(one, "id", "content", "session_id", "scope"),
    },
    label: `${part}:${id}`,
  };
}

const RETIRED: ReadonlySet<unknown> = new Set(["archived", "superseded", "deprecated"]);

function readNode(one: Fields, context: ReadContext): Made {
  if (RETIRED.has(one["lifecycle_state"])) return leftOut("retired");
  const { source_type: source } = one;
  const voice =
    source === "external_document" ? "document" : source === "user_stated" ? "said" : "derived";
  const nodeType = NODE_TYPES.find((type) => type === one["node_type"]);
  return { ...ofOriginal("nodes", one, context), nodeType, voice };
}
