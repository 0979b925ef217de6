import { isEverybody, type Owner } from "../../../domain/owner.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { JobRun } from "./job.ts";

/** The owners whose memories a job goes through. */
export async function ownersOf(
  store: Pick<Store, "owners">,
  owner: Owner,
): Promise<readonly string[]> {
  if (!isEverybody(owner)) return [owner];
  return (await store.owners.list()).map(({ userId }) => userId);
}

/** The same, one after the other, until the run is to end. */
export async function* eachOwner(
  store: Pick<Store, "owners">,
  { owner, isOver }: Pick<JobRun, "owner" | "isOver">,
): AsyncGenerator<string> {
  for (const userId of await ownersOf(store, owner)) {
    if (isOver()) return;
    yield userId;
  }
}
