/** Afterwards: what assistants wrote down on this machine and no hook delivered. */
import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../adapters/native/system-files.ts";
import { createSourceReader } from "../adapters/sources/reader.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { SourceRecord } from "../ports/sources.ts";
import { SWEPT_CLIENTS } from "./clients.ts";
import { inOwnFolder, OWN_FOLDERS, type SweptClient } from "./own-folders.ts";
import { projectAt } from "./projects.ts";
import { isRefusal, ownerFor, storeTurn } from "./receive.ts";
import { captureFolder, switchedOff, userSecret } from "./state.ts";
import { isCommand, keepable } from "./texts.ts";
import { type Turn, turnId } from "./turn.ts";

/** Milliseconds for which a file must have been left alone: its session may go on. */
const QUIET_MS = 60_000;
const DEPTH = 6;
/** Milliseconds for making findable what was stored; the rest follows when the pack is served. */
const INDEX_MS = 60_000;
const SEEN_FILE = "swept.json";

export type SweepOptions = {
  readonly home: string;
  readonly user: string | undefined;
  /** The assistants whose files are read. */
  readonly clients: readonly string[];
  /** Only what was said from then on; undefined: all. */
  readonly since: string | undefined;
};

export type Swept = {
  readonly files: number;
  readonly stored: number;
  readonly known: number;
  /** Lines and messages that are nobody's words, or not to be stored. */
  readonly leftOut: number;
};

/**
 * Stores what transcripts say and no hook delivered. Repeating it stores nothing twice; nothing is written to a transcript.
 * @throws SvcError invalid_argument for a pack of several owners if none is named; the files are read the next time
 */
export async function sweep(engine: MemoryEngine, options: SweepOptions): Promise<Swept> {
  const seen = readSeen();
  const total = { files: 0, stored: 0, known: 0, leftOut: 0 };
  let { user } = options;
  for (const client of SWEPT_CLIENTS) {
    if (!options.clients.includes(client)) continue;
    const { transcripts } = OWN_FOLDERS[client];
    for (const file of filesIn(inOwnFolder(client, options.home, transcripts), DEPTH)) {
      const found = lstatSync(file, { throwIfNoEntry: false });
      if (found === undefined) continue;
      const { size, mtimeMs } = found;
      const mark = `${size} ${Math.floor(mtimeMs)}`;
      if (Date.now() - mtimeMs < QUIET_MS || seen[file] === mark) continue;
      user ??= await ownerFor(engine, user);
      await sweepFile(engine, { client, user, since: options.since, file }, total);
      total.files += 1;
      seen[file] = mark;
    }
  }
  mkdirSync(captureFolder(), { recursive: true, mode: 0o700 });
  if (total.stored > 0) await engine.processPending({ budgetMs: INDEX_MS });
  replaceFile(captureFolder(SEEN_FILE), `${JSON.stringify(seen)}\n`, 0o600);
  return total;
}

type Of = Pick<SweepOptions, "since"> & {
  readonly client: SweptClient;
  readonly user: string;
  readonly file: string;
};

/** Of the answers between two prompts the last one is final, as hooks deliver it. */
async function sweepFile(
  engine: MemoryEngine,
  of: Of,
  total: { stored: number; known: number; leftOut: number },
): Promise<void> {
  let answer: SourceRecord | undefined;
  let failure: unknown;
  const take = async (record: SourceRecord | undefined): Promise<void> => {
    if (record === undefined) return;
    const outcome = await storeRecord(engine, { ...of, imported }, record).catch((error) => {
      if (isRefusal(error)) return undefined;
      failure = error;
      throw error;
    });
    total[outcome === "stored" ? "stored" : outcome === undefined ? "leftOut" : "known"] += 1;
  };
  const imported = importedOf(engine, of.user);
  const reading = {
    from: OWN_FOLDERS[of.client].kind,
    tools: false,
    allBranches: false,
    offsetMinutes: undefined,
  };
  const signal = AbortSignal.timeout(600_000);
  try {
    const items = createSourceReader().read({ path: of.file }, { ...reading, signal });
    for await (const item of items) {
      if (item.kind !== "record") total.leftOut += item.kind === "left_out" ? 1 : 0;
      else if (item.record.voice === "answer") answer = item.record;
      else if (item.record.voice === "said") {
        await take(answer);
        answer = undefined;
        await take(item.record);
      }
    }
  } catch {
    // What cannot be stored now is read again.
    if (failure !== undefined) throw failure;
    // A file of another form than is known here stays for another version.
    total.leftOut += 1;
  }
  await take(answer);
}

async function storeRecord(
  engine: MemoryEngine,
  { client, user, since, file, imported }: Of & { readonly imported: Imported },
  { content, voice, sessionId, eventTime, about }: SourceRecord,
) {
  const session = sessionId ?? file;
  const folder = typeof about["project"] === "string" ? about["project"] : undefined;
  const at = eventTime ?? new Date().toISOString();
  if (isCommand(content) || (since !== undefined && at < since)) return undefined;
  if (/^\s*!nomem\b/i.test(content) || switchedOff({ client, session, folder }) !== undefined) {
    return undefined;
  }
  const kept = keepable(content);
  if (kept === undefined) return undefined;
  const role = roleOf(voice);
  const project = projectAt(folder);
  if ((await imported(session)).has(`${role} ${kept.text}`)) return "known";
  const turn = { client, session, role, text: kept.text, at, user, project, secrets: kept.secrets };
  return await storeTurn(engine, { id: turnId(userSecret(), turn), ...turn });
}

function roleOf(voice: SourceRecord["voice"]): Turn["role"] {
  return voice === "said" ? "user" : "assistant";
}

/** Tells the request ids by which hooks and sweeps store what transcripts say. */
export function capturedIds(): (record: SourceRecord) => Uuid | undefined {
  let secret: string | undefined;
  return ({ about, sessionId, voice, content }) => {
    const client = SWEPT_CLIENTS.find((one) => OWN_FOLDERS[one].kind === about["client"]);
    const kept = client === undefined || sessionId === undefined ? undefined : keepable(content);
    if (client === undefined || sessionId === undefined || kept === undefined) return undefined;
    try {
      secret ??= userSecret();
    } catch {
      // Without a place for the secret nothing was captured.
      return undefined;
    }
    const turn = { client, session: sessionId, role: roleOf(voice), text: kept.text };
    return turnId(secret, turn);
  };
}

/** What imports have stored of a conversation, by role and text. */
type Imported = (session: string) => Promise<ReadonlySet<string>>;

function importedOf(engine: MemoryEngine, userId: string): Imported {
  const known = new Map<string, Promise<ReadonlySet<string>>>();
  const read = async (sessionId: string): Promise<ReadonlySet<string>> => {
    const texts = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await engine.listEvents({ userId, sessionId, limit: 500, cursor });
      for (const { role, content, metadata } of page.events) {
        if (metadata?.["import"] !== undefined) texts.add(`${role} ${content.trim()}`);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return texts;
  };
  return (session) => known.getOrInsertComputed(session, read);
}

/** The files of a folder and of those in it. Links are not followed. */
function filesIn(folder: string, depth: number): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return depth > 0 ? filesIn(path, depth - 1) : [];
      return entry.isFile() && /\.jsonl?$/.test(entry.name) ? [path] : [];
    });
  } catch {
    return [];
  }
}

function readSeen(): Record<string, string> {
  try {
    return JSON.parse(readFileSync(captureFolder(SEEN_FILE), "utf8"));
  } catch {
    return {};
  }
}
