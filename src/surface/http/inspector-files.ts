export type InspectorFile = {
  readonly type: string;
  /** With its quotation marks, as in the header. */
  readonly etag: string;
  /** Its content, compressed with gzip, in base64. */
  readonly gzip: string;
};

/**
 * The inspector's files by their path below `/inspect/`; the page itself has the empty path. The build puts them here; empty when run from
 * source.
 */
export const INSPECTOR_FILES: Readonly<Record<string, InspectorFile>> = {};
