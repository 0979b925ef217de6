import { reasonCode } from "../../domain/errors.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { Job } from "./runner.ts";

const FAILURE = "texts were not indexed again";

/** Indexes texts again that an earlier version of the program indexed, step by step. What is left, the next opening does. */
export function renewTexts({ store, warn }: Pick<EngineDeps<SearchIndex>, "store" | "warn">): Job {
  return {
    kind: "renew-texts",
    after: ["opening"],
    whole: { isByOwner: false, cooldownSeconds: 0, isNeeded: () => store.hasFormerTexts() },
    failure: FAILURE,
    work: async ({ pause }) => {
      try {
        while ((await store.renewTexts()) && (await pause()));
        return undefined;
      } catch (error) {
        warn(`${FAILURE} (${reasonCode(error)})`);
        return reasonCode(error);
      }
    },
  };
}
