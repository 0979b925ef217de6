import { ALL_OWNERS } from "../../domain/owner.ts";
import { drain, type ProcessingDeps } from "../write/materialize.ts";
import type { Job } from "./runner.ts";

/** Milliseconds that one step may take before it lets other work in. */
const STEP_MS = 250;

/** Finishes what earlier processes left pending, of all owners, and what was admitted without being indexed in the call. */
export function materialize(deps: ProcessingDeps): Job {
  return {
    kind: "materialization",
    after: ["opening", "admission"],
    failure: "repair of pending work did not finish",
    work: async ({ signal, pause }) => {
      for (let left = Number.POSITIVE_INFINITY; ; ) {
        const options = { owner: ALL_OWNERS, budgetMs: STEP_MS, signal };
        const { pending, failed } = await drain(deps, options);
        const open = pending - failed;
        if (open <= 0 || open >= left || !(await pause())) return undefined;
        left = open;
      }
    },
  };
}
