/** Bounds of the specification that more than one module needs. */
export const LIMITS = {
  /** Code points of a speaker's name after trimming. */
  speakerMaxChars: 200,
  /** Code points of the name of an actor, after trimming. */
  actorMaxChars: 4000,
  /** Code points of the reason for the evaluation of a condition, after trimming. */
  reasonMaxChars: 4000,
  /** Code points of a question. Other callers wait while one is analysed. */
  queryMaxChars: 131_072,
  /** Tokens of a context. Other callers wait while its texts are counted. */
  contextTokensMax: 131_072,
  /** UTF-16 units of the longest text that enters a context whole: 8 for each token. */
  contextTextChars: 8 * 131_072,
  /** UTF-16 units of a text that are read for its wording: dates, updates, the words of an episode. */
  wordingChars: 64 * 1024,
  /** Value bindings of one memory. */
  valueBindings: 256,
  /** Memories that a new one may replace at once. */
  supersedesMax: 16,
  /** UTF-16 units of text in a page of memories, events or operations; one item may be larger. */
  pageChars: 8 * 1024 * 1024,
  /** Nodes in one query answer. */
  nodeQueryMax: 1000,
  /** Nodes in one batch of ids. */
  nodeBatchMax: 500,
  /** Nodes in one page of a scan. */
  scanPageMax: 1000,
  /** Events in one page. */
  eventPageMax: 1000,
  /** Operations in one page of provenance. */
  operationPageMax: 1000,
  /** Nodes that cite an event, in one answer. */
  citingNodesMax: 1000,
  /** Edges between a node and the farthest node of its neighborhood. */
  neighborhoodHops: 5,
  /** Nodes that a walk through a neighborhood visits, the first one included. */
  neighborhoodVisited: 1000,
  /** Replacements that a chain follows. */
  chainSteps: 100,
  /** Groups in the answer of an aggregation. */
  aggregationGroupsMax: 10_000,
  /** Samples of one such group. */
  aggregationSamplesMax: 100,
  /** Entries in each list of the state of a claim. */
  stateEntriesMax: 10_000,
} as const;
