import {
  parseFilled,
  parseOptionalText,
  parsePageLimit,
  parseUserId,
} from "../../domain/arguments.ts";
import { invalid } from "../../domain/errors.ts";
import { parseUuid } from "../../lib/uuid.ts";
import type { Browse, CountedEntity, EntityPage } from "../../ports/store/browse.ts";
import type { EngineDeps } from "../deps.ts";
import type { EntityQuery, ListedEntities } from "./api.ts";

/** One page of an owner's entities by the number of their memories. @throws SvcError invalid_argument */
export async function listEntities(
  { store }: Pick<EngineDeps<Browse>, "store">,
  { userId, contains, cursor, limit }: EntityQuery,
): Promise<ListedEntities> {
  const { items: entities, hasMore } = await store.entities({
    userId: parseUserId(userId),
    contains:
      contains === undefined || contains === null ? undefined : parseFilled(contains, "contains"),
    after: parseEntityCursor(cursor),
    limit: parsePageLimit(limit),
  });
  const last = hasMore ? entities.at(-1) : undefined;
  return { entities, hasMore, nextCursor: last && entityCursor(last) };
}

function entityCursor({ memories, node }: CountedEntity): string {
  return `${memories}_${node.id}`;
}

function parseEntityCursor(value: unknown): EntityPage["after"] {
  const text = parseOptionalText(value, "cursor");
  if (text === undefined) return undefined;
  const [, count = "", given = ""] = /^(\d{1,9})_(.*)$/s.exec(text) ?? [];
  const id = parseUuid(given);
  if (count === "" || id === undefined) {
    throw invalid("cursor", "is not the next_cursor of a page");
  }
  return { memories: Number(count), id };
}
