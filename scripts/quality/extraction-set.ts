import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The conversations in data/extraction/, one block each:
 *
 *     == NAME KIND OF TALK
 *     ROLE (SPEAKER): TEXT                         one turn; \n in it is a line break
 *     + SUBJECT | PREDICATE | OBJECT | OPTION ...  a claim that the turn above states
 *     - WHY: SUBJECT | PREDICATE | OBJECT | ...    a claim that it does not state, as models make it up
 *
 * Options: `neg` (denied), `upd` (an update), `rep=` (the value that it replaces), `t=` (words about time), `type=` and `cond=` (kind of
 * knowledge, condition), `fact=` (preference or decision), `q=VALUE/UNIT/WORDS` (amount), `quote=` (else the sentence that names the
 * object, and the subject if one does).
 */
export type SetClaim = {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly polarity: "positive" | "negative";
  readonly epistemicType: string;
  readonly condition: string | null;
  readonly factType: string;
  readonly temporalRef: string | null;
  readonly temporalIntent: string | null;
  readonly replacesObject: string | null;
  readonly quantity: {
    readonly value: string;
    readonly unit: string;
    readonly source_text: string;
  } | null;
  readonly quote: string;
};
export type WrongClaim = { readonly why: string; readonly claim: SetClaim };
export type SetTurn = {
  readonly role: string;
  readonly speaker: string | undefined;
  readonly content: string;
  readonly right: readonly SetClaim[];
  readonly wrong: readonly WrongClaim[];
};
export type Conversation = {
  readonly name: string;
  readonly language: string;
  readonly kind: string;
  readonly turns: readonly SetTurn[];
};

const FILES = ["english.txt", "german.txt", "spanish.txt"];
const TURN = /^(user|human|assistant|tool|system|participant)(?: \(([^)]+)\))?: (.*)$/;

/** The conversations on which the rules were fixed. */
export function readConversations(): readonly Conversation[] {
  return conversationsIn(FILES);
}

/** Conversations that were written after the rules. */
export function readSecondSet(): readonly Conversation[] {
  return conversationsIn(["second.txt"]);
}

/** Longer and messier conversations, which show where the rules end. */
export function readThirdSet(): readonly Conversation[] {
  return conversationsIn(["third.txt"]);
}

/** Other kinds of talk, written after all of them in one go and measured before any rule was changed for it. */
export function readFourthSet(): readonly Conversation[] {
  return conversationsIn(["fourth.txt"]);
}

/** Conversations on which no rule was mended. */
export function readFifthSet(): readonly Conversation[] {
  return conversationsIn(["fifth.txt"]);
}

/** Verbs that deny by themselves, requests to remember, and words that replace. */
export function readSixthSet(): readonly Conversation[] {
  return conversationsIn(["sixth.txt"]);
}

function conversationsIn(files: readonly string[]): readonly Conversation[] {
  return files.flatMap((file) => {
    const text = readFileSync(join(import.meta.dir, "data/extraction", file), "utf8");
    return text.split(/^== /m).slice(1).map(conversationOf);
  });
}

type OpenTurn = Omit<SetTurn, "right" | "wrong"> & {
  readonly right: SetClaim[];
  readonly wrong: WrongClaim[];
};

function conversationOf(block: string): Conversation {
  const [title = "", ...lines] = block.trim().split("\n");
  const [name = "", ...kind] = title.split(" ");
  const turns: OpenTurn[] = [];
  for (const line of lines) {
    const turn = TURN.exec(line);
    const open = turns.at(-1);
    if (turn !== null) {
      const content = (turn[3] ?? "").replaceAll("\\n", "\n");
      turns.push({ role: turn[1] ?? "", speaker: turn[2], content, right: [], wrong: [] });
    } else if (open !== undefined && line.startsWith("+ ")) {
      open.right.push(claimOf(line.slice(2), open.content));
    } else if (open !== undefined && line.startsWith("- ")) {
      const [why = "", rest = ""] = splitOnce(line.slice(2), ": ");
      open.wrong.push({ why, claim: claimOf(rest, open.content) });
    } else {
      throw new Error(`${name}: cannot read ${line}`);
    }
  }
  return { name, language: name.slice(0, 2), kind: kind.join(" "), turns };
}

function claimOf(line: string, content: string): SetClaim {
  const [subject = "", predicate = "", object = "", ...options] = line.split(" | ");
  const given = new Map(options.map((option) => splitOnce(option, "=")));
  const [value = "", unit = "", words = ""] = (given.get("q") ?? "").split("/");
  return {
    subject,
    predicate,
    object,
    polarity: given.has("neg") ? "negative" : "positive",
    epistemicType: given.get("type") ?? "asserted",
    condition: given.get("cond") ?? null,
    factType: given.get("fact") ?? "fact",
    temporalRef: given.get("t") ?? null,
    temporalIntent: given.has("upd") ? "update" : null,
    replacesObject: given.get("rep") ?? null,
    quantity: given.has("q") ? { value, unit, source_text: words } : null,
    quote: given.get("quote") ?? sentenceWith(content, object, subject),
  };
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** The sentence that names the object; of several, one that names the subject too. */
function sentenceWith(content: string, object: string, subject: string): string {
  const sentences = content.split(/(?<=[.!?]["”]?)\s+/);
  const naming = sentences.filter((sentence) => has(sentence, object));
  return naming.find((sentence) => has(sentence, subject)) ?? naming[0] ?? content;
}

function has(sentence: string, words: string): boolean {
  const at = sentence.toLowerCase().indexOf(words.toLowerCase());
  const around = `${sentence[at - 1] ?? " "}${sentence[at + words.length] ?? " "}`;
  return at !== -1 && (words.length > 2 || !/\p{L}/u.test(around));
}
