import { flag, integer, optionalDecimal } from "./fields.ts";

const SHARE = { min: 0, max: 1 } as const;

/** What a store does besides storing. A failed step is reported and never fails the store. */
export const STORE_STEPS = {
  enable_store_supersedence: flag(
    false,
    "Retire what a new memory says was given up (`switched from X to`, `replaced X with`): similar memories of its scope that name it and are about the same people. Memories that keep replacing each other lose confidence.",
  ),
  reinforce_similarity_threshold: optionalDecimal(
    { default: undefined, ...SHARE },
    "Cosine from which a new memory reinforces those that it resembles, among its 5 nearest and in its scope. Unset: never. Repeated instructions are always reinforced.",
  ),
  enable_qa_pairing: flag(
    false,
    "Store an additional memory that joins a turn of a session with the previous one, if they are by different speakers.",
  ),
};

/** Background work. */
export const OPPORTUNISTIC = {
  opportunistic_enabled: flag(
    true,
    "Upkeep in the background. Archives memories whose retention has ended, after opening and after calls, pass after pass until none is left; after `ingest` and `retrieve` also promotes memories of their owner and archives faded ones, one pass. Off: memories stay as they are until the organizer is asked; expired ones are found by `explicit` mode alone and take up places of candidates in searches.",
  ),
  opportunistic_cooldown: integer(
    { default: 3600, min: 0, max: 31_536_000 },
    "Seconds from the end of such work for one owner to the next.",
  ),
  opportunistic_budget_ms: integer(
    { default: 200, min: 0, max: 600_000 },
    "Milliseconds after which a pass starts no further memory.",
  ),
  opportunistic_batch_size: integer(
    { default: 50, min: 1, max: 10_000 },
    "Maximum memories changed per pass and kind of work.",
  ),
};
