import { reasonCode } from "../../domain/errors.ts";
import { longFrom } from "../../domain/search/parts.ts";
import { PARTS_FAILURE, type PartsDeps, putParts } from "../embed-parts.ts";
import type { Job } from "./runner.ts";

/** Texts of one step: some have many parts. */
const TEXTS_A_STEP = 4;

/** Embeds the parts of texts that an earlier version of the program stored, or that were imported. */
export function embedOlderParts(deps: PartsDeps): Job {
  const { maxTokens } = deps.embedder;
  const next = async (limit: number) =>
    maxTokens === undefined ? [] : await deps.store.textsWithoutParts(longFrom(maxTokens), limit);
  return {
    kind: "embed-parts",
    after: ["opening"],
    whole: {
      isByOwner: false,
      cooldownSeconds: 0,
      isNeeded: async () => (await next(1)).length > 0,
    },
    failure: PARTS_FAILURE,
    work: async ({ pause }) => {
      try {
        for (;;) {
          const nodes = await next(TEXTS_A_STEP);
          if (nodes.length === 0) return undefined;
          await putParts(deps, nodes);
          if (!(await pause())) return undefined;
        }
      } catch (error) {
        deps.warn(`${PARTS_FAILURE} (${reasonCode(error)})`);
        return reasonCode(error);
      }
    },
  };
}
