import { checkTurn } from "../../src/domain/extraction/check-turn.ts";
import { type CueLanguage, languageOf } from "../../src/domain/extraction/cues.ts";
import type { Turn } from "../../src/domain/extraction/passages.ts";
import { readBatchAnswer } from "../../src/domain/extraction/read-answer.ts";
import type { DropTally, ExtractionResult } from "../../src/domain/extraction/result.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { answerOf, type Planted, plant } from "./extraction-flaws.ts";
import type { Conversation, SetTurn } from "./extraction-set.ts";

/** How one planted claim fared. */
export type Verdict = {
  readonly conversation: string;
  readonly language: string;
  readonly planted: Planted;
  readonly isKept: boolean;
  /** Whether what it says that it replaces was kept too. */
  readonly hasReplaced: boolean;
  /** Why not, if it is not. */
  readonly reasons: readonly string[];
};

/** A turn of the set as the checks see it. */
export function turnOf({ role, speaker, content }: SetTurn, around: CueLanguage): Turn {
  return {
    content,
    role,
    speaker,
    isOwner: false,
    at: asInstant("2024-05-10T09:00:00.000000Z"),
    language: languageOf(content, around),
  };
}

/**
 * Puts each planted claim through the whole path alone: as the text of an answer to all turns of its conversation, which is read, and held
 * against its turn. So no mistake hides behind another one.
 */
export function judge(
  conversation: Conversation,
  all: readonly Conversation[],
): readonly Verdict[] {
  const planted = plant(conversation, all);
  const around = languageOf(conversation.turns.map(({ content }) => content).join("\n"));
  return planted.flatMap(({ turn, claims }, index) =>
    claims.map((candidate) => {
      const answer = answerOf(
        planted.map((_, at) => ({ claims: at === index ? [candidate.claim] : [] })),
      );
      const { result, tally } = resultOf(answer, planted.length, index + 1, turnOf(turn, around));
      const kept = result.claims.filter(
        (claim) =>
          claim.subject === candidate.claim.subject &&
          claim.predicate === candidate.claim.predicate &&
          claim.object === candidate.claim.object &&
          candidate.isKept(claim),
      );
      return {
        conversation: conversation.name,
        language: conversation.language,
        planted: candidate,
        isKept: kept.length > 0,
        hasReplaced: kept.some(({ replacesObject }) => replacesObject !== undefined),
        reasons: Object.keys(tally.counts),
      };
    }),
  );
}

/** What is believed of one turn of an answer. */
function resultOf(
  answer: string,
  count: number,
  index: number,
  turn: Turn,
): { readonly result: ExtractionResult; readonly tally: DropTally } {
  const read = readBatchAnswer(answer, count)?.turns.get(index);
  if (read === undefined) throw new Error("the set does not make a readable answer");
  const checked = checkTurn(read.result, turn);
  checked.tally.addAll(read.tally.counts);
  return checked;
}

/** Rounds of a measurement, after two that warm up. */
const ROUNDS = 10;

/** Milliseconds of processor time to read and check what a turn states, of answers with what is right and what the set has as wrong. */
export function processorMsPerTurn(conversations: readonly Conversation[]): number {
  const answered = conversations.map(({ turns }) => ({
    turns: turns.map((turn) => turnOf(turn, "en")),
    answer: answerOf(
      turns.map(({ right, wrong }) => ({ claims: [...right, ...wrong.map(({ claim }) => claim)] })),
    ),
  }));
  const round = (): number => {
    let checked = 0;
    for (const { turns, answer } of answered) {
      const read = readBatchAnswer(answer, turns.length);
      for (const [index, turn] of turns.entries()) {
        const found = read?.turns.get(index + 1);
        if (found === undefined) continue;
        checkTurn(found.result, turn);
        checked += 1;
      }
    }
    return checked;
  };
  round();
  round();
  const before = process.cpuUsage();
  let turns = 0;
  for (let at = 0; at < ROUNDS; at += 1) turns += round();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / turns;
}
