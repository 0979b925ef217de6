import type { Scope } from "../../domain/enums.ts";

/** What is gathered about names. `null` and `undefined` both mean absent. */

export type KnowledgeInput = {
  readonly userId: string;
  /** Absent: each scope apart. */
  readonly scope?: Scope | null | undefined;
  /** Whom or what to gather about, not blank. Absent: words that look like names and are used often, and names with a profile. */
  readonly entityNames?: readonly string[] | null | undefined;
  /** At least 0. Default 500. */
  readonly maxProfileTokens?: number | null | undefined;
};

export type ProfileMethods = {
  /**
   * Gathers what stable and tentative memories say about names: a summary for each name that two memories mention, in place of the
   * former one. Profiles published before an error stay.
   * @returns how many were published
   * @throws SvcError invalid_argument; stale_profile if a memory changed meanwhile: call again; embedding_failed
   */
  consolidateKnowledge(input: KnowledgeInput): Promise<number>;
};
