import type { Erasures } from "../../ports/store/erasures.ts";
import type { EngineDeps } from "../deps.ts";
import type { Job } from "./runner.ts";

/** Milliseconds that one try waits for other processes. */
const WAIT_MS = 60_000;

/** Removes the bytes of what was forgotten, where a call could not: another process was reading, or the program ended. */
export function settleErasures({ store }: Pick<EngineDeps<Erasures>, "store">): Job {
  return {
    kind: "settle-erasures",
    after: ["opening"],
    whole: {
      isByOwner: false,
      cooldownSeconds: 0,
      isNeeded: () => store.hasUnsettledErasures(),
    },
    failure: "what was forgotten is not removed from the files yet",
    work: async () => ((await store.settleErasures(WAIT_MS)) ? undefined : "storage_busy"),
  };
}
