import { checkTurn } from "../../src/domain/extraction/check-turn.ts";
import { languageOf } from "../../src/domain/extraction/language.ts";
import { isFirstPerson } from "../../src/domain/extraction/personal.ts";
import { type DropCounts, DropTally } from "../../src/domain/extraction/reasons.ts";
import type { ExtractedClaim } from "../../src/domain/extraction/result.ts";
import type { Turn } from "../../src/domain/extraction/turn.ts";
import { askTurns } from "../../src/engine/extract/ask-turns.ts";
import { createExtractor } from "../../src/engine/extract/extractor.ts";
import { batchRequest } from "../../src/engine/extract/request.ts";
import type { TextModel } from "../../src/ports/language-model.ts";
import { turnOf } from "./extraction-score.ts";
import type { Conversation, SetClaim, SetTurn } from "./extraction-set.ts";

/** What a model and the checks make of conversations. */
export type Measured = {
  readonly turns: number;
  readonly failedTurns: number;
  /** Claims that are believed, and those of them that the set has. */
  readonly kept: number;
  readonly right: number;
  /** Claims of the set, and those of them that are found. */
  readonly expected: number;
  readonly found: number;
  /** Values that are retired and that the set does not give up. */
  readonly wrongRetirements: number;
  /** Claims said of the speaker that the set says of somebody else. */
  readonly wrongOwner: number;
  readonly drops: DropCounts;
  /** Characters of prompts and answers by four: near enough to compare models. */
  readonly tokens: number;
  readonly calls: number;
  readonly wrongClaims: readonly string[];
};

const CHARACTERS_PER_TOKEN = 4;
const TIMEOUT_MS = 180_000;

/** Asks a model about conversations, one request for each, and counts. */
export async function askAbout(
  model: TextModel,
  conversations: readonly Conversation[],
): Promise<Measured> {
  const tally = new DropTally();
  const sums = {
    turns: 0,
    failedTurns: 0,
    kept: 0,
    right: 0,
    expected: 0,
    found: 0,
    wrongRetirements: 0,
    wrongOwner: 0,
    tokens: 0,
    calls: 0,
  };
  const wrongClaims: string[] = [];
  const counted: TextModel = {
    ...model,
    ask: (request, read) =>
      model.ask(request, (text) => {
        sums.calls += 1;
        sums.tokens += text.length / CHARACTERS_PER_TOKEN;
        return read(text);
      }),
  };
  const limits = {
    timeoutMs: TIMEOUT_MS,
    batchTimeoutMs: TIMEOUT_MS,
    maxRetries: 2,
    temperature: 0,
  };
  const extractor = createExtractor(counted, limits);
  for (const conversation of conversations) {
    const around = languageOf(conversation.turns.map(({ content }) => content).join("\n"));
    const asked = conversation.turns.map((said) => ({ said, turn: turnOf(said, around) }));
    const failed = await askTurns(
      asked,
      (some) => {
        const request = batchRequest(some.map(({ turn }) => turn));
        sums.tokens += (request.system.length + request.prompt.length) / CHARACTERS_PER_TOKEN;
        return extractor.several(some.map(({ turn }) => turn));
      },
      {
        save: async ({ results }) => {
          for (const [{ said, turn }, { result, tally: read }] of results) {
            tally.addAll(read.counts);
            const checked = checkTurn(result, turn);
            tally.addAll(checked.tally.counts);
            count(sums, wrongClaims, { said, turn, claims: checked.result.claims });
          }
        },
      },
    );
    sums.turns += asked.length;
    sums.failedTurns += failed.flatMap(({ turns }) => turns).length;
    sums.expected += conversation.turns.flatMap(({ right }) => right).length;
  }
  return { ...sums, drops: tally.counts, wrongClaims };
}

function count(
  sums: {
    kept: number;
    right: number;
    found: number;
    wrongRetirements: number;
    wrongOwner: number;
  },
  wrongClaims: string[],
  { said, claims }: { said: SetTurn; turn: Turn; claims: readonly ExtractedClaim[] },
): void {
  sums.kept += claims.length;
  sums.found += said.right.filter((right) => claims.some((claim) => isSame(claim, right))).length;
  for (const claim of claims) {
    const same = said.right.find((right) => isSame(claim, right));
    const { subject, predicate, object, polarity, replacesObject } = claim;
    if (same !== undefined) sums.right += 1;
    else
      wrongClaims.push(`${subject} | ${predicate} | ${object} (${polarity}) of "${said.content}"`);
    if (replacesObject !== undefined && !isText(replacesObject, same?.replacesObject ?? "")) {
      sums.wrongRetirements += 1;
    }
    const isOther = said.right.some(
      (right) => isText(right.object, object) && !isFirstPerson(right.subject),
    );
    if (same === undefined && isFirstPerson(subject) && isOther) sums.wrongOwner += 1;
  }
}

function isSame(claim: ExtractedClaim, right: SetClaim): boolean {
  const isSelf = isFirstPerson(claim.subject) && isFirstPerson(right.subject);
  return (
    (isSelf || isText(claim.subject, right.subject)) &&
    isText(claim.object, right.object) &&
    claim.polarity === right.polarity
  );
}

/** Whether two texts are the same but for their ends: models copy more or fewer words. */
function isText(one: string, other: string): boolean {
  const [a, b] = [one.trim().toLowerCase(), other.trim().toLowerCase()];
  return a === b || (b !== "" && a.includes(b)) || (a !== "" && b.includes(a));
}
