import { EXTRACTION_2 } from "../../../src/engine/extract/prompts/extraction-2.ts";
import {
  type ProviderServer,
  type Received,
  type Reply,
  startProvider,
  type WireFormat,
} from "./provider-server.ts";

/** A turn as a request shows it. */
export type ShownTurn = { readonly index: number; readonly content: string };

/** One request about turns. */
export type AskedTurns = {
  readonly turns: readonly ShownTurn[];
  /** Messages that are shown beside the turns. */
  readonly references: readonly string[];
  /** Whether it is about several, with their places. */
  readonly isBatch: boolean;
  readonly received: Received;
};

/** What is said when a turn of a request matches; undefined: the usual answer. */
export type Rule = {
  readonly when: RegExp;
  readonly reply: (asked: AskedTurns) => Reply | undefined;
};

export type ScriptedProvider = ProviderServer & {
  readonly asked: AskedTurns[];
  /** Requests that were under way at the same time, at most. */
  readonly most: () => number;
};

export type Script = {
  readonly format?: WireFormat;
  /** The first that matches any turn decides. */
  readonly rules?: readonly Rule[];
  /** Milliseconds before each answer. */
  readonly delayMs?: number;
};

/** A provider that says of each turn what it plainly states: `I PREDICATE OBJECT.` and `NAME PREDICATE OBJECT.` */
export function startScripted({
  format = "openai",
  rules = [],
  delayMs = 0,
}: Script = {}): ScriptedProvider {
  const asked: AskedTurns[] = [];
  let inside = 0;
  let most = 0;
  const reply = async (received: Received): Promise<string | Response> => {
    inside += 1;
    most = Math.max(most, inside);
    try {
      const one = askedTurns(received);
      asked.push(one);
      if (delayMs > 0) await Bun.sleep(delayMs);
      const rule = rules.find(({ when }) => one.turns.some(({ content }) => when.test(content)));
      return (await rule?.reply(one)) ?? answerTo(one);
    } finally {
      inside -= 1;
    }
  };
  return { ...startProvider(format, [reply]), asked, most: () => most };
}

/** The usual answer. @param entryOf what is said of one turn */
export function answerTo(
  { turns, isBatch }: Pick<AskedTurns, "turns" | "isBatch">,
  entryOf: (content: string) => object = entry,
): string {
  if (!isBatch) return JSON.stringify(entryOf(turns[0]?.content ?? ""));
  return JSON.stringify({
    turns: turns.map(({ index, content }) => ({ turn: index, ...entryOf(content) })),
  });
}

const STATEMENT =
  /(?<quote>(?<subject>I|We|[A-Z]\p{L}+) (?<predicate>live in|work at|like|use|raised|moved to|met|own) (?<object>[^.!?]+)[.!?])/gu;

/** What a text plainly states. */
export function entry(content: string): {
  readonly entities: readonly object[];
  readonly facts: readonly object[];
  readonly relationships: readonly object[];
} {
  const facts = [...content.matchAll(STATEMENT)].map(({ groups = {} }) => ({
    subject: groups["subject"] ?? "",
    predicate: (groups["predicate"] ?? "").replaceAll(" ", "_"),
    object: groups["object"] ?? "",
    polarity: "positive",
    evidence_quote: groups["quote"] ?? "",
    confidence: 0.9,
    fact_type: "fact",
    epistemic_type: "asserted",
    condition: null,
    temporal_ref: null,
    temporal_intent: "assertion",
    replaces_object: null,
    quantity: null,
  }));
  const names = new Set(
    facts.flatMap(({ subject, object }) =>
      /^(?:I|We)$/.test(subject) ? [object] : [subject, object],
    ),
  );
  return {
    entities: [...names].map((name) => ({ name, entity_type: "concept", description: null })),
    facts,
    relationships: [],
  };
}

function askedTurns(received: Received): AskedTurns {
  const texts = textsOf(received);
  const headings = Object.values(EXTRACTION_2.headings);
  const references = texts.filter((text) => headings.some((heading) => text.startsWith(heading)));
  const prompt = texts[references.length] ?? "";
  const found = [...prompt.matchAll(/<(turn[-\da-f]*) index="(\d+)"[^>]*>\n([\s\S]*?)\n<\/\1>/g)];
  const batch = found.map(([, , index, content = ""]) => ({ index: Number(index), content }));
  const isBatch = found.length > 0;
  const turns = isBatch ? batch : [{ index: 1, content: prompt }];
  return { turns, references, isBatch, received };
}

/** The texts of the user's messages, in order. */
function textsOf({ body }: Received): readonly string[] {
  return body.messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => {
      if (typeof content === "string") return [content];
      // SAFETY: the other form of a message in both formats.
      const parts = (content ?? []) as readonly { readonly text?: string }[];
      return parts.map(({ text = "" }) => text);
    });
}
