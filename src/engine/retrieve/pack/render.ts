import { invalid } from "../../../domain/errors.ts";
import { withoutInvisible } from "../../../lib/invisible.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { MemoryBundle } from "../api.ts";
import { STORED_TEXTS, sectionHeading } from "./context-meter.ts";

export type ContextParts = Pick<
  MemoryBundle,
  "coverageNotice" | "contextGuidance" | "header" | "sections"
>;

/** The complete text of a context: no blank line, no line break at its end; without records only the notice, or nothing. */
export function render({
  coverageNotice,
  contextGuidance,
  header,
  sections,
}: ContextParts): string {
  if (sections.size === 0) return coverageNotice ?? "";
  const lines = [coverageNotice, contextGuidance, header].filter((line) => line !== undefined);
  for (const [section, records] of sections) {
    lines.push(sectionHeading(section), ...records.map(({ renderedText }) => renderedText));
  }
  return lines.join("\n");
}

/** The packed instructions of the owner as a list for a system prompt, one per line; empty without any. */
export function renderSystemInstructions({ sections }: Pick<MemoryBundle, "sections">): string {
  const lines = (sections.get("system_instructions") ?? [])
    .filter(
      ({ representation }) => representation !== "key_value" && representation !== "reference",
    )
    .map(({ candidate }) => withoutInvisible(oneLine(candidate.node.content)))
    .filter((text) => text !== "")
    .map((text) => `- ${text}`);
  return lines.length === 0
    ? ""
    : [`## System Instructions (${STORED_TEXTS})`, ...lines].join("\n");
}

/**
 * The memory that `m1`, `m2`, ... refers to in a context.
 * @throws SvcError invalid_argument if the context shows no such reference
 */
export function resolveContextRef(
  { contextReferences }: Pick<MemoryBundle, "contextReferences">,
  reference: string,
): Uuid {
  const id = contextReferences.get(reference);
  if (id === undefined) {
    throw invalid("context_ref", `${JSON.stringify(reference)} is not a reference of this context`);
  }
  return id;
}

/** Text without line breaks of any kind. */
function oneLine(text: string): string {
  return text.replace(/[\s\u0085]*[\n\r\v\f\u0085\u2028\u2029][\s\u0085]*/g, " ").trim();
}
