import { asInstant, nextInstant } from "../../lib/instant.ts";

/** Entries, newest first. */
export type Joined<T> = {
  readonly entries: readonly T[];
  /** The time before which the next page begins; undefined on the last one. */
  readonly next: string | undefined;
};

type Source<T> = { readonly entries: readonly T[]; readonly hasMore: boolean };

/**
 * Merges lists that are newest first. If one has more, entries older than its last one are left for the next page, and so are those of that
 * very moment, of which it may have more.
 */
export function joined<T extends { readonly at: string }>(
  sources: readonly Source<T>[],
): Joined<T> {
  const ends = sources.flatMap(({ entries, hasMore }) =>
    hasMore ? (entries.at(-1)?.at ?? []) : [],
  );
  const all = sources.flatMap(({ entries }) => entries).toSorted((a, b) => (a.at < b.at ? 1 : -1));
  const end = ends.toSorted().at(-1);
  if (end === undefined) return { entries: all, next: undefined };
  const entries = all.filter(({ at }) => at > end);
  if (entries.length > 0) return { entries, next: nextInstant(asInstant(end)) };
  // A full page of one moment is shown as it is.
  return { entries: all.filter(({ at }) => at === end), next: end };
}
