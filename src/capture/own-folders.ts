/** Where assistants keep what they write, below a folder of their own. It stays theirs: nothing here writes. */
import { lstatSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SWEPT_CLIENTS } from "./clients.ts";
import { environment } from "./state.ts";

export type SweptClient = (typeof SWEPT_CLIENTS)[number];

export type OwnFolder = {
  readonly variable: string;
  readonly folder: string;
  /** Whether the variable names the folder around it. */
  readonly isAround?: true;
};

type Row = OwnFolder & {
  readonly transcripts: string;
  /** Which kind of source the transcripts are. */
  readonly kind: string;
  /** What the assistant notes for itself; `*` is any one folder. */
  readonly notes: readonly string[];
};

export const OWN_FOLDERS: Readonly<Record<SweptClient, Row>> = {
  "claude-code": {
    variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    transcripts: "projects",
    kind: "claude-code",
    notes: ["CLAUDE.md", "projects/*/memory"],
  },
  codex: {
    variable: "CODEX_HOME",
    folder: ".codex",
    transcripts: "sessions",
    kind: "codex",
    notes: ["AGENTS.md", "memories"],
  },
  gemini: {
    variable: "GEMINI_CLI_HOME",
    folder: ".gemini",
    isAround: true,
    transcripts: "tmp",
    kind: "gemini-cli",
    notes: ["GEMINI.md"],
  },
};

export function inOwnFolder(client: SweptClient, home: string, path: string): string {
  const { variable, folder, isAround } = OWN_FOLDERS[client];
  const named = environment[variable]?.trim() ? resolve(environment[variable]) : undefined;
  return named !== undefined && !isAround ? join(named, path) : join(named ?? home, folder, path);
}

/** The files of notes that are there, and the folders that have some. Links are not followed. */
export function ownNotes(client: string, home: string): readonly string[] {
  if (!isSwept(client)) return [];
  return OWN_FOLDERS[client].notes.flatMap((place) => {
    const [before = "", after] = place.split("/*/");
    const path = inOwnFolder(client, home, before);
    const paths =
      after === undefined ? [path] : entriesIn(path).map((name) => join(path, name, after));
    return paths.filter(hasNotes);
  });
}

function isSwept(client: string): client is SweptClient {
  return Object.hasOwn(OWN_FOLDERS, client);
}

function hasNotes(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return stat.size > 0;
  if (!stat?.isDirectory()) return false;
  return entriesIn(path).some((name) => name.endsWith(".md"));
}

function entriesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
