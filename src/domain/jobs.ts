import { instant, member, natural, nullable, object, text, uuid } from "../lib/form.ts";
import { noted, type ValueOf } from "../lib/view.ts";

export const processingStatusForm = noted(
  object({
    eventId: uuid,
    status: member(["pending", "complete"]),
    /** Finished attempts, including the successful one. */
    attempts: natural,
    /** Undefined after success. */
    lastError: noted(nullable(text), { description: "Category of the last failure." }),
    updatedAt: instant,
  }),
  {
    id: "ProcessingStatus",
    description: "How far the memory and index entries of one event have come.",
  },
);

/** Progress of the nodes and index entries of one event. There is no failed state: a failed job stays pending. */
export type ProcessingStatus = ValueOf<typeof processingStatusForm>;

export const processingResultForm = noted(
  object({
    processed: natural,
    pending: natural,
    /** Included in `pending`. */
    failed: noted(natural, { description: "Pending items whose last try failed." }),
  }),
  { id: "ProcessingResult" },
);

/** What one processing pass did, and the owner's remaining work. */
export type ProcessingResult = ValueOf<typeof processingResultForm>;
