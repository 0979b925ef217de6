import { signal } from "@preact/signals";

/** A question on its way to the search, which asks it at once. It is in no address. */
export const question = signal<string | undefined>(undefined);
