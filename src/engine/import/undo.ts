import { parseId, parseUserId } from "../../domain/arguments.ts";
import { openChecksummed } from "../../domain/checksummed.ts";
import { erasedBy } from "../../domain/erasure.ts";
import { SvcError } from "../../domain/errors.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import { type ForgetDeps, forget } from "../forget/forget.ts";
import { type RestoreDeps, restore } from "../lifecycle/restore.ts";
import type { ImportUndone } from "./api.ts";
import { eventsIn, type ImportDeps, readEvents, recordsOf } from "./book.ts";

/** Events erased together: a forgetting is one transaction. */
const AT_ONCE = 400;

export type UndoDeps = ImportDeps & ForgetDeps & RestoreDeps;

/** Erases everything that an import brought in, and restores what it replaced. */
export async function undoImport(
  deps: UndoDeps,
  owner: string,
  importId: string,
): Promise<ImportUndone> {
  const userId = parseUserId(owner);
  const id = parseId(importId, "import_id");
  const records = [];
  for await (const record of recordsOf(deps, userId, id)) {
    const { import_id: of, replaced } = openChecksummed(record.payload);
    if (of === id) records.push({ events: eventsIn(record), replaced: replacedIn(replaced) });
  }
  if (records.length === 0) {
    throw new SvcError("not_found", `there is no import ${id}`, { kind: "import", id });
  }
  const forgetIds: Uuid[] = [];
  let [events, memories] = [0, 0];
  const all = records.flatMap((record) => record.events);
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = await readEvents(deps, userId, all.slice(at, at + AT_ONCE));
    const ids = [...some.values()]
      .filter(({ metadata }) => erasedBy(metadata) === undefined)
      .map((event) => event.id);
    if (ids.length === 0) continue;
    const asked = { userId, ids };
    const { confirm } = await forget(deps, asked);
    const done = await forget(deps, { ...asked, mode: "erase", confirm });
    if (done.forgetId !== undefined) forgetIds.push(done.forgetId);
    events += done.events.length;
    memories += done.memories.length;
  }
  let restored = 0;
  for (const before of records.flatMap((record) => record.replaced)) {
    const node = await deps.store.node(before, userId);
    if (node?.lifecycleState !== "superseded") continue;
    await restore(deps, before, { userId, actorId: userId });
    restored += 1;
  }
  return { importId: id, events, memories, restored, forgetIds };
}

function replacedIn(pairs: unknown): readonly Uuid[] {
  return Array.isArray(pairs) ? pairs.flatMap((pair) => asUuid(String(pair?.[0]))) : [];
}
