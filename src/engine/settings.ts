import type { EpistemicType, NodeType, RepresentationLevel } from "../domain/enums.ts";
import type { ConfidenceOverrides } from "../domain/epistemics.ts";
import type { TtlDefaults } from "../domain/retention.ts";

/** How candidates become one ranking (rank fusion). */
export type ScoringSettings = {
  /** 1 to 10000. */
  readonly rrfK: number;
  /** "event_time": equal fused scores are ordered newest first. */
  readonly rrfTieBreak: "event_time" | undefined;
  readonly nodeTypeBoost: Readonly<Partial<Record<NodeType, number>>>;
};

export type PackingSettings = {
  readonly tokenBudget: number;
  /** Tokens of the budget that are left to the caller's own frame. */
  readonly overheadTokens: number;
  readonly minFidelity: RepresentationLevel;
  readonly multipathOrdering: "balanced" | "score" | "density";
  /** Candidates of each search. */
  readonly vectorK: number;
  readonly lexicalK: number;
  /** Neighbours on either side; 0 turns session expansion off. */
  readonly sessionContextWindow: number;
  /** Best candidates whose session neighbours are pulled in. */
  readonly sessionContextTopK: number;
  /** Share of the trigger's score that a neighbour inherits, 0 exclusive to 1. */
  readonly sessionContextScoreDecay: number;
};

/** What the engine needs to know of the configuration. */
export type EngineSettings = {
  readonly scoring: ScoringSettings;
  /** 12 hexadecimal digits. */
  readonly scoringVersion: string;
  readonly packing: PackingSettings;
  readonly epistemicWeights: Readonly<Partial<Record<EpistemicType, number>>>;
  /** 0 to 1: unverified memories below it are left out by default. */
  readonly unverifiedConfidenceThreshold: number;
  readonly confidenceOverrides: ConfidenceOverrides;
  readonly ttlDefaults: TtlDefaults;
  /** Milliseconds that a retrieve may spend on the owner's pending work first. */
  readonly materializationBudgetMs: number;
  /** Jobs that one processing pass tries at most. */
  readonly materializationQueueSize: number;
};
