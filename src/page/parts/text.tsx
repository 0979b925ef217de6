import type { VNode } from "preact";
import { invisibleParts } from "../../lib/invisible.ts";
import { number } from "./format.ts";

const ROW_CHARACTERS = 400;

type Props = {
  readonly of: string;
  /** As one line of at most some hundred characters, for a row. */
  readonly line?: boolean;
  /** The element that contains only the text. */
  readonly as?: "q" | "b" | "li" | "p" | "span" | "blockquote" | "h1" | "td" | "u" | "strong";
  readonly class?: string;
};

/**
 * A text from a memory, shown as text: its direction is isolated, addresses do not become links, and every invisible or direction-changing
 * character is shown as a symbol.
 */
export function Text({ of, line = false, as: Tag, class: name }: Props): VNode {
  const shown = line ? of.slice(0, ROW_CHARACTERS).replace(/\s+/g, " ") : of;
  const signs = withSigns(shown, (sign) => <span class="sign">{sign}</span>);
  const text = <bdi>{signs}</bdi>;
  return Tag === undefined ? text : <Tag class={name}>{text}</Tag>;
}

export function hiddenIn(text: string): number {
  let hidden = 0;
  for (const { found } of invisibleParts(text)) hidden += [...found].length;
  return hidden;
}

export const signed = (text: string): string => withSigns(text, (sign) => `[${sign}]`).join("");

function withSigns<T>(text: string, draw: (sign: string) => T): (string | T)[] {
  const parts: (string | T)[] = [];
  let at = 0;
  for (const { found, index } of invisibleParts(text)) {
    if (index > at) parts.push(text.slice(at, index));
    parts.push(draw(signOf(found)));
    at = index + found.length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** A run of hidden characters: up to three by code point, longer ones by count. */
function signOf(run: string): string {
  const points = [...run].map((one) => one.codePointAt(0) ?? 0);
  if (points.length > 3) return `${number(points.length)} hidden`;
  return points.map((point) => point.toString(16).toUpperCase().padStart(4, "0")).join(" ");
}

type Part = { readonly kind: "same" | "gone" | "new"; readonly text: string };

/** Longer texts are compared as a whole: the table grows with the square of their words. */
const MOST_WORDS = 600;

/** A word diff of two texts: removed words are struck through, added ones marked. */
export const Words = ({ before, after }: { before: string; after: string }): VNode => (
  <p class="diff">
    {wordDiff(before, after).map(({ kind, text }, index) => {
      const Tag = kind === "gone" ? "del" : kind === "new" ? "ins" : "span";
      return (
        <Tag key={index}>
          <Text of={text} />
        </Tag>
      );
    })}
  </p>
);

/** The parts of both texts in order, with the longest common subsequence of words. */
function wordDiff(before: string, after: string): readonly Part[] {
  const texts = [before, after].map((text) => text.match(/\S+\s*/g) ?? []);
  const isLong = texts.some(({ length }) => length > MOST_WORDS);
  const [a = [], b = []] = isLong ? [[before], [after]] : texts;
  const kindAt = comparison(a, b);
  const parts: Part[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const kind = kindAt(i, j);
    const text = (kind === "new" ? b[j] : a[i]) ?? "";
    const last = parts.at(-1);
    if (last?.kind === kind) parts[parts.length - 1] = { kind, text: last.text + text };
    else parts.push({ kind, text });
    if (kind !== "new") i += 1;
    if (kind !== "gone") j += 1;
  }
  return parts;
}

/** The fate of the words at two places, so that the most words stay. */
function comparison(a: readonly string[], b: readonly string[]) {
  const width = b.length + 1;
  // The number of common words in the rests of both texts, for each pair of places.
  const common = new Uint16Array((a.length + 1) * width);
  const rest = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        a[i] === b[j] ? rest(i + 1, j + 1) + 1 : Math.max(rest(i + 1, j), rest(i, j + 1));
    }
  }
  return (i: number, j: number): Part["kind"] => {
    if (a[i] === b[j]) return "same";
    if (i === a.length) return "new";
    return j < b.length && rest(i + 1, j) < rest(i, j + 1) ? "new" : "gone";
  };
}
