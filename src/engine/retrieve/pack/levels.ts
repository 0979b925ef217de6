import { REPRESENTATION_LEVELS, type RepresentationLevel } from "../../../domain/enums.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { ContextFormat } from "../../../domain/records/packing.ts";

export type LevelRules = {
  readonly format: ContextFormat;
  /** The lowest level that may be shown. */
  readonly minFidelity: RepresentationLevel;
};

/** The levels at which a record still shows what the memory says. */
const LEVELS_WITH_TEXT: readonly RepresentationLevel[] = ["full", "prose", "structured"];
const READER_LEVELS: readonly RepresentationLevel[] = ["full", "prose"];

/** Whether a record at this level shows what the memory says. */
export function showsText(level: RepresentationLevel): boolean {
  return LEVELS_WITH_TEXT.includes(level);
}

/** Whether a record without its text is useless, so that blank texts are left out as well. */
export function requiresText({ format, minFidelity }: LevelRules): boolean {
  return format === "reader" || showsText(minFidelity);
}

/** What may be shown of a memory, from the highest level down; equal texts are listed once. */
export function levelTexts(
  node: MemoryNode,
  rules: LevelRules,
): readonly { readonly level: RepresentationLevel; readonly text: string }[] {
  const lowest = REPRESENTATION_LEVELS.indexOf(rules.minFidelity);
  const allowed = rules.format === "reader" ? READER_LEVELS : REPRESENTATION_LEVELS;
  const texts: { level: RepresentationLevel; text: string }[] = [];
  for (const level of REPRESENTATION_LEVELS.slice(0, lowest + 1)) {
    if (!allowed.includes(level)) continue;
    const text = textAt(node, level);
    if (texts.some((higher) => higher.text === text)) continue;
    texts.push({ level, text });
  }
  return texts;
}

function textAt(node: MemoryNode, level: RepresentationLevel): string {
  switch (level) {
    case "full":
    case "prose":
      return node.content;
    case "structured":
      return `type: ${node.nodeType}, content: ${node.content}`;
    case "key_value":
      return `id: ${node.id}, type: ${node.nodeType}, confidence: ${node.confidence}`;
    case "reference":
      return `${node.nodeType}:${node.id}`;
  }
}
