/** Bounds of the specification that more than one module needs. */
export const LIMITS = {
  /** Code points of a speaker's name after trimming. */
  speakerMaxChars: 200,
  /** Value bindings of one memory. */
  valueBindings: 256,
  /** Nodes in one query answer. */
  nodeQueryMax: 1000,
  /** Events in one page. */
  eventPageMax: 1000,
} as const;
