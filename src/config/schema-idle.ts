import { decimal, integer } from "./fields.ts";

/** Settings that are accepted but have no effect, because every write to the store is durable and findable at once. */
export const IDLE_SETTINGS = {
  vector_save_interval: integer(
    { default: 64, min: 1 },
    "Accepted, without effect: vectors are saved with every write.",
  ),
  lexical_commit_interval: integer(
    { default: 64, min: 1 },
    "Accepted, without effect: words are saved with every write.",
  ),
  lexical_commit_max_delay_s: decimal(
    { default: 2, min: 0 },
    "Accepted, without effect: words are saved with every write.",
  ),
};

/** @param given the explicitly set settings */
export function idleWarnings(given: readonly string[]): readonly string[] {
  return given
    .filter((name) => Object.hasOwn(IDLE_SETTINGS, name))
    .map((name) => `${name} has no effect: every write is saved at once`);
}
