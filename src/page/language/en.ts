import { activity } from "./en-activity.ts";
import { changes } from "./en-changes.ts";
import { claims } from "./en-claims.ts";
import { conflicts } from "./en-conflicts.ts";
import { forgetting } from "./en-forgetting.ts";
import { frame, keys, parts, states } from "./en-frame.ts";
import { health } from "./en-health.ts";
import { memory } from "./en-memory.ts";
import { search } from "./en-search.ts";
import { things } from "./en-things.ts";
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
  things,
  claims,
  activity,
  forgetting,
  health,
};
