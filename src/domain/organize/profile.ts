import { compareUnits } from "../../lib/text.ts";
import { type MemoryNode, statedTime } from "../node.ts";
import { sourceLine } from "./summary.ts";

/** Words that begin sentences and notes; names of nobody. */
const NO_NAMES: ReadonlySet<string> = new Set(
  `This That What When Where How Who Why Does Did Has Have Was Will Can Could Would Should May Also Just Very Really Some Most Each
  Every After Before Since Until About From Into Over With Note Image Observation Known Facts`.split(
    /\s+/,
  ),
);
const CAPITALISED = /\b[A-Z][a-z]{2,}\b/g;
/** Times that a word is used from which it is taken for a name. */
const USED_FROM = 3;

/** Counts the words of texts that look like names. */
export class NameCounts {
  readonly #counts = new Map<string, number>();

  add(text: string): void {
    for (const [word] of text.matchAll(CAPITALISED)) {
      if (!NO_NAMES.has(word)) this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
    }
  }

  names(): readonly string[] {
    return [...this.#counts].filter(([, count]) => count >= USED_FROM).map(([name]) => name);
  }
}

/** Whether a text has a name as a whole word, in any case. */
export function mentions(name: string): (text: string) => boolean {
  const literal = RegExp.escape(name);
  const whole = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_])${literal}(?![\\p{L}\\p{M}\\p{N}_])`, "iu");
  return (text) => whole.test(text);
}

export type ProfileText = {
  readonly content: string;
  readonly tokens: number;
  readonly sources: readonly MemoryNode[];
};

/**
 * The text of a profile: the memories that mention a name, in the order of their times, as long as the whole fits; one that does not is
 * left out, and a later one may. Undefined if none fits.
 * @param count tokens of a text
 */
export function profileText(
  name: string,
  nodes: readonly MemoryNode[],
  maxTokens: number,
  count: (text: string) => number,
): ProfileText | undefined {
  const inOrder = [...nodes].sort(
    (a, b) => compareUnits(statedTime(a), statedTime(b)) || compareUnits(a.id, b.id),
  );
  let content = `[profile of ${name}]\nThat these memories are about ${name} is inferred from the name.`;
  let tokens = 0;
  const sources: MemoryNode[] = [];
  for (const node of inOrder) {
    const longer = `${content}\n\n[${sourceLine(node)}; recorded_at ${node.createdAt}]\n${node.content}`;
    const needed = count(longer);
    if (needed > maxTokens) continue;
    content = longer;
    tokens = needed;
    sources.push(node);
  }
  return sources.length === 0 ? undefined : { content, tokens, sources };
}
