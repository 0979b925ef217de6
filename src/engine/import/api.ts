import type { Scope } from "../../domain/enums.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import {
  anyObject,
  dictionary,
  flag,
  instant,
  list,
  natural,
  nullable,
  object,
  text,
  uuid,
  type ValueOf,
} from "../../lib/form.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** A source to bring in. For optional members `undefined` and `null` both mean absent. */
export type ImportInput = {
  /** The path of a file or folder, or bytes. */
  readonly source: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly userId: string;
  /** The name of a kind of source. Default: what the content says. */
  readonly from?: string | null | undefined;
  /** Of bytes: the name of their file, by which notes and documents are told apart. */
  readonly sourceName?: string | null | undefined;
  /** Leaves out what has an earlier time. */
  readonly since?: InstantInput | null | undefined;
  /** Default: `project` where the source names one, else `personal`. */
  readonly scope?: Scope | null | undefined;
  /** Whether outputs of tools are read. Default false. */
  readonly tools?: boolean | null | undefined;
  /** `shown`: the branch of a conversation that its user saw last. Default `shown`. */
  readonly branches?: "shown" | "all" | null | undefined;
  /** Offset of times without one, in minutes east of UTC. Default: that of the machine. */
  readonly offsetMinutes?: number | null | undefined;
  /** Also takes what was forgotten. Default false. */
  readonly again?: boolean | null | undefined;
  /** Reads and compares, and writes nothing. Default false. */
  readonly dryRun?: boolean | null | undefined;
  /** Records in the report, 0 to 100. Default 0. */
  readonly sample?: number | null | undefined;
  /** Ends the call; what was admitted stays, and the next call goes on. */
  readonly signal?: AbortSignal | null | undefined;
  /** @param stage `reading` counts bytes, `words` memories */
  readonly onProgress?:
    | ((stage: "reading" | "words", done: number, total: number) => void)
    | null
    | undefined;
};

const counts = object({
  seen: natural,
  new: natural,
  /** In the memory already, word for word. */
  unchanged: natural,
  /** There with another text, which the new one replaces. */
  changed: natural,
  /** Forgotten before, and left out. */
  forgotten: natural,
});
export type ImportCounts = ValueOf<typeof counts>;

export const importReportForm = object({
  /** Takes the import back as a whole. Null: nothing was written. */
  importId: nullable(uuid),
  dryRun: flag,
  sources: list(
    object({
      source: text,
      title: text,
      lossless: flag,
      files: natural,
      conversations: natural,
      /** Of the times that the source tells. */
      firstTime: nullable(instant),
      lastTime: nullable(instant),
    }),
  ),
  /** By voice: `said`, `other`, `answer`, `tool`, `derived`, `document`. */
  records: dictionary(counts),
  edges: natural,
  /** Memories retired because a changed document no longer has them. */
  retired: natural,
  /** By reason. */
  leftOut: dictionary(natural),
  /** Replaced in the texts, by kind. */
  secrets: dictionary(natural),
  withoutTime: natural,
  /** At most 100; `unreadableCount` has all. */
  unreadable: list(object({ file: text, as: text, why: text })),
  unreadableCount: natural,
  samples: list(anyObject),
});
export type ImportReport = ValueOf<typeof importReportForm>;

export type ImportUndone = {
  readonly importId: Uuid;
  readonly events: number;
  readonly memories: number;
  /** Memories that the import had replaced and that hold again. */
  readonly restored: number;
  /** The records of what was erased (`getForgetting`). */
  readonly forgetIds: readonly Uuid[];
};

/** Bringing in what other programs keep. */
export type ImportMethods = {
  /**
   * Imports a source. Repeating it writes nothing; after an interruption it goes on. Everything can be found by words when it resolves;
   * vectors follow.
   * @throws SvcError invalid_argument, not_found; unsupported_source, naming what it was recognised as; pack_read_only; the signal's reason
   */
  importSource(input: ImportInput): Promise<ImportReport>;
  /**
   * Erases everything that an import brought in, and restores what it replaced.
   * @throws SvcError not_found for an unknown import, or one of another owner
   */
  undoImport(userId: string, importId: string): Promise<ImportUndone>;
};
