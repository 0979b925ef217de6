import { number } from "../parts/format.ts";
import { counted } from "./plural.ts";

export const things = {
  where: "Where this is",
  contains: "Named",
  containsHint: "a part of the name",
  list: "People and things, those with the most memories first",
  memories: (count: number) => counted(count, "memory", "memories"),
  contested: (count: number) => `${number(count)} contested`,
  first: "First page",
  next: "Next page",
  none: "No person or thing is known yet",
  noneText:
    "They are noted when facts are extracted from messages, for which a language model is needed. This says whether it is on:",
  nothing: "No name contains this",
  clear: "Show all",
  open: (count: number) => `${counted(count, "memory", "memories")} about it`,
  now: "What is known now",
  contestedTitle: "What is contested",
  before: "What was before",
  noFacts: "No memory is connected with it.",
  allClaims: "Claims about it",
  from: (from: string) => `from ${from}`,
  between: (from: string, to: string) => `${from} to ${to}`,
  cut: (count: number) => `Only the first ${number(count)} connections are shown.`,
  claims: {
    title: "How it changed",
    note: "what is claimed about it, and what was before",
    status: {
      unknown: "nothing holds now",
      single: "one claim holds now",
      consistent: "several claims say the same",
      multiple: "several claims hold now",
      contested: "contested",
    },
    values: (count: number) => counted(count, "claim"),
    coverage: (matched: string, scanned: string) =>
      `${matched} of ${scanned} memories looked at claim this.`,
    current: "holds now",
  },
  around: {
    title: "Neighbourhood",
    note: (count: number) => `the nearest ${number(count)}`,
    list: "Memories and things around it, nearest first",
    none: "Nothing is around it.",
    drawing: "Drawing…",
    hops: "two steps away",
    key: { thing: "person or thing", memory: "memory" },
  },
};
