import type { SourceKind } from "../../domain/records/observation.ts";

/** The version of what follows, which every description names. A change of the words is a new version. */
export const PROMPT_VERSION = 2;

const ORIGIN: Readonly<Record<SourceKind, string>> = {
  photo: "This picture is a photo from the camera roll of its owner.",
  video: "This picture is a single frame of a video.",
};

const TASK = `Describe it for somebody who will later look for it by words alone and cannot see it.

Write plain text: no headings, no bullets, no remarks about the task. Write two parts, one after the other.

First, in one or two sentences: what kind of picture it is (a snapshot, a receipt, a screen, a chart, a slide, a sign ...), and what it shows: the place, the people and what they do, the objects, their colours.

Then the facts, one sentence for each:
- Name in each sentence what it is about, so that it can be understood alone.
- Copy visible text exactly as it stands, between double quotes: numbers, dates, names, prices, titles.
- Where a value is crossed out, say so, and say which value holds now.
- Give every value of a chart or a table in a sentence of its own, with its row and column.
- Where there is no text, write three to five things that can be seen.

Write only what can be seen. Do not guess what is hidden, blurred or outside of the picture.`;

/** What a vision model is asked about a picture. The name of the file and the time are left out: they would become facts. */
export function describePrompt(kind: SourceKind): string {
  return `${ORIGIN[kind]} ${TASK}`;
}
