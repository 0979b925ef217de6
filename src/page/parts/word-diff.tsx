import type { VNode } from "preact";
import { Text } from "./text.tsx";

type Part = { readonly kind: "same" | "gone" | "new"; readonly text: string };

/** Longer texts are compared as a whole: the table grows with the square of their words. */
const MOST_WORDS = 600;

/** Two texts, word by word: what goes is struck through, what comes is marked. */
export function Words({ before, after }: { before: string; after: string }): VNode {
  return (
    <p class="diff">
      {wordDiff(before, after).map(({ kind, text }, index) => {
        const key = `${index}`;
        const shown = <Text of={text} />;
        if (kind === "gone") return <del key={key}>{shown}</del>;
        if (kind === "new") return <ins key={key}>{shown}</ins>;
        return <span key={key}>{shown}</span>;
      })}
    </p>
  );
}

/** The parts of both texts in their order, by the longest common run of words. */
function wordDiff(before: string, after: string): readonly Part[] {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) {
    return [
      { kind: "gone", text: before },
      { kind: "new", text: after },
    ];
  }
  const lengths = commonLengths(a, b);
  const parts: Part[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left = "", right = ""] = [a[i], b[j]];
    const down = lengths[i + 1]?.[j] ?? -1;
    const across = lengths[i]?.[j + 1] ?? -1;
    if (i < a.length && j < b.length && left === right) {
      parts.push({ kind: "same", text: left });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && down >= across)) {
      parts.push({ kind: "gone", text: left });
      i += 1;
    } else {
      parts.push({ kind: "new", text: right });
      j += 1;
    }
  }
  return joined(parts);
}

/** Words with the space behind them. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\S+\s*/g) ?? [];
}

/** How many words the rest of both texts, from each pair of places on, have in common. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly (readonly number[])[] {
  const rows: number[][] = Array.from({ length: a.length + 1 }, () =>
    new Array<number>(b.length + 1).fill(0),
  );
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const [row = [], below = []] = [rows[i], rows[i + 1]];
    for (let j = b.length - 1; j >= 0; j -= 1) {
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return rows;
}

function joined(parts: readonly Part[]): readonly Part[] {
  const runs: Part[] = [];
  for (const part of parts) {
    const last = runs.at(-1);
    if (last?.kind === part.kind) runs[runs.length - 1] = { ...last, text: last.text + part.text };
    else runs.push(part);
  }
  return runs;
}
