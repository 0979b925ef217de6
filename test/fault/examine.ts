import { existsSync } from "node:fs";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import type { Entry } from "./ledger.ts";

/** What is wrong with a pack that no process has open. Every list is empty for a sound pack. */
export type Examination = {
  /** Acknowledged texts that are not in the log exactly as they were sent. */
  readonly lost: readonly string[];
  /** Texts, memories and index entries that are there more often than once. */
  readonly repeated: readonly string[];
  /** Calls of which only a part was kept. */
  readonly torn: readonly string[];
  /** Events without finished job, memory, vector or text entry. */
  readonly unfinished: readonly string[];
  /** Complaints of SQLite. */
  readonly damage: readonly string[];
};

type EventRow = {
  readonly id: string;
  readonly content: string;
  readonly job: string | null;
  readonly nodes: number;
  readonly vectors: number;
  readonly texts: number;
};

// A memory's first evidence is the event that it was made from.
const EVENTS = `
SELECT e.id, e.content,
  (SELECT group_concat(status) FROM jobs j WHERE j.event_key = e.key) AS job,
  count(n.key) AS nodes, count(v.node_key) AS vectors, count(t.id) AS texts
FROM events e
  LEFT JOIN nodes n ON n.evidence_refs ->> 0 = e.id
  LEFT JOIN vectors v ON v.node_key = n.key AND v.revision IS NOT NULL
  LEFT JOIN lexical_documents_docsize t ON t.id = (n.owner << 40) | n.key
GROUP BY e.key`;

/** Compares a pack file that no process has open with what was sent to it. */
export function examine(pack: string, entries: readonly Entry[]): Examination {
  const database = openDatabase({
    layout: { kind: "file", path: pack },
    mode: "read-write",
    synchronous: "full",
    busyTimeoutMs: 1_000,
  });
  try {
    const rows = database.query<EventRow, []>(EVENTS).all();
    const vectors = database
      .query<{ n: number }, []>("SELECT count(*) AS n FROM vectors WHERE revision IS NOT NULL")
      .get();
    const check = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
    const indexed = rows.reduce((total, row) => total + row.vectors, 0);
    return {
      ...compare(rows, entries),
      unfinished: rows.filter((row) => !isFinished(row)).map((row) => JSON.stringify(row)),
      damage: [
        ...check.map((line) => line.integrity_check).filter((line) => line !== "ok"),
        ...(vectors?.n === indexed ? [] : [`${vectors?.n} vectors for ${indexed} memories`]),
      ],
    };
  } finally {
    database.close();
  }
}

/** The names of SQLite's companion files that lie beside a pack. */
export function companions(pack: string): readonly string[] {
  return ["-wal", "-shm", "-journal"].filter((suffix) => existsSync(`${pack}${suffix}`));
}

function isFinished({ job, nodes, vectors, texts }: EventRow): boolean {
  return job === "complete" && nodes === 1 && vectors === 1 && texts === 1;
}

function compare(rows: readonly EventRow[], entries: readonly Entry[]) {
  const ids = new Map(rows.map(({ id, content }) => [id, content]));
  const copies = new Map<string, number>();
  for (const { content } of rows) copies.set(content, (copies.get(content) ?? 0) + 1);
  const known = new Set(entries.map(({ content }) => content));
  const calls = Map.groupBy(entries, ({ call }) => call);
  return {
    lost: entries
      .filter(({ eventId, content }) => eventId !== undefined && ids.get(eventId) !== content)
      .map(({ word, eventId }) => `${word}: event ${eventId} is not in the log as it was sent`),
    repeated: [
      ...[...copies].filter(([, times]) => times > 1).map(([content]) => content),
      ...rows
        .filter((row) => row.nodes > 1 || row.texts > 1 || row.vectors > 1)
        .map(({ id }) => id),
      ...[...copies.keys()].filter((content) => !known.has(content)),
    ],
    torn: [...calls]
      .filter(([, parts]) => new Set(parts.map(({ content }) => copies.has(content))).size > 1)
      .map(([call]) => `call ${call}`),
  };
}

/** What a sound pack's examination is. */
export const SOUND: Examination = { lost: [], repeated: [], torn: [], unfinished: [], damage: [] };
