import type { Amount, Moment, Unit } from "./calendar.ts";
import { type Expression, type Meaning, masked } from "./expressions.ts";

export type Match = {
  /** Named groups in lower case; blank for a group that did not match. */
  readonly word: (name: string) => string;
  /** The group as written. */
  readonly raw: (name: string) => string;
  /** A few characters on either side. */
  readonly before: string;
  readonly after: string;
};
export type Rule = {
  readonly pattern: RegExp;
  /** Undefined: not a date after all. */
  readonly read: (match: Match, reference: Moment) => Meaning | undefined;
};

/** A rule for whole words in any case. */
export function rule(source: string, read: Rule["read"]): Rule {
  return {
    pattern: new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${source})(?![\p{L}\p{N}_])`, "giu"),
    read,
  };
}

/** Sources of patterns for words of direction. */
export const PAST = "last|past|previous";
export const FUTURE = "next|coming|following|upcoming";

/** -1 for words of the past, 1 for those of the future, 0 for others. */
export function direction(word: string): -1 | 0 | 1 {
  if (/^(?:last|past|previous)$/.test(word)) return -1;
  return /^(?:next|coming|following|upcoming)$/.test(word) ? 1 : 0;
}

export function moment(value: Moment, isDay = false): Meaning {
  return { kind: "moment", moment: value, isDay, isWeekday: false };
}

export function one(unit: Unit, count = 1): Amount[] {
  return [{ count, unit }];
}

/** What the rules find in a text; each masks its findings for the rules after it. */
export function readRules(text: string, reference: Moment, rules: readonly Rule[]): Expression[] {
  const found: Expression[] = [];
  let rest = text;
  for (const { pattern, read } of rules) {
    const here: Expression[] = [];
    for (const match of rest.matchAll(pattern)) {
      const end = match.index + match[0].length;
      const raw = (name: string) => match.groups?.[name] ?? "";
      const meaning = read(
        {
          raw,
          word: (name) => raw(name).toLowerCase(),
          before: rest.slice(Math.max(0, match.index - 24), match.index),
          after: rest.slice(end, end + 8),
        },
        reference,
      );
      if (meaning !== undefined) here.push({ at: match.index, end, meaning });
    }
    rest = masked(rest, here);
    found.push(...here);
  }
  return found;
}
