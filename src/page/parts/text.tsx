import type { VNode } from "preact";
import { invisibleParts } from "../../lib/invisible.ts";
import { t } from "../language/texts.ts";

/** A row shows no more than this of a text. */
const ROW_CHARACTERS = 400;

type Props = {
  readonly of: string;
  /** As one line of at most some hundred characters, for a row. */
  readonly line?: boolean;
};

/**
 * A text from a memory, shown as text: its direction ends with it, no address becomes a link, and every character that would
 * not be seen, or would change how others are seen, stands there as a sign.
 */
export function Text({ of, line = false }: Props): VNode {
  const shown = line ? of.slice(0, ROW_CHARACTERS).replace(/\s+/g, " ") : of;
  return (
    <bdi>
      {withSigns(shown, (sign) => (
        <span class="sign">{sign}</span>
      ))}
    </bdi>
  );
}

/** How many characters of a text cannot be seen. */
export function hiddenIn(text: string): number {
  let hidden = 0;
  for (const { found } of invisibleParts(text)) hidden += [...found].length;
  return hidden;
}

/** The same as plain text, for what takes no markup. */
export function signed(text: string): string {
  return withSigns(text, (sign) => `[${sign}]`).join("");
}

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

/** A run of hidden characters: up to three by their numbers, more by their count. */
function signOf(run: string): string {
  const points = [...run].map((one) => one.codePointAt(0) ?? 0);
  if (points.length > 3) return t.parts.hiddenRun(points.length);
  return points.map((point) => point.toString(16).toUpperCase().padStart(4, "0")).join(" ");
}
