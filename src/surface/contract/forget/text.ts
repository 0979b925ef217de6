import type { ForgetAnswer } from "../../../engine/forget/api.ts";
import { EXCERPT_CHARS, oneLine } from "../core/tool-text.ts";

/** Lines of each list. */
const LISTED = 30;

/** What a forgetting erases or has erased, for a model. */
export function tellForgetting(answer: ForgetAnswer): string {
  return (answer.mode === "preview" ? previewLines(answer) : erasedLines(answer)).join("\n");
}

function previewLines(answer: ForgetAnswer): readonly string[] {
  const { events, memories, stays, confirm, forgottenBefore } = answer;
  if (confirm === undefined) {
    return forgottenBefore.length === 0
      ? ["There is nothing to forget."]
      : [`Forgotten before: ${forgottenBefore.join(", ")}. There is nothing left to forget.`];
  }
  return [
    `Would be erased for ever, nothing was changed yet: ${totals(answer)}.`,
    ...listed(
      memories.map(
        ({ nodeType, id, why, excerpt }) => `${nodeType} ${id} (${why}) ${short(excerpt)}`,
      ),
    ),
    ...listed(events.map(({ id, role, excerpt }) => `event ${id} (${role}) ${short(excerpt)}`)),
    ...(stays.length === 0 ? [] : ["Stays:"]),
    ...listed(
      stays.map(({ kind, id, why, excerpt }) => `${kind} ${id} (${why}) ${short(excerpt)}`),
    ),
    `Only if the user agrees to exactly this list: the same call with mode "erase" and confirm "${confirm}".`,
  ];
}

function erasedLines(answer: ForgetAnswer): readonly string[] {
  const { forgetId, stage, receipt, notReached, memories, events } = answer;
  const isBefore = memories.length + events.length === 0;
  const before = `Forgotten before, as ${forgetId}; stage ${stage}.`;
  if (receipt === undefined) return [before];
  return [
    isBefore ? before : `Forgotten for ever as ${forgetId}: ${totals(answer)}; stage ${stage}.`,
    "The receipt that proves it is in the structured content, and nowhere else.",
    `Not reached: ${notReached.join("; ")}.`,
  ];
}

function totals({ events, memories, counts }: ForgetAnswer): string {
  const { edges, operations, receipts, blobs } = counts;
  const pictures = blobs === 0 ? "" : `, pictures ${blobs}`;
  return `memories ${memories.length}, events ${events.length}, edges ${edges}, entries of the log ${operations}, receipts of answers ${receipts}${pictures}`;
}

function short(text: string): string {
  return oneLine(text, EXCERPT_CHARS);
}

function listed(lines: readonly string[]): readonly string[] {
  const rest = lines.length - LISTED;
  return rest > 0 ? [...lines.slice(0, LISTED), `and ${rest} more`] : lines;
}
