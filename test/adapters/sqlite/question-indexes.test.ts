import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readAuditRecords } from "../../../src/adapters/sql/audit.ts";
import { readContradictions } from "../../../src/adapters/sql/edges.ts";
import { readKeyed } from "../../../src/adapters/sql/nodes.ts";
import { pruneReceipts, readReceipt } from "../../../src/adapters/sql/receipts.ts";
import { readPinned, readReplacedNotes, searchGraph } from "../../../src/adapters/sql/searches.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { run } from "../../../src/adapters/sqlite/connection/run.ts";
import type { CandidateFilter } from "../../../src/domain/candidate-filter.ts";
import { at, freshId, put } from "../../contract/samples.ts";
import { filePack } from "../../contract/sqlite-pack.ts";
import { seedOn } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { connectionOf } from "./exported.ts";
import { useFolders } from "./folder.ts";
import { planning } from "./plans.ts";

const { folder, open } = useFolders();

const NARROW: CandidateFilter = {
  ...ANYTHING,
  scopes: ["personal", "project"],
  excludeNodeTypes: ["fact"],
  sourceTypes: ["user_stated"],
  knowledgeAt: at(999),
  eventTimeFrom: at(0),
  timeFrom: at(0),
};

const READS: readonly {
  readonly name: string;
  readonly read: (database: Database) => unknown;
  readonly indexes: readonly string[];
}[] = [
  {
    name: "a walk",
    read: (database) => run(database, searchGraph(["Ada", "Иван"], NARROW, { hops: 3, limit: 50 })),
    indexes: ["nodes_entities", "edges_from", "edges_to"],
  },
  {
    name: "pinned memories",
    read: (database) => run(database, readPinned(NARROW)),
    indexes: ["nodes_pinned", "nodes_tasks"],
  },
  {
    name: "contradictions",
    read: (database) => run(database, readContradictions("ada", [1, 2])),
    indexes: ["edges_by_source", "edges_by_target"],
  },
  {
    name: "replaced notes",
    read: (database) => run(database, readReplacedNotes("ada", [1, 2, 3])),
    indexes: ["nodes_by_type", "sqlite_autoindex_events_1", "sqlite_autoindex_nodes_1"],
  },
  {
    name: "nodes by id",
    read: (database) => run(database, readKeyed("ada", "id", [freshId()])),
    indexes: ["sqlite_autoindex_nodes_1"],
  },
  {
    name: "operations of a kind",
    read: (database) =>
      run(
        database,
        readAuditRecords({
          opType: "X",
          userId: "ada",
          afterTargetId: freshId(),
          limit: 9,
        }),
      ),
    indexes: ["operations_listed"],
  },
  {
    name: "a receipt",
    read: (database) => run(database, readReceipt(freshId(), "ada")),
    indexes: ["sqlite_autoindex_receipts_1"],
  },
  {
    name: "old receipts",
    read: (database) => run(database, pruneReceipts(at(9), 9)),
    indexes: ["receipts_by_time"],
  },
];

test.each([...READS])("$name is read through its indexes", async ({ read, indexes }) => {
  const pack = filePack(folder());
  const store = await open(pack);
  const made = await put(
    store,
    { content: "Ada", nodeType: "entity" },
    { content: "contested", lifecycleState: "contested", pinned: true },
    { content: "note" },
  );
  await put(store, {
    nodeType: "fact",
    evidenceRefs: made[2]?.evidenceRefs ?? [],
    lifecycleState: "superseded",
    supersededBy: made[0]?.id,
  });
  const database = openDatabase({ ...connectionOf(pack), layout: pack.layout, mode: "read-write" });
  const place = { seed: seedOn(database) };
  await link(place, made[0], made[1]);
  const plans: string[] = [];

  read(planning(database, plans));
  database.close();

  const used = plans.flatMap((line) => / INDEX (\w+)/.exec(line)?.[1] ?? []);
  expect([...new Set(used)]).toEqual(expect.arrayContaining([...indexes]));
  // Lists that the caller gave, or that the statement made of names, are gone through, tables never.
  const scans = plans.filter((line) => line.startsWith("SCAN") && !line.includes("VIRTUAL TABLE"));
  expect(
    scans.filter((line) => !/^SCAN (named|moves|CONSTANT ROW|\(subquery-\d+\))$/.test(line)),
  ).toEqual([]);
});
