import { parseFilled } from "../../domain/arguments.ts";
import type { EpistemicType, LifecycleState } from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import type { Instant } from "../../lib/instant.ts";
import { foldCase } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { MemoryBundle, PackedRecord } from "./api.ts";

/** What an answer cites, with state and dates of the memory. */
export type VerifiedCitation = {
  /** As in the answer: `m3`, or the id of a memory. */
  readonly reference: string;
  /** Undefined: the context has no such record, and the members below are unset. */
  readonly memoryId: Uuid | undefined;
  readonly lifecycleState: LifecycleState | undefined;
  readonly epistemicType: EpistemicType | undefined;
  /** Its claim is contested. */
  readonly isContested: boolean;
  /** If a newer record among the results contradicts it: the time that one refers to. */
  readonly outdatedBy: Instant | undefined;
  readonly eventTime: Instant | undefined;
  readonly validFrom: Instant | undefined;
  readonly validTo: Instant | undefined;
};

/** Quoted words or a date of the answer. */
export type VerifiedPassage = {
  readonly kind: "quote" | "date";
  /** Without quotation marks. */
  readonly text: string;
  /** The records that contain it; empty: none of those cited on its line does or, without a citation, none at all. */
  readonly memoryIds: readonly Uuid[];
};

export type BundleVerification = {
  /** Whether every citation names a record of the context, and every quote and date stands in one. */
  readonly ok: boolean;
  /** In order of first use. */
  readonly citations: readonly VerifiedCitation[];
  /** In the order of the answer. */
  readonly passages: readonly VerifiedPassage[];
};

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** `[m1]`, `[m1, m2]`, and the same with ids. */
const CITATION = new RegExp(
  `\\[\\s*((?:m\\d+|${UUID})(?:\\s*[,;]\\s*(?:m\\d+|${UUID}))*)\\s*\\]`,
  "gi",
);
const QUOTE = /"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|»([^«]+)«|「([^」]+)」|『([^』]+)』/gu;
/** A day, a month or a year from 1000 to 2999 in digits. */
const DATE = /(?<![\d.,:/-])[12]\d{3}(?:-\d\d(?:-\d\d)?)?(?![\d/]|[-.,:]\d)/g;

/**
 * Checks an answer against its context literally: each citation must name a record; quoted words and dates in digits must occur in the
 * records cited on their line, or in any if it cites none. It does not judge whether the answer is right. Quotes are compared ignoring
 * case, white space, the form of apostrophes and a final punctuation mark; an ellipsis stands for any words.
 *
 * @example verifyBundle('She said "green tea" [m1].', bundle).ok
 * @throws SvcError invalid_argument for a blank answer, and for a reader context with records and without references
 */
export function verifyBundle(answer: string, bundle: MemoryBundle): BundleVerification {
  parseFilled(answer, "answer");
  const records = citableRecords(bundle);
  const citations = new Map<string, VerifiedCitation>();
  const passages: VerifiedPassage[] = [];
  for (const line of answer.split(/\n+/)) {
    const cited = [...line.matchAll(CITATION)].flatMap(([, names = ""]) =>
      names.split(/\s*[,;]\s*/),
    );
    for (const name of cited)
      citations.set(name, citationOf(name, records.get(name.toLowerCase())));
    const known = cited.flatMap((name) => records.get(name.toLowerCase()) ?? []);
    const within = cited.length === 0 ? [...records.values()] : known;
    passages.push(...passagesOf(line.replaceAll(CITATION, " "), new Set(within)));
  }
  return {
    ok:
      [...citations.values()].every(({ memoryId }) => memoryId !== undefined) &&
      passages.every(({ memoryIds }) => memoryIds.length > 0),
    citations: [...citations.values()],
    passages,
  };
}

/** The records of a context by reference and by id. */
function citableRecords(bundle: MemoryBundle): ReadonlyMap<string, PackedRecord> {
  const records = [...bundle.sections.values()].flat();
  const isUncitable = bundle.contextFormat === "reader" && bundle.contextReferences.size === 0;
  if (isUncitable && records.length > 0) {
    throw invalid(
      "context_citations",
      "the records of this context cannot be cited; retrieve it with packing.context_citations on, or in another format",
    );
  }
  return new Map(
    records.flatMap((record) => {
      const names = [record.candidate.node.id, record.reference];
      return names.flatMap((name) => (name === undefined ? [] : [[name, record] as const]));
    }),
  );
}

function citationOf(reference: string, record: PackedRecord | undefined): VerifiedCitation {
  const { node, conflictFlag = false, olderThan } = record?.candidate ?? {};
  return {
    reference,
    memoryId: node?.id,
    lifecycleState: node?.lifecycleState,
    epistemicType: node?.epistemicType,
    isContested: conflictFlag,
    outdatedBy: olderThan?.at,
    eventTime: node?.eventTime,
    validFrom: node?.validFrom,
    validTo: node?.validTo,
  };
}

function passagesOf(line: string, records: ReadonlySet<PackedRecord>): VerifiedPassage[] {
  const found: (VerifiedPassage & { readonly at: number })[] = [];
  const add = (
    kind: VerifiedPassage["kind"],
    text: string,
    [at, stands]: readonly [number, (record: PackedRecord) => boolean],
  ) => {
    const memoryIds = [...records].filter(stands).map(({ candidate }) => candidate.node.id);
    found.push({ kind, text, memoryIds, at });
  };
  for (const match of line.matchAll(QUOTE)) {
    const text = match.slice(1).find((part) => part !== undefined) ?? "";
    const parts = partsOf(text);
    if (parts.length > 0) add("quote", text, [match.index, (record) => hasParts(record, parts)]);
  }
  // A date within a quote is a part of it.
  const unquoted = line.replaceAll(QUOTE, (quote) => " ".repeat(quote.length));
  for (const { 0: date, index } of unquoted.matchAll(DATE)) {
    add("date", date, [index, (record) => hasDate(record, date)]);
  }
  return found.sort((a, b) => a.at - b.at).map(({ at: _at, ...passage }) => passage);
}

/** The words of a quote between its ellipses. */
function partsOf(quote: string): readonly string[] {
  return quote
    .split(/\[?(?:…|\.{3})\]?/)
    .map((part) => compared(part).replace(/[.,;:!?]$/, ""))
    .filter((part) => part !== "");
}

function hasParts({ text, candidate }: PackedRecord, parts: readonly string[]): boolean {
  return [text, candidate.node.content].map(compared).some((whole) => {
    let from = 0;
    return parts.every((part) => {
      const at = whole.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  });
}

function hasDate({ renderedText, candidate }: PackedRecord, date: string): boolean {
  const { eventTime, validFrom, validTo, createdAt, content } = candidate.node;
  const instants = [eventTime, validFrom, validTo, createdAt];
  return (
    renderedText.includes(date) ||
    content.includes(date) ||
    instants.some((instant) => instant?.startsWith(date))
  );
}

function compared(text: string): string {
  return foldCase(text.normalize("NFKC"))
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/[’‘ʼ]/g, "'")
    .replace(/\s+/g, " ")
    .trim();
}
