import type { EdgeType, NodeType, Scope } from "../domain/enums.ts";
import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";

/** Where an import comes from: a file, a folder, or bytes. */
export type SourceInput =
  | { readonly path: string }
  | { readonly bytes: AsyncIterable<Uint8Array>; readonly name: string | undefined };

export type SourceOptions = {
  /** The name of a kind of source (`SourceKindInfo.name`); absent: what the content says. */
  readonly from: string | undefined;
  /** Whether messages of tools are read. */
  readonly tools: boolean;
  /** Whether answers that were replaced by others are read. */
  readonly allBranches: boolean;
  /** Offset of times that have none, in minutes east of UTC; absent: that of the machine. */
  readonly offsetMinutes: number | undefined;
  readonly signal: AbortSignal;
};

/**
 * Who a record comes from. `said`: the owner. `other`: another person. `answer`: an assistant, not found unless asked for. `tool`: a
 * tool's output. `derived`: another system made it up. `document`: a file.
 */
export type SourceVoice = "said" | "other" | "answer" | "tool" | "derived" | "document";

/** A record of a source that becomes an event and a memory. */
export type SourceRecord = {
  /**
   * What the record is called there. `id`: by the source itself. `key`: by its place, for records without an id; `isOfText`: its text is
   * part of it, so that another text is another record.
   */
  readonly identity:
    | { readonly id: readonly (string | number)[] }
    | { readonly key: readonly (string | number)[]; readonly isOfText: boolean };
  readonly voice: SourceVoice;
  readonly content: string;
  /** Where a part of a document stands, such as `lease.pdf, page 2`: its memory begins with it, so that it is found by it. */
  readonly place?: string | undefined;
  readonly speaker?: string | undefined;
  /** Default `note`. */
  readonly nodeType?: NodeType | undefined;
  /** Default `personal`. */
  readonly scope?: Scope | undefined;
  readonly sessionId?: string | undefined;
  readonly eventTime?: Instant | undefined;
  /** Whether the time is not the record's own, or lacked its offset. */
  readonly isTimeAssumed?: boolean | undefined;
  /** Kept as `metadata.import`; `raw` has the fields without a place of their own. */
  readonly about: JsonObject;
  /** Names the record for `edges` of others. */
  readonly label?: string | undefined;
  readonly edges?: readonly SourceEdge[] | undefined;
};

/** An edge between labelled records. */
export type SourceEdge = {
  readonly edgeType: EdgeType;
  readonly from: string;
  readonly to: string;
  readonly metadata?: JsonObject | undefined;
};

export type SourceItem =
  | { readonly kind: "record"; readonly of: SourcePart; readonly record: SourceRecord }
  /** Between records of the part, wherever they stand. */
  | { readonly kind: "edge"; readonly of: SourcePart; readonly edge: SourceEdge }
  /** Something that is not imported, such as a hidden message. */
  | { readonly kind: "left_out"; readonly why: string; readonly count?: number }
  /** A file, or a record of it, that cannot be read. */
  | {
      readonly kind: "unreadable";
      readonly file: string;
      readonly as: string;
      readonly why: string;
    }
  /** A document was read to its end: of its parts, those that were not named are gone. */
  | { readonly kind: "whole"; readonly of: SourcePart; readonly sessionId: string }
  | { readonly kind: "progress"; readonly done: number; readonly total: number };

/** What a record belongs to: ids are unique in it. */
export type SourcePart = {
  readonly source: SourceKindInfo;
  /** Separates sources whose own names may be equal, such as two folders; empty where ids are unique everywhere. */
  readonly instance: string;
  readonly file: string;
};

export type SourceKindInfo = {
  /** Such as `chatgpt`. */
  readonly name: string;
  /** Such as `ChatGPT export`. */
  readonly title: string;
  /** Whether the source's records can be written again from the events alone. */
  readonly isLossless: boolean;
};

/** Reads what other programs keep. Nothing is written to a source. */
export type SourceReader = {
  readonly kinds: readonly SourceKindInfo[];
  /**
   * Reads a source, piece by piece.
   * @throws SvcError not_found, unsupported_source that says what it was recognised as; the signal's reason
   */
  read(input: SourceInput, options: SourceOptions): AsyncIterable<SourceItem>;
  /** The request id by which hooks of assistants store the words of a record; undefined: none do. */
  capturedId?(record: SourceRecord): Uuid | undefined;
};
