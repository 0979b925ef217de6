import { normalForm } from "../lib/text.ts";
import type { Uuid } from "../lib/uuid.ts";
import { questionTerms } from "./lexical-analysis.ts";
import { type MemoryNode, wordingOf } from "./node.ts";
import { readStatement, saysChange, sharedPart } from "./replacement.ts";
import { storedSpeaker } from "./speaker.ts";

/**
 * Which memories a new one may replace. The numbers were tuned with `scripts/quality/near.ts`, whose figures are in
 * docs/retrieval.md: replaced memories are seldom less near, and unrelated ones seldom this near.
 */

/** How much the share of common words adds to the cosine of the two texts. */
const WORDS_SHARE = 0.2;
/** The lowest sum of cosine and words. */
const NEAR_FROM = 0.75;
/**
 * The same if the new text says that something has changed: a needless mention costs three lines, a missed one leaves an outdated
 * memory.
 */
const NEAR_OF_CHANGE_FROM = 0.68;

/**
 * How near memories are to a new one: a function of another memory and the cosine of their texts, which returns undefined if the
 * new one cannot replace it.
 */
export function nearnessTo(
  fresh: MemoryNode,
): (known: MemoryNode, cosine: number) => number | undefined {
  const words = wordsOf(fresh);
  const shares = new Map<Uuid, number>();
  const statement = readStatement(fresh.content);
  return (known, cosine) => {
    if (cosine + WORDS_SHARE < NEAR_OF_CHANGE_FROM) return undefined;
    if (known.id === fresh.id || known.scope !== fresh.scope || isOfAnother(fresh, known)) {
      return undefined;
    }
    const shared = shares.get(known.id) ?? sharedPart(words, wordsOf(known));
    shares.set(known.id, shared);
    const near = cosine + WORDS_SHARE * shared;
    if (near >= NEAR_FROM) return near;
    return near >= NEAR_OF_CHANGE_FROM && isChangeOf(statement, known) ? near : undefined;
  };
}

function wordsOf(node: MemoryNode): ReadonlySet<string> {
  return new Set(questionTerms(wordingOf(node)).map(({ term }) => term));
}

function isChangeOf(newer: ReturnType<typeof readStatement>, known: MemoryNode): boolean {
  const older = readStatement(known.content);
  return newer !== undefined && older !== undefined && saysChange(newer, older);
}

/** Whether two texts are the same, apart from white space at their ends and composed characters. */
export function isSameText(one: string, other: string): boolean {
  return one === other || normalForm("NFC", one).trim() === normalForm("NFC", other).trim();
}

/** Whether the known memory was said by somebody else, or joins turns that are stored themselves. */
function isOfAnother(fresh: MemoryNode, known: MemoryNode): boolean {
  if (known.metadata?.["qa_pair"] === true) return true;
  const [speaker, other] = [storedSpeaker(fresh.metadata), storedSpeaker(known.metadata)];
  if (speaker !== undefined && other !== undefined && speaker !== other) return true;
  // A question in a conversation is near to its answer.
  const isConversation = fresh.sessionId !== undefined && fresh.sessionId === known.sessionId;
  return isConversation && fresh.sourceType !== known.sourceType;
}
