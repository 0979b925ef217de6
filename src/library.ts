/** The public names for a program that imports `svc`. It runs on Bun; `docs/library.md` shows its use. */
export { MemoryClient } from "./app/client/memory-client.ts";
export { type EngineExtras, MemoryEngine } from "./app/memory-engine.ts";
export { VERSION } from "./app/version.ts";
export type {
  NamespaceLease,
  WorkspaceAnswer,
  WorkspaceQuestion,
  WorkspaceResult,
} from "./app/workspace/workspace.ts";
export { MemoryWorkspace, type WorkspaceOptions } from "./app/workspace/workspace.ts";
export type { ConfigInput } from "./config/schema.ts";
export { type Whole, wholeOf } from "./domain/beginning.ts";
export {
  ACTIVE_STATES,
  CONDITION_STATES,
  type ConditionState,
  DECAY_PROFILES,
  type DecayProfile,
  EDGE_TYPES,
  type EdgeType,
  EPISTEMIC_TYPES,
  type EpistemicType,
  LIFECYCLE_STATES,
  type LifecycleState,
  NODE_TYPES,
  type NodeType,
  QUERY_INTENTS,
  type QueryIntent,
  REPRESENTATION_LEVELS,
  RETRIEVAL_MODES,
  type RepresentationLevel,
  type RetrievalMode,
  ROLES,
  type Role,
  SCOPES,
  type Scope,
  SOURCE_TYPES,
  type SourceType,
} from "./domain/enums.ts";
export {
  BadCitationError,
  ConfigError,
  EmbeddingError,
  EncryptionError,
  EngineClosedError,
  ERROR_CATALOGUE,
  type ErrorCode,
  type ErrorData,
  ExtractionError,
  FrameDecodeError,
  InvalidArgumentError,
  InvalidTransitionError,
  MaterializationError,
  ModelError,
  NamespaceIdentityError,
  NotFoundError,
  ObservationError,
  PackError,
  PackInUseError,
  PackLockedError,
  RequestConflictError,
  SpeakerError,
  StaleConsolidationError,
  StaleProfileError,
  StorageError,
  SvcError,
  UnauthenticatedBindError,
  UnsupportedError,
  UnsupportedSourceError,
  VisionDisabledError,
  VisionError,
  WorkspaceError,
} from "./domain/errors.ts";
export type { ProcessingResult, ProcessingStatus } from "./domain/jobs.ts";
export type { InstantInput } from "./domain/lifecycle.ts";
export type { ValueBinding } from "./domain/metadata.ts";
export type { Edge, KeptBlob, MemoryEvent, MemoryNode } from "./domain/node.ts";
export type { OwnerMemories, OwnerSummary } from "./domain/owner.ts";
export type { AssertionState, StateEntry, StateValue } from "./domain/records/aggregation.ts";
export {
  type AssertionAggregation,
  type AssertionGroup,
  CLAIM_DIMENSIONS,
  type ClaimDimension,
  QUANTITY_DIMENSIONS,
  type QuantityAggregation,
  type QuantityDimension,
  type QuantityGroup,
  type QuantityPlan,
  type TextAggregation,
} from "./domain/records/aggregation.ts";
export type { FrameObservation, ObservationReport } from "./domain/records/observation.ts";
export type {
  Coverage,
  Explanation,
  KeptReceipt,
  RetrievalReceipt,
} from "./domain/records/receipt.ts";
export {
  type AnswerCitations,
  CITATION_METHODS,
  type CitationMethod,
} from "./domain/records/receipt.ts";
export type { SectionName } from "./domain/records/retrieval-record.ts";
export type { RankingMultipliers, ScoreTrace } from "./domain/records/score.ts";
export type { ScoringWeights } from "./domain/scoring.ts";
export type * from "./engine/aggregate/api.ts";
export type * from "./engine/browse/api.ts";
export type * from "./engine/extract/api.ts";
export type * from "./engine/forget/api.ts";
export type * from "./engine/import/api.ts";
export type * from "./engine/inspect/api.ts";
export {
  type ChangeCaller,
  type ClaimsOptions,
  type ConditionInput,
  EVALUATION_METHODS,
  type EvaluationMethod,
  type ReinforceOptions,
  type RestoredMany,
  type RestoreFadedInput,
  type RestoreOptions,
  type TransitionOptions,
} from "./engine/lifecycle/api.ts";
export type * from "./engine/observe/api.ts";
export type * from "./engine/organize/api.ts";
export type { Overview, OverviewEntry, OverviewInput } from "./engine/overview.ts";
export type { MoveOwnerInput } from "./engine/owners.ts";
export type { KnowledgeInput } from "./engine/profiles.ts";
export type * from "./engine/receipts/api.ts";
export type * from "./engine/retrieve/api.ts";
export { renderSystemInstructions, resolveContextRef } from "./engine/retrieve/pack/bundle.ts";
export {
  type BundleVerification,
  type VerifiedCitation,
  type VerifiedPassage,
  verifyBundle,
} from "./engine/retrieve/verify-bundle.ts";
export type * from "./engine/write/api.ts";
export {
  createHttpHandler,
  type HttpHandler,
  type HttpOptions,
  type HttpServer,
  type HttpServerOptions,
  startHttpServer,
} from "./http-library.ts";
export type { Instant } from "./lib/instant.ts";
export type { Json, JsonObject } from "./lib/json.ts";
export type { Uuid } from "./lib/uuid.ts";
export type { StoreCounts } from "./ports/store/graph.ts";
export type { AuditRecord as Operation } from "./ports/store/records.ts";
