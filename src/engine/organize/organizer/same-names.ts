import { nameKey } from "../../../domain/organize/abbreviations.ts";
import type { EntityName, Organizing } from "../../../ports/store/organizing.ts";

/** Entities by scope and name, as `nameIn` gives it. */
export type SameNames = ReadonlyMap<string, readonly EntityName[]>;

/** The names of an owner's active entities. */
export async function sameNames(store: Organizing, userId: string): Promise<SameNames> {
  const names = await store.entityNames(userId);
  return Map.groupBy(names, ({ scope, content }) => nameIn(scope, nameKey(content)));
}

/** @param key of the name, as `nameKey` gives it */
export function nameIn(scope: string, key: string): string {
  return `${scope} ${key}`;
}
