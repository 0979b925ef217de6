import type { MemoryNode } from "../../../domain/node.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { TextWindow } from "../core/cut-texts.ts";
import {
  complete,
  counted,
  json,
  moment,
  name,
  oneLine,
  rounded,
  TEXT_HEADING,
} from "../core/tool-text.ts";

/** Code points of the name of a conversation. */
const SESSION_CHARS = 200;

/** A complete memory; its text comes last, so that nothing in it can be taken for a fact about it. */
export function tellNode({ item: node, told }: TextWindow<MemoryNode>): string {
  const { metadata, evidenceRefs } = node;
  const facts = [
    `${node.nodeType} ${node.id}, ${node.lifecycleState}, ${node.scope}, of ${name(node.userId)}`,
    `${node.epistemicType}, ${node.sourceType}, confidence ${rounded(node.confidence)}, salience ${rounded(node.salience)}`,
    `stored ${moment(node.createdAt)}, changed ${moment(node.updatedAt)}, valid from ${moment(node.validFrom)}${node.validTo === undefined ? "" : ` until ${moment(node.validTo)}`}`,
    node.eventTime === undefined ? undefined : `happened ${moment(node.eventTime)}`,
    node.ttlDays === undefined ? undefined : `kept for ${counted(node.ttlDays, "day", "days")}`,
    node.supersededBy === undefined ? undefined : `superseded by ${node.supersededBy}`,
    sessionLine(node.sessionId),
    evidenceRefs.length === 0 ? undefined : `evidence ${evidenceRefs.join(", ")}`,
    metadataLine(metadata),
    ...Object.entries(told).map(([member, value]) => `${member} ${value}`),
    TEXT_HEADING,
    complete(node.content),
  ];
  return facts.filter((fact) => fact !== undefined).join("\n");
}

function sessionLine(sessionId: string | undefined): string | undefined {
  return sessionId === undefined ? undefined : `session ${json(oneLine(sessionId, SESSION_CHARS))}`;
}

function metadataLine(metadata: JsonObject | undefined): string | undefined {
  return metadata === undefined ? undefined : `metadata ${json(metadata)}`;
}
