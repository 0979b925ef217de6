import { natural, noted, nullable, text, uuid } from "../../../lib/form.ts";

/** What answers that come page by page have in common. */

export const onPage = noted(natural, { description: "Of the entries of this page." });
export const nextCursor = noted(nullable(text), {
  description: "Pass it as cursor for the next page; null on the last one.",
});
export const nextId = noted(nullable(uuid), {
  description: "Pass it as after_id for the next page; null on the last one.",
});
