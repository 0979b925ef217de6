import { SvcError } from "../../domain/errors.ts";
import type { Owner } from "../../domain/owner.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { Store } from "../../ports/store/store.ts";
import type { EngineDeps } from "../deps.ts";
import type { Stats } from "./api.ts";

/** Counts of an owner. One that fails reads 0 and is reported. @throws SvcError pack_locked */
export async function readStats(
  deps: Pick<EngineDeps<EventLog & Graph & Pick<Store, "backend">>, "store" | "warn">,
  owner: Owner,
): Promise<Stats> {
  const attempt = async (count: Promise<number>) => {
    try {
      return await count;
    } catch (error) {
      if (error instanceof SvcError && error.code === "pack_locked") throw error;
      deps.warn("stats: a count failed");
      return 0;
    }
  };
  const [nodeCount, eventCount] = await Promise.all([
    attempt(deps.store.countNodes(owner)),
    attempt(deps.store.countEvents(owner)),
  ]);
  return { nodeCount, eventCount, backend: deps.store.backend, details: {} };
}
