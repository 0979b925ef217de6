import { changes } from "./en-changes.ts";
import { conflicts } from "./en-conflicts.ts";
import { frame, keys, parts, states } from "./en-frame.ts";
import { memory } from "./en-memory.ts";
import { search } from "./en-search.ts";
import { timeline } from "./en-timeline.ts";
import { words } from "./en-words.ts";

/** English: a file for the frame, one for words of the domain, one for each view. */
export const EN = {
  frame,
  keys,
  parts,
  states,
  words,
  changes,
  timeline,
  search,
  memory,
  conflicts,
};
