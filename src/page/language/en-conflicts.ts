import { number } from "../parts/format.ts";

export const conflicts = {
  later: "Later",
  open: "Open the memory",
  write: "Write what is true",
  writeHint: "Neither right?",
  dialog: {
    title: "Write what is true",
    text: "What is true",
    what: "Your text is stored first. Then the contradiction is settled: your text replaces what was said first, and what was said against it is deprecated. Both are found no more and stay in the log.",
    settled: (states: string) =>
      `Meanwhile somebody else has changed these memories: they are ${states} now. Nothing of yours was written. Go on, and your text replaces what is still held of them.`,
    partly: "Your text is stored. What follows was refused; try again to finish it.",
    save: "Write it",
  },
  place: (place: number, count: number, isMore: boolean) =>
    `${number(place)} of ${number(count)}${isMore ? " and more" : ""}`,
  none: "Nothing to decide",
  noneText:
    "When an assistant notes that two memories cannot both be true, they are shown here side by side.",
};
