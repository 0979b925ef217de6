import type { Config } from "../../config/schema.ts";
import type { SettingsFile } from "../../config/settings-file.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Log } from "../contract/core/log.ts";
import type { ToolSet } from "../contract/core/operation.ts";
import type { Output } from "./output.ts";

/** What every command gets. */
export type CliContext = {
  readonly serving: Serving;
  readonly output: Output;
  /** Sets the exit code of a command that completed with a negative result. */
  fail(): void;
  /** Runs another command. @param args without the program's own name */
  run(args: readonly string[]): Promise<void>;
};

/** The long-running processes. The process entry supplies them, since they combine surfaces that do not know each other. */
export type Serving = {
  http(options: HttpServeOptions): Promise<RunningServer>;
  /** Takes the address at which programs of this user share a server. @throws SvcError bind_failed */
  users(address: string): Promise<Users>;
  /** Serves the page of one person. */
  inspect(options: InspectOptions): Promise<RunningInspector>;
  /** Serves the client on stdin and stdout until it leaves or `stop` aborts, then closes the engine. */
  mcp(options: McpServeOptions, stop: AbortSignal): Promise<void>;
  /** Serves the assistants of this machine that have a key. */
  mcpHttp(options: McpHttpServeOptions): Promise<RunningServer>;
};

/** Options of every server. */
type ServeOptions = {
  readonly config: Config;
  /** Possible sources of its settings. */
  readonly settingsFile: SettingsFile | undefined;
  /** The key given on the command line. */
  readonly key: string | undefined;
  /** Whether the server is read-only. */
  readonly readOnly: boolean;
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly log: Log;
};

/** A server that can examine its pack in another process. */
type ExaminedServeOptions = ServeOptions & {
  /** Whether every command of this machine finds the pack's key by itself. */
  readonly keyIsKept: boolean;
};

export type HttpServeOptions = ExaminedServeOptions & {
  readonly host: string;
  /** 0 to 65535; 0 picks a free one. */
  readonly port: number;
  readonly allowUnauthenticatedExternalBind: boolean;
  /** Whether MCP is served too. */
  readonly mcp: boolean;
  /** The only key, in place of the configured ones. */
  readonly onlyKey: string | undefined;
};

export type InspectOptions = ExaminedServeOptions & {
  /** Called when the session has ended because its link was used a second time. */
  readonly onSessionEnded: () => void;
};

export type McpServeOptions = ServeOptions & {
  /** Which tools the client is offered. */
  readonly tools: ToolSet;
};

export type McpHttpServeOptions = McpServeOptions & {
  /** 0 to 65535; 0 picks a free one. */
  readonly port: number;
};

/** Programs that share a server of their own. */
export type Users = {
  /** Opens the interface; made for this run. */
  readonly key: string;
  /** Aborts when the last user has gone. */
  readonly gone: AbortSignal;
  /** Tells every user, now and later, where the server is. */
  ready(url: string): void;
  /** Frees the address, so that the next user starts a new server. */
  leave(): void;
};

export type RunningServer = {
  /** Address to show, for example `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Address of the inspector; undefined if off. */
  readonly inspector?: string | undefined;
  /** Finishes running requests, then closes the engine. */
  stop(): Promise<void>;
};

/** A listening inspector server; its address shows the page. */
export type RunningInspector = RunningServer & {
  /** A new address that opens the page once, within two minutes; sessions of earlier ones end. */
  link(): string;
};
