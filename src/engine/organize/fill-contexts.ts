import { reasonCode } from "../../domain/errors.ts";
import type { ContextNode, ReceiptLog, StoredReceipt } from "../../ports/store/receipt-log.ts";
import type { EngineDeps } from "../deps.ts";
import type { Job } from "./runner.ts";

const FAILURE = "answers were not listed by their memories";
/** Receipts that one step looks at, so that others write in between. */
const LIMIT = 50;

/**
 * Lists by memory the answers whose receipts an earlier version of the program kept, step by step. What is left, the next opening
 * does.
 * @param contextOf reads a receipt; one that is damaged had nothing in its context
 */
export function fillContexts(
  { store, warn }: Pick<EngineDeps<ReceiptLog>, "store" | "warn">,
  contextOf: (receipt: StoredReceipt) => readonly ContextNode[],
): Job {
  return {
    kind: "fill-contexts",
    after: ["opening"],
    whole: { isByOwner: false, cooldownSeconds: 0, isNeeded: () => store.hasUntoldContexts() },
    failure: FAILURE,
    work: async ({ pause }) => {
      try {
        while ((await store.fillContexts(LIMIT, contextOf)) && (await pause()));
        return undefined;
      } catch (error) {
        warn(`${FAILURE} (${reasonCode(error)})`);
        return reasonCode(error);
      }
    },
  };
}
