import { toEpochMillis } from "../../lib/instant.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import { expireMemories } from "./expire.ts";

/** Owners whose last pass is remembered; the one whose pass is longest ago is forgotten first. */
const OWNERS = 4096;

export type UpkeepDeps = Pick<EngineDeps<Graph>, "store" | "clock" | "settings" | "warn"> & {
  /** Runs work in the background and reports failures; its signal tells it to stop. */
  readonly background: (failure: string, work: (signal: AbortSignal) => Promise<void>) => void;
};

/** Background work: archives expired memories. Nothing here throws or delays a call. */
export type Upkeep = {
  /** Works on the memories of all owners, in small passes, until nothing is left. */
  begin(): void;
  /** Like `begin` for one owner, if due and no pass is running. */
  after(userId: string): void;
};

export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { upkeep } = deps.settings;
  if (upkeep === undefined) return { begin: () => {}, after: () => {} };
  const { cooldownSeconds, budgetMs, batchSize: limit } = upkeep;
  const lastMs = new Map<string, number>();
  let isRunning = false;
  const remember = (userId: string): void => {
    lastMs.delete(userId);
    lastMs.set(userId, toEpochMillis(deps.clock.now()));
    const [oldest] = lastMs.keys();
    if (lastMs.size > OWNERS && oldest !== undefined) lastMs.delete(oldest);
  };
  const isDue = (userId: string): boolean => {
    const last = lastMs.get(userId);
    const now = toEpochMillis(deps.clock.now());
    return last === undefined || now - last >= cooldownSeconds * 1000;
  };
  const run = (work: (signal: AbortSignal) => Promise<void>): void => {
    isRunning = true;
    deps.background("expired memories were not archived", async (signal) => {
      try {
        await nextTurn();
        await work(signal);
      } finally {
        isRunning = false;
      }
    });
  };
  const passes = async (userId: string | undefined, signal: AbortSignal): Promise<void> => {
    const pass = () => expireMemories(deps, { userId, limit, budgetMs, signal });
    // Until nothing is left: expired memories displace others in searches.
    while (!signal.aborted && (await pass()).archived > 0) await nextTurn();
  };

  return {
    begin: () => run((signal) => passes(undefined, signal)),
    after: (userId) => {
      if (isRunning || !isDue(userId)) return;
      remember(userId);
      run(async (signal) => {
        await passes(userId, signal);
        remember(userId);
      });
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
