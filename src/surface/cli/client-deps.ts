import type { Config } from "../../config/schema.ts";

/** For whom an assistant is configured: its user everywhere, or whoever works in the working directory. */
export const SCOPES = ["user", "project"] as const;
export type Scope = (typeof SCOPES)[number];

/** How an assistant starts the memory server. */
export type ServerCommand = {
  /** Absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** What is set beside the variables that the assistant passes on. Never a secret. */
  readonly env: Readonly<Record<string, string>>;
};

/** What an assistant is to be told about a pack. */
export type AssistantWish = {
  /** Absolute path, as a person would name it. */
  readonly pack: string;
  readonly userId: string | undefined;
  readonly tools: "core" | "full";
  /** Its name. Absent: any assistant. */
  readonly client?: string;
};

export type Assistant = {
  readonly server: ServerCommand;
  /** What keeps an assistant from using the pack, or that there is none yet; one sentence each. */
  readonly concerns: readonly string[];
};

/** Which entry of which assistant. */
export type ClientEntry = {
  readonly client: string;
  readonly scope: Scope;
  /** The server's name in the configuration. */
  readonly name: string;
};

/** A change of a configuration file that has not been made yet. */
export type ClientChange = {
  /** What people call the assistant. */
  readonly title: string;
  /** Absolute path. */
  readonly file: string;
  /** Its text; undefined: no file. */
  readonly before: string | undefined;
  /** The same as `before`: there is nothing to do. */
  readonly after: string | undefined;
  /** Other names under which the file has servers of svc. */
  readonly otherNames: readonly string[];
  /** Makes the change, at once or not at all. @returns the path of the copy of the former file, where one is made */
  apply(): string | undefined;
};

/** What to put into the configuration of an assistant by hand. */
export type Snippet = {
  readonly text: string;
  /** What people call the known assistant that reads it; undefined: it has what most of the others read. */
  readonly title: string | undefined;
  /** The known assistants that may be meant instead. */
  readonly similar: readonly string[];
};

/** What came of starting a server and speaking to it. */
export type RoundTrip =
  | {
      readonly isOk: true;
      /** Milliseconds from the start of the process to its last answer. */
      readonly ms: number;
      /** Of them, those until the server had introduced itself. */
      readonly startMs: number;
      readonly tools: number;
    }
  | { readonly isOk: false; readonly ms: number; readonly problem: string };

/** What the commands need to change the configuration of assistants. */
export type ClientDeps = {
  /** The assistants whose configuration is known. */
  names(): Promise<readonly string[]>;
  /** How an assistant uses the configured pack. */
  assistant(config: Config, wish: AssistantWish): Promise<Assistant>;
  /** @throws SvcError invalid_argument for an unknown client, an unreadable file, or another program's entry without `force` */
  planConnection(entry: ClientEntry, server: ServerCommand, force: boolean): Promise<ClientChange>;
  /** @throws SvcError invalid_argument for an unknown client, an unreadable file, or another program's entry */
  planDisconnection(entry: ClientEntry): Promise<ClientChange>;
  /** What to put into the configuration of a client; of one that is not known, what most of them read. */
  snippet(client: string, name: string, server: ServerCommand): Promise<Snippet>;
  /** Starts a server as an assistant would, speaks to it, and ends it. Stores nothing. */
  tryServer(server: ServerCommand): Promise<RoundTrip>;
};
