import type { Config, ConfigInput } from "../../config/schema.ts";
import type { SettingsFile } from "../../config/settings-file.ts";
import type { PackOwner } from "../../domain/pack-owner.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Log } from "../contract/core/log.ts";
import type { ClientDeps } from "./client-deps.ts";
import type { KeyDeps, Keyed, KeyRequest, NewKey } from "./key-deps.ts";
import type { Output } from "./output.ts";

/** What `svc info` shows of a pack. Counts cover all owners. */
export type PackReport = {
  /** Absolute path of the file that holds the log. */
  readonly path: string;
  readonly bytes: number;
  readonly encrypted: boolean;
  /** What is to be said of a copy that lacks its log; undefined when nothing is missing. */
  readonly missing: string | undefined;
  readonly manifest: {
    readonly formatVersion: number;
    readonly softwareVersion: string;
    readonly embedding: {
      readonly model: string;
      readonly version: string;
      readonly dimension: number;
    };
    readonly scoringVersion: string;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  readonly nodeCount: number;
  readonly edgeCount: number;
  readonly eventCount: number;
  readonly ownerCount: number;
  /** Who is meant where no owner is named. */
  readonly owner: PackOwner;
  readonly vectorCount: number;
  readonly lexicalCount: number;
  readonly pendingJobs: number;
  readonly lastModified: string | undefined;
};

/** One line of `svc doctor`. */
export type Check = {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  /** What was found and, unless it is fine, what to do. */
  readonly message: string;
};

/** What `svc compact` and `svc rekey` did. */
export type Rewrite = {
  /** Absolute path, without links, of the file that holds the log. */
  readonly path: string;
  /** Of all files of the pack. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly encrypted: boolean;
};

/** How `svc rekey` is to leave a pack. */
export type RekeyTarget =
  | { readonly kind: "plain" }
  /** `isFirst`: the pack is not encrypted so far. */
  | { readonly kind: "encrypted"; readonly key: string; readonly isFirst: boolean };

/** What `svc migrate` did; counts are of the new pack. */
export type Migration = {
  readonly source: string;
  readonly destination: string;
  readonly nodes: number;
  readonly edges: number;
  readonly events: number;
  readonly vectors: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly encrypted: boolean;
};

export type HttpServeOptions = {
  readonly config: Config;
  /** Where settings of it may come from. */
  readonly settingsFile: SettingsFile | undefined;
  readonly host: string;
  /** 0 to 65535; 0 takes a free one. */
  readonly port: number;
  readonly allowUnauthenticatedExternalBind: boolean;
  /** Whether MCP is answered too. */
  readonly mcp: boolean;
  /** The key that was given on the command line. */
  readonly key: string | undefined;
  /** Whether nothing is written. */
  readonly readOnly: boolean;
  /** Called once the address is ours. */
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly log: Log;
};

/** A server that is listening. */
export type RunningServer = {
  /** Address to show, for example `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Finishes the requests under way, then closes the engine. */
  stop(): Promise<void>;
};

export type McpServeOptions = {
  readonly config: Config;
  /** Where settings of it may come from. */
  readonly settingsFile: SettingsFile | undefined;
  /** The key that was given on the command line. */
  readonly key: string | undefined;
  /** Whether nothing is written. */
  readonly readOnly: boolean;
  /** Which tools the client is offered. */
  readonly tools: "core" | "full";
  /** What the text blocks of its answers are. */
  readonly answers: "json" | "text";
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly log: Log;
};

export type McpHttpServeOptions = McpServeOptions & {
  /** 0 to 65535; 0 takes a free one. */
  readonly port: number;
};

export type EngineOpening = {
  /** False: a missing pack is refused and nothing is created. */
  readonly createIfMissing: boolean;
  /** True: nothing is written, whether or not it could be. Default: only where this user cannot write the pack. */
  readonly readOnly?: boolean;
  /** Whether the vectors are to be made anew. Default false. */
  readonly renewsVectors?: boolean;
  readonly warn: (message: string) => void;
};

export type ExportRequest = {
  /** `jsonl` can be imported again; `json` is for other programs. */
  readonly form: "jsonl" | "json";
  readonly withVectors: boolean;
  /** A file to make; undefined: everything goes to `write`. */
  readonly output: string | undefined;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
  /** Resolves when more may come. */
  readonly write: (text: string) => Promise<void>;
  readonly signal: AbortSignal;
};

/** Where an export went, and how much it was. */
export type ExportReport = {
  readonly path: string | undefined;
  readonly bytes: number;
  /** Requests whose receipts are damaged and were left out. */
  readonly damagedReceipts: readonly string[];
};

export type ImportRequest = {
  /** A file that `svc export` wrote; undefined: standard input. */
  readonly file: string | undefined;
  readonly signal: AbortSignal;
  /** Called now and then with the records that were taken in. */
  readonly onProgress: (done: number, total: number) => void;
};

/** What an import brought. */
export type ImportReport = Keyed & {
  /** Absolute path of the file that holds the log. */
  readonly path: string;
  readonly counts: {
    readonly owner: number;
    readonly event: number;
    readonly operation: number;
    readonly node: number;
    readonly edge: number;
    readonly job: number;
    readonly receipt: number;
    readonly vector: number;
  };
  /** True when some memory is still to be embedded, by a rebuild. */
  readonly lacksVectors: boolean;
};

export type BackupRequest = {
  /** The file, or of a directory pack the folder, to make. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called now and then with the bytes that were copied. */
  readonly onProgress: (done: number, total: number) => void;
};

/** What `svc backup` made; counts are of the copy and cover all owners. */
export type Backup = {
  /** Absolute paths of the files that hold the log. */
  readonly source: string;
  readonly destination: string;
  readonly events: number;
  readonly nodes: number;
  /** Of all files of the copy. */
  readonly bytes: number;
  readonly encrypted: boolean;
  /** What is to be said of an original, and so of its copy, that lacks its log; undefined when nothing is missing. */
  readonly missing: string | undefined;
};

/** What the commands need of the rest of the program; the process entry provides it. */
export type CliDeps = {
  readonly version: string;
  /** The command line that starts this program again, the executable's absolute path first. */
  readonly self: readonly [string, ...string[]];
  /** The settings that make a path the pack. */
  settingsForPath(path: string): Promise<ConfigInput>;
  openEngine(config: Config, opening: EngineOpening): Promise<MemoryEngine>;
  /** Opens a pack; a missing one is made as `svc init` makes it, unless the settings say how, and `warn` is told. */
  openOrMake(config: Config, warn: (message: string) => void): Promise<MemoryEngine>;
  reportOnPack(config: Config): Promise<PackReport>;
  /** @param isRequired whether a missing pack is a failure or merely worth a warning. */
  diagnose(config: Config, isRequired: boolean, request: KeyRequest): Promise<readonly Check[]>;
  readonly keys: KeyDeps;
  readonly clients: ClientDeps;
  /** Writes a pack out; a file appears when it is complete. Rejects with the signal's reason when aborted. */
  exportPack(config: Config, request: ExportRequest): Promise<ExportReport>;
  /** Makes a pack of an export; it appears when it is complete. Rejects with the signal's reason when aborted. */
  importPack(config: Config, newKey: NewKey, request: ImportRequest): Promise<ImportReport>;
  /** Copies a pack, also while others use it. Rejects with the signal's reason when aborted. */
  backUpPack(config: Config, request: BackupRequest): Promise<Backup>;
  /** Refused while anybody has the pack open, like the two that follow. */
  compactPack(config: Config): Promise<Rewrite>;
  rekeyPack(config: Config, target: RekeyTarget): Promise<Rewrite>;
  migratePack(config: Config, destination: string): Promise<Migration>;
  serveHttp(options: HttpServeOptions): Promise<RunningServer>;
  /** Serves the client on stdin and stdout until it leaves or `stop` aborts, then closes the engine. */
  serveMcp(options: McpServeOptions, stop: AbortSignal): Promise<void>;
  /** Serves the assistants of this machine that have a key. */
  serveMcpHttp(options: McpHttpServeOptions): Promise<RunningServer>;
};

/** What every command gets. */
export type CliContext = {
  readonly deps: CliDeps;
  readonly output: Output;
  /** Sets the exit code of a command that ran to its end but has bad news. */
  fail(): void;
};
