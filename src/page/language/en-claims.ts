import { number } from "../parts/format.ts";
import { counted } from "./plural.ts";

export const claims = {
  kind: { count: "How many", sum: "How much" },
  kindLabel: "What is asked",
  subject: "subject",
  predicate: "predicate",
  object: "object",
  polarity: "polarity",
  unit: "unit",
  any: "any",
  only: "Only claims with",
  by: "Group by",
  question: "Question",
  questionHint: "How much did I spend?",
  ask: "Sum up",
  leave: "Without the question",
  unsupported: "This question is not understood",
  unsupportedText:
    "Only plain questions about an amount are, such as “How much did I spend?” or “How many kilometers did we run?”: without names, dates or conditions. Ask with the fields instead.",
  understood: "understood as",
  assumed: "assumed",
  heading: (matched: number, groups: number) =>
    `${counted(matched, "claim")} in ${counted(groups, "group")}`,
  amounts: (matched: number, groups: number) =>
    `${counted(matched, "amount")} in ${counted(groups, "group")}`,
  scanned: (scanned: number) =>
    `of ${counted(scanned, "memory", "memories")} looked at: every active fact, decision and preference`,
  out: "left out",
  coverage: "Coverage",
  limits:
    "This counts stored claims. It cannot tell whether all that was said became a claim, or is true. Texts match as they are written, never by meaning.",
  reasons: {
    missing_structured_assertion: "not a structured claim",
    selector_mismatch: "other claims",
    missing_quantity: "without an amount",
    invalid_quantity: "amount not as their text has it",
    unit_mismatch: "in another unit",
    epistemic_filtered: "hypothetical or deprecated",
    condition_filtered: "condition not known to hold",
    unverified_below_threshold: "unverified and uncertain",
    outside_validity_window: "not valid now",
    lifecycle_not_active: "no longer active",
    superseded_pointer: "replaced",
  },
  columns: {
    count: "claims",
    of: "of all",
    sources: "sources",
    total: "total",
    least: "least",
    greatest: "greatest",
    values: "amounts",
    when: "happened",
    records: "memories",
  },
  share: (count: number, all: number) => `${number(count)} of ${number(all)}`,
  records: (shown: number, all: number) =>
    shown < all ? `the first ${number(shown)} of ${number(all)}` : `all ${number(all)}`,
  show: (count: number) => `Show ${counted(count, "memory", "memories")}`,
  more: (count: number) => `${counted(count, "group")} more; narrow the claims to see them.`,
  none: "No claim fits",
  noneText: "A claim is a memory that states its subject, predicate and object in parts.",
  noClaims: (count: number) =>
    `${counted(count, "memory states", "memories state")} no structured claim. Extraction writes them, or a caller who stores a fact with this in its metadata:`,
  table: "Claims in groups",
};
