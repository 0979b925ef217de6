import type { RepresentationLevel } from "../../../domain/enums.ts";
import { LIMITS } from "../../../domain/limits.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { ResultCandidate } from "../api.ts";
import { type LineFormat, type RecordLine, recordLine } from "./formats.ts";
import { type LevelRules, levelTexts } from "./levels.ts";
import { type LineCounter, type LineTokens, leastTokens } from "./line-tokens.ts";

/** A line and its exact count. */
export type CountedLine = RecordLine & { readonly tokens: LineTokens };

/** A candidate at one level. */
export type LevelForm = {
  readonly level: RepresentationLevel;
  readonly text: string;
  /** A lower bound of the tokens of the line. */
  readonly least: number;
  /** The line, written and counted on the first call. */
  readonly line: () => CountedLine;
};

/** A candidate in every form in which it may be shown. */
export type PackItem = {
  readonly candidate: ResultCandidate;
  readonly reference: string;
  /** See `packingRanks`. */
  readonly rank: number;
  /** How many memories have its text; undefined for one. */
  readonly repeats?: number | undefined;
  /** When it was stored, where its line shows that. */
  readonly stored?: Instant | undefined;
  /** With the stored text. */
  readonly full: LevelForm;
  /** From the highest level down, starting with `full`. */
  readonly forms: readonly LevelForm[];
  /** A lower bound over all forms. */
  readonly least: number;
};

/** A candidate at each allowed level; nothing is written or counted yet. */
export function packItem(
  given: Pick<PackItem, "candidate" | "reference" | "rank" | "repeats" | "stored">,
  rules: Omit<LevelRules, "format"> & {
    readonly format: LineFormat;
    /** Default: none. */
    readonly tokenBudget?: number;
  },
  count: LineCounter,
): PackItem {
  const { node, olderThan } = given.candidate;
  const around = leastTokensAround(given, rules.format);
  const form = (level: RepresentationLevel, text: string): LevelForm => {
    let counted: CountedLine | undefined;
    const write = (): CountedLine => {
      const { reference, repeats, stored } = given;
      const shown = { level, text, reference, olderThan, repeats, stored };
      const line = recordLine(node, shown, rules.format);
      return { ...line, tokens: count(line) };
    };
    return {
      level,
      text,
      least:
        text.length > LIMITS.contextTextChars
          ? Number.POSITIVE_INFINITY
          : leastTokens(text, rules.tokenBudget) + around,
      line: () => {
        counted ??= write();
        return counted;
      },
    };
  };
  const full = form("full", node.content);
  const lower = levelTexts(node, { ...rules, format: rules.format.name })
    .filter(({ level }) => level !== "full")
    .map(({ level, text }) => form(level, text));
  const forms = [full, ...lower];
  return { ...given, full, forms, least: Math.min(...forms.map(({ least }) => least)) };
}

/** A lower bound of the tokens of a line besides the text. Reader lines have little more than the dash and a quote. */
function leastTokensAround(
  { candidate, reference }: Pick<PackItem, "candidate" | "reference">,
  format: LineFormat,
): number {
  if (format.name === "reader") return 2;
  return leastTokens(
    recordLine(candidate.node, { level: "full", text: "", reference }, format).body,
  );
}
