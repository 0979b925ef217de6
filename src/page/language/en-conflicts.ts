import { number } from "../parts/format.ts";

export const conflicts = {
  later: "Later",
  open: "Open the memory",
  place: (place: number, count: number, isMore: boolean) =>
    `${number(place)} of ${number(count)}${isMore ? " and more" : ""}`,
  none: "Nothing to decide",
  noneText:
    "When an assistant notes that two memories cannot both be true, they are shown here side by side.",
};
