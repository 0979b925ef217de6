import { isEverybody, type Owner } from "../../../domain/owner.ts";
import type { Store } from "../../../ports/store/store.ts";

/** The owners whose memories a job goes through, one after the other. */
export async function ownersOf(
  store: Pick<Store, "owners">,
  owner: Owner,
): Promise<readonly string[]> {
  if (!isEverybody(owner)) return [owner];
  return (await store.owners.list()).map(({ userId }) => userId);
}
