import { expect } from "bun:test";
import { createRandom, question, sentences } from "../../../scripts/bench/sentences.ts";
import { readChanges, readLanguages, readPairs } from "../../../scripts/quality/sets.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { fromEpochMicros } from "../../../src/lib/instant.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import type { Embedder } from "../../../src/ports/models.ts";
import type { Clock, IdSource } from "../../../src/ports/system.ts";

/** `TEST_DATABASE=all` stores and asks more. */
const ASKS_ALL = process.env["TEST_DATABASE"] === "all";
const TURNS = ASKS_ALL ? 150 : 60;
const PAIRS = [...readChanges(), ...readPairs()].filter(
  (_, index) => index % (ASKS_ALL ? 2 : 6) === 0,
);
export const QUESTIONS = ASKS_ALL ? 500 : 40;
const USER = { userId: "ada" } as const;

/** Ascending ids, the same in both engines. */
export function countedIds(): IdSource {
  let count = 0;
  return {
    next: () => {
      count += 1;
      return asUuid(`01900000-0000-7000-8000-${count.toString(16).padStart(12, "0")}`);
    },
  };
}

/** A clock that stands still until it is set: two stores may ask it differently often. */
export function stoppedClock(): Clock & { readonly at: (minute: number) => void } {
  let now = minuteOf(0);
  return {
    now: () => fromEpochMicros(now * 1000),
    at: (minute) => {
      now = minuteOf(minute);
    },
  };
}

const minuteOf = (minute: number): number => Date.UTC(2026, 2, 18) + minute * 60_000;
/** When the turns and some pairs had been told, before any was retired. */
const AS_OF = TURNS + 41;

/** The model of the program, asked once for each text. */
export function remembering({ identity, embedDocument, embedQuery, close }: Embedder): Embedder {
  const known = new Map<string, Promise<Float32Array>>();
  const once =
    (kind: string, embed: (text: string) => Promise<Float32Array>) =>
    (text: string): Promise<Float32Array> => {
      const name = `${kind} ${text}`;
      const found = known.get(name) ?? embed(text);
      known.set(name, found);
      return found;
    };
  return {
    identity,
    embedDocument: once("document", (text) => embedDocument(text)),
    embedQuery: once("query", (text) => embedQuery(text)),
    close,
  };
}

/** An engine whose clock is set. */
export type Clocked = { readonly engine: MemoryEngine; readonly at: (minute: number) => void };

/** Stores turns of conversations, memories that change, and texts in many languages; then archives some of the turns. */
export async function fill({ engine, at }: Clocked): Promise<void> {
  let minute = 0;
  const store = async (memory: Parameters<MemoryEngine["store"]>[0]) => {
    minute += 1;
    at(minute);
    return await engine.storeWithReceipt(memory);
  };
  const left: string[] = [];
  for (const [index, content] of sentences(createRandom(14), 0, TURNS).entries()) {
    const sessionId = `session-${Math.floor(index / 20)}`;
    const role = index % 2 === 0 ? "user" : "assistant";
    const { nodeId } = await store({ ...USER, content, sessionId, role });
    if (index % 15 === 0) left.push(nodeId);
  }
  for (const [index, { first, second }] of PAIRS.entries()) {
    const { node } = await store({ ...USER, content: first });
    await store({ ...USER, content: second, ...(index % 3 === 0 && { supersedes: [node.id] }) });
  }
  for (const { content } of readLanguages()) await store({ ...USER, content });
  for (const nodeId of left) await engine.archive(nodeId, USER);
}

function questions(): readonly string[] {
  const random = createRandom(41);
  const asked = [...PAIRS, ...readLanguages()].map((pair) => pair.question);
  const generated = Array.from({ length: QUESTIONS }, () => question(random));
  return [...asked.slice(0, QUESTIONS / 2), ...generated].slice(0, QUESTIONS);
}

/** The ids and the scores of the answers to many questions. */
export async function answersOf({ engine, at }: Clocked) {
  const answers: { readonly ids: readonly string[]; readonly scores: readonly number[] }[] = [];
  for (const [place, query] of questions().entries()) {
    at(100_000);
    const asOf = place % 20 === 7 ? fromEpochMicros(minuteOf(AS_OF) * 1000) : undefined;
    const { results } = await engine.retrieve({ ...USER, query, asOf });
    answers.push({
      ids: results.map(({ node }) => node.id),
      scores: results.flatMap(({ compositeScore, semanticScore, lexicalScore }) => [
        compositeScore,
        semanticScore ?? -1,
        lexicalScore ?? -1,
      ]),
    });
  }
  return answers;
}

type Answers = Awaited<ReturnType<typeof answersOf>>;

/** A server adds up the products of two vectors in another order than a pack. */
const ROUNDING = 1e-6;

/**
 * Whether the same was found in the same order, with scores that differ by no more than rounding. Where two cosines are as near to
 * each other as that, a fusion by ranks may give either the higher one.
 */
export function expectSame(found: Answers, expected: Answers): void {
  expect(found.map(({ ids }) => ids)).toEqual(expected.map(({ ids }) => ids));
  const all = expected.flatMap(({ scores }, place) =>
    scores.map((score, at) => {
      const isComposite = at % 3 === 0;
      const difference = Math.abs(score - (found[place]?.scores[at] ?? 0));
      return { difference, mayDiffer: isComposite && hasTie(scores) };
    }),
  );
  expect(all.length).toBeGreaterThan(QUESTIONS);
  const bound = all.filter(({ mayDiffer }) => !mayDiffer).map(({ difference }) => difference);
  expect(bound.length).toBeGreaterThan(all.length / 2);
  expect(Math.max(...bound)).toBeLessThan(ROUNDING);
}

/** Whether two different memories of an answer have cosines between which rounding decides. */
function hasTie(scores: readonly number[]): boolean {
  const cosines = scores.filter((cosine, at) => at % 3 === 1 && cosine >= 0).sort();
  return cosines.some((cosine, at) => cosine - (cosines[at - 1] ?? -1) < ROUNDING);
}
