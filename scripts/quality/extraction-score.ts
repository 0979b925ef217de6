import { checkTurn } from "../../src/domain/extraction/check-turn.ts";
import { type CueLanguage, languageOf } from "../../src/domain/extraction/language.ts";
import { readBatchAnswer } from "../../src/domain/extraction/read-answer.ts";
import type { DropTally } from "../../src/domain/extraction/reasons.ts";
import type { ExtractionResult } from "../../src/domain/extraction/result.ts";
import type { Turn } from "../../src/domain/extraction/turn.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { answerOf, type Planted, plant } from "./extraction-flaws.ts";
import type { Conversation, SetTurn } from "./extraction-set.ts";

/** How one planted claim fared. */
export type Verdict = {
  readonly conversation: string;
  readonly language: string;
  readonly planted: Planted;
  readonly isKept: boolean;
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
      return {
        conversation: conversation.name,
        language: conversation.language,
        planted: candidate,
        isKept: result.claims.some(
          (claim) =>
            claim.subject === candidate.claim.subject &&
            claim.predicate === candidate.claim.predicate &&
            claim.object === candidate.claim.object &&
            candidate.isKept(claim),
        ),
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
