import { QUERY_INTENTS } from "../../../domain/enums.ts";
import { type KeptReceipt, leanForm, receiptForm } from "../../../domain/records/receipt.ts";
import type {
  ListedRetrieval,
  ListedRetrievals,
  ListedUse,
  ListedUses,
} from "../../../engine/receipts/api.ts";
import {
  count,
  type Declared,
  dictionary,
  flag,
  instant,
  list,
  member,
  noted,
  nullable,
  object,
  omitted,
  sha256,
  text,
  told,
  uuid,
  type View,
  view,
} from "../../../lib/form.ts";

const checksum = noted(sha256, {
  description:
    "SHA-256 of the object without this key: UTF-8, no blanks, keys in this order, shortest numbers.",
});

/** One page of retrievals. */
export const retrievalsView = noted(
  view<ListedRetrievals>()({
    retrievals: list(
      object<ListedRetrieval>({
        requestId: uuid,
        createdAt: instant,
        client: noted(nullable(text), { description: "The program that asked, if it said so." }),
        query: text,
        intent: member(QUERY_INTENTS),
        resultCount: count,
        contextCount: noted(count, { description: "Records in the context." }),
        tokensUsed: count,
        timingMs: noted(nullable(count), {
          description: "How long the answer took; null where an earlier version gave it.",
        }),
        notes: list(text),
        failures: dictionary(text),
      }),
    ),
    count: told(count, ({ retrievals }) => retrievals.length),
    hasMore: flag,
    nextCursor: noted(nullable(text), { description: "Pass it as cursor for the next page." }),
  }),
  { id: "RetrievalPage" },
);

/** One page of retrievals that showed a memory. */
export const usesView = noted(
  view<ListedUses>()({
    retrievals: list(
      object<ListedUse>({
        requestId: uuid,
        createdAt: instant,
        client: noted(nullable(text), { description: "The program that asked, if it said so." }),
        query: text,
        rank: noted(count, { description: "Of the memory among the results, from 1." }),
        representation: noted(text, { description: "In which form it was shown." }),
        cited: noted(flag, {
          description: "Whether a report about an answer made from it cites the memory.",
        }),
      }),
    ),
    count: told(count, ({ retrievals }) => retrievals.length),
    hasMore: flag,
    nextCursor: noted(nullable(text), { description: "Pass it as cursor for the next page." }),
  }),
  { id: "MemoryUsePage" },
);

/** A full receipt or a lean one: the keys of its canonical text in order, then the checksum of that text. */
export const receiptView: View<KeptReceipt> = {
  json: ({ text: receipt, checksum: own }) => ({ ...JSON.parse(receipt), checksum: own }),
  shape: {
    kind: "object",
    members: [
      ...eitherOf(receiptForm.members, leanForm.members),
      { name: "checksum", key: "checksum", form: checksum },
    ],
  },
  notes: {
    id: "RetrievalReceipt",
    description:
      "What decided an answer: all of it, or with detail `lean` only what explains it; no part of it holds the text of a memory.",
  },
};

/** The members of two objects; those that only one of them always has may be left out. */
function eitherOf(one: readonly Declared[], other: readonly Declared[]): readonly Declared[] {
  const twins = new Map(other.map((member) => [member.name, member.form]));
  const own = new Set(one.map(({ name }) => name));
  return [
    ...one.map(({ form, ...rest }) => ({ ...rest, form: eitherForm(form, twins.get(rest.name)) })),
    ...other
      .filter(({ name }) => !own.has(name))
      .map(({ form, ...rest }) => ({ ...rest, form: eitherForm(form, undefined) })),
  ];
}

function eitherForm(form: View<never>, twin: View<never> | undefined): View<never> {
  const { shape } = form;
  const isLeftOut = twin === undefined || twin.omits !== undefined;
  if (isLeftOut) return form.omits === undefined ? omitted(form) : form;
  const other = twin.shape;
  if (shape.kind === "object" && other.kind === "object") {
    const members = eitherOf(shape.members, other.members);
    return { ...form, shape: { kind: "object", members } };
  }
  if (shape.kind === "list" && other.kind === "list") {
    return { ...form, shape: { ...shape, of: eitherForm(shape.of, other.of) } };
  }
  return form;
}
