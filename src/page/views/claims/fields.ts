import { signal } from "@preact/signals";
import { go, hrefOf, place, withQuery } from "../../data/place.ts";

export const CLAIM_PARTS = ["subject", "predicate", "object"] as const;
export type ClaimPart = (typeof CLAIM_PARTS)[number];

const COUNT_GROUPS = [...CLAIM_PARTS, "polarity"] as const;
const SUM_GROUPS = [...COUNT_GROUPS, "unit"] as const;
export type Group = (typeof SUM_GROUPS)[number];

/** What is counted: claims, or the amounts in them. */
export type Kind = "count" | "sum";

/** Texts that claims must have; empty ones do not restrict. They stand in no address. */
export const wanted = signal<Readonly<Record<ClaimPart, string>>>({
  subject: "",
  predicate: "",
  object: "",
});

/** A question in words about an amount; empty: the fields ask. */
export const asked = signal("");

export function kind(): Kind {
  return place.value.query.get("kind") === "sum" ? "sum" : "count";
}

export function groupsOf(kind: Kind): readonly Group[] {
  return kind === "sum" ? SUM_GROUPS : COUNT_GROUPS;
}

/** By what claims are grouped, in the order of the columns. */
export function groups(): readonly Group[] {
  const chosen = place.value.query.getAll("by");
  const usual = kind() === "sum" ? ["subject", "predicate"] : CLAIM_PARTS;
  const set = new Set<string>(chosen.length === 0 ? usual : chosen);
  // Amounts of several units are never summed.
  if (kind() === "sum") set.add("unit");
  const found = groupsOf(kind()).filter((group) => set.has(group));
  return found.length === 0 ? ["object"] : found;
}

export function toggleGroup(group: Group): void {
  const before = groups();
  const after = before.includes(group) ? before.filter((one) => one !== group) : [...before, group];
  if (after.length > 0) go(withQuery({ by: after }), "replace");
}

export function setKind(kind: Kind): void {
  asked.value = "";
  go(withQuery({ kind: kind === "sum" ? "sum" : undefined, by: undefined }), "replace");
}

/** Shows the claims about somebody or something. */
export function showClaimsAbout(subject: string): void {
  wanted.value = { subject, predicate: "", object: "" };
  asked.value = "";
  go(hrefOf("claims"));
}
