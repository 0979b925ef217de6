/**
 * How many memories words alone find whose words have another form in the question: `bun scripts/quality/word-forms.ts`. The
 * memories of all languages are one owner's. Printed are, by language, how many questions have their memory first, and among the
 * first five, by BM25: as the first version of the analyser found them, which stems every language as if it were English, and as
 * the store does. With `--missed` it also prints the questions whose memory is not among the first five.
 */
import type { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { documentNumber, KEY_MASK } from "../../src/adapters/sqlite/write/lexical-index.ts";
import { readTurn, surround } from "../../src/adapters/sqlite/write/turns.ts";
import { analyse, dateWords, questionTerms } from "../../src/domain/lexical-analysis.ts";
import { DOCUMENT_REACH } from "../../src/domain/search/turns.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { put } from "../../test/contract/samples.ts";
import {
  filePack,
  MASTER_KEY,
  openSqlitePack,
  type SqlitePack,
  storeOptions,
} from "../../test/contract/sqlite-pack.ts";
import { ANYTHING, contentsOf } from "../../test/contract/store-vectors.ts";

const FIRST = 5;

type Line = { readonly language: string; readonly memory: string; readonly question: string };
/** The best memories of a question. */
type Search = (question: string) => Promise<readonly string[]>;

const LINES: readonly Line[] = readFileSync(join(import.meta.dir, "data/word-forms.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [language = "", memory = "", question = ""] = line.split(" | ");
    return { language, memory, question };
  });

/** Places of the memories, by language; 0 for one that is not found. */
async function placesOf(search: Search): Promise<ReadonlyMap<string, readonly number[]>> {
  const places = new Map<string, number[]>();
  for (const { language, memory, question } of LINES) {
    const place = 1 + (await search(question)).indexOf(memory);
    places.set(language, [...(places.get(language) ?? []), place]);
    if (place === 0 && process.argv.includes("--missed")) console.log(`${language}: ${question}`);
  }
  return places;
}

/** A connection beside the store. */
function connect(pack: SqlitePack): Database {
  const cipher = pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
  return openDatabase({ ...storeOptions(pack), mode: "read-write", cipher });
}

/** Writes the documents of nodes as the first version of the analyser does: without stems. */
function indexFormerly(database: Database, keys: readonly number[]): void {
  for (const key of keys) {
    const turn = readTurn(database, key);
    if (turn === undefined) continue;
    const { before, after } = surround(database, turn, { reach: DOCUMENT_REACH });
    const beside = [before, after].map((turns) =>
      turns.flatMap(({ content }) => analyse(content.slice(0, 240))),
    );
    const time = turn.event_time === null ? [] : dateWords(asInstant(turn.event_time));
    database
      .query(
        `INSERT OR REPLACE INTO lexical_documents (rowid, own, previous, next)
         VALUES (${documentNumber("?1", "?2")}, ?3, ?4, ?5)`,
      )
      .run(
        turn.owner,
        key,
        ...[[...analyse(turn.content), ...time], ...beside].map((words) => words.join(" ")),
      );
  }
}

/** Indexes a closed pack as the first version of the analyser does. */
function makeFormer(pack: SqlitePack): void {
  const database = connect(pack);
  const keys = database
    .query<{ key: number }, []>("SELECT key FROM nodes WHERE lifecycle_state = 'tentative'")
    .all()
    .map(({ key }) => key);
  database.transaction(() => indexFormerly(database, keys))();
  database.close();
}

const folder = mkdtempSync(join(tmpdir(), "svc-forms-"));
try {
  const pack = filePack(folder);
  const store = await openSqlitePack(pack);
  await put(store, ...LINES.map(({ memory: content }, second) => ({ content, second })));
  const now = await placesOf(async (question) =>
    contentsOf(store, await store.searchText(question, ANYTHING, FIRST), "ada"),
  );
  await store.close();
  makeFormer(pack);
  const database = connect(pack);
  const formerly = database.query<{ content: string }, [string, number]>(
    `SELECT n.content FROM lexical_documents f CROSS JOIN nodes n ON n.key = f.rowid & ${KEY_MASK}
     WHERE lexical_documents MATCH ? ORDER BY bm25(lexical_documents, 1, 0.5, 0.5), n.key LIMIT ?`,
  );
  const before = await placesOf(async (question) =>
    formerly
      .all(
        questionTerms(question)
          .map(({ term, prefix }) => `"${term}"${prefix ? "*" : ""}`)
          .join(" OR "),
        FIRST,
      )
      .map(({ content }) => content),
  );
  database.close();
  console.log(
    "| language | questions | first, before | first, now | in five, before | in five, now |",
  );
  console.log("|---|---|---|---|---|---|");
  for (const [language, old] of before) {
    const fresh = now.get(language) ?? [];
    const row = [old, fresh].map((places) => places.filter((place) => place === 1).length);
    const five = [old, fresh].map((places) => places.filter((place) => place > 0).length);
    console.log(`| ${[language, old.length, ...row, ...five].join(" | ")} |`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
