import { LIMITS } from "../../../domain/arguments.ts";
import { asBeginning, beginning, wholeOf } from "../../../domain/beginning.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { count, noted, type ObjectView, omitted } from "../../../lib/form.ts";
import type { JsonObject } from "../../../lib/json.ts";

export const contentLength = noted(omitted(count), {
  description: "Length of the whole where content is cut.",
});
export const metadataLength = noted(omitted(count), {
  description: "UTF-16 units of metadata too long for this answer, which is then null.",
});

/**
 * Limits the texts of an answer: the longest are cut, and metadata left out, until all together have at most this many UTF-16 units.
 * @param nodes each as often as the answer has it
 * @returns the memory itself, or its copy with shorter texts
 */
export function textCutter(
  nodes: readonly MemoryNode[],
  maxChars: number,
): (node: MemoryNode) => MemoryNode {
  const sizes = nodes.flatMap(({ content, metadata }) => [content.length, sizeOf(metadata)]);
  const most = longestKept(sizes, maxChars);
  const copies = new Map<MemoryNode, MemoryNode>();
  return (node) => {
    const content = node.content.length > most ? node.content.length : undefined;
    const size = sizeOf(node.metadata);
    const metadata = size > most ? size : undefined;
    if (content === undefined && metadata === undefined) return node;
    const copy = copies.get(node) ?? {
      ...node,
      ...(content !== undefined && { content: beginning(node.content, most) }),
      ...(metadata !== undefined && { metadata: undefined }),
    };
    copies.set(node, copy);
    const known = wholeOf(node);
    return asBeginning(copy, {
      content: known.content ?? content,
      metadata: known.metadata ?? metadata,
    });
  };
}

function sizeOf(metadata: MemoryNode["metadata"]): number {
  return metadata === undefined ? 0 : JSON.stringify(metadata).length;
}

/** The length to which the longest texts are cut so that all fit. */
function longestKept(sizes: readonly number[], maxChars: number): number {
  let room = maxChars;
  if (sizes.reduce((sum, size) => sum + size, 0) <= room) return Number.POSITIVE_INFINITY;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(room / (ascending.length - index));
    if (size > share) return share;
    room -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** UTF-16 units of each text in an answer about one memory or source, for readers other than programs. */
const WINDOW_CHARS = LIMITS.contextTextChars;

type Item = { readonly content: string; readonly metadata: JsonObject | undefined };

/** The shown part of long texts, and members that describe the cut; none if nothing is cut. */
export type TextWindow<T> = {
  readonly item: T;
  readonly told: {
    readonly content_length?: number;
    readonly content_offset?: number;
    /** Where the text goes on. */
    readonly next_offset?: number;
    readonly metadata_length?: number;
  };
};

/** @param from start of the part of the text, in UTF-16 units; default 0 */
export function textWindow<T extends Item>(item: T, from?: number | null): TextWindow<T> {
  const { content, metadata } = item;
  const size = sizeOf(metadata);
  const begin = Math.min(from ?? 0, content.length);
  const shown = beginning(content.slice(begin), WINDOW_CHARS);
  const end = begin + shown.length;
  const isLarge = size > WINDOW_CHARS;
  return {
    item: { ...item, content: shown, ...(isLarge && { metadata: undefined }) },
    told: {
      ...(shown.length < content.length && {
        content_length: content.length,
        content_offset: begin,
      }),
      ...(end < content.length && { next_offset: end }),
      ...(isLarge && { metadata_length: size }),
    },
  };
}

/** Such a part as JSON. */
export function windowJson<T extends Item>(
  form: ObjectView<T>,
  item: T,
  from?: number | null,
): JsonObject {
  const part = textWindow(item, from);
  return { ...form.json(part.item), ...part.told };
}
