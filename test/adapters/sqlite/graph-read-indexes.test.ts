import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readAuditRecords, readAuditRecordsOn } from "../../../src/adapters/sql/audit.ts";
import { readContradictionsAmong, readContradictionsOf } from "../../../src/adapters/sql/edges.ts";
import { readEventsById } from "../../../src/adapters/sql/events.ts";
import {
  earlierTurns,
  extractionJob,
  extractionLanes,
  waitingTurns,
} from "../../../src/adapters/sql/extraction.ts";
import {
  readChain,
  readExpired,
  readNeighborhood,
  readNodes,
  readNodesCiting,
  readScan,
} from "../../../src/adapters/sql/nodes.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { run } from "../../../src/adapters/sqlite/connection/run.ts";
import { ACTIVE_STATES } from "../../../src/domain/enums.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { anEvent, at, freshId, put } from "../../contract/samples.ts";
import { filePack } from "../../contract/sqlite-pack.ts";
import { seedOn } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { connectionOf } from "./exported.ts";
import { useFolders } from "./folder.ts";
import { planning } from "./plans.ts";

const { folder, open } = useFolders();

const SCAN = { userId: "ada", lifecycleStates: ACTIVE_STATES, afterId: freshId(), limit: 9 };
const NEWEST = { owner: ALL_OWNERS, lifecycleStates: ACTIVE_STATES, oldestFirst: false, limit: 9 };

const WORKER = { holder: "one", clock: { now: () => at(9) } };
const CLAIM = {
  ...{ event: anEvent({ sessionId: "s" }), order: 1, generation: 1, attempts: 1, revision: 1 },
  ...{ plan: undefined, record: undefined },
};

const READS: readonly {
  readonly name: string;
  readonly read: (database: Database, id: Uuid) => unknown;
  readonly indexes: readonly string[];
  /** What is sorted: nothing, or what was found. */
  readonly sorts: boolean;
}[] = [
  {
    name: "a scan of one type",
    read: (database) => run(database, readScan({ ...SCAN, nodeType: "fact", scope: "personal" })),
    indexes: ["nodes_by_type"],
    sorts: false,
  },
  {
    name: "a scan of all types",
    read: (database) => run(database, readScan(SCAN)),
    indexes: ["nodes_by_type"],
    sorts: false,
  },
  {
    name: "a neighborhood",
    read: (database, nodeId) =>
      run(database, readNeighborhood({ nodeId, owner: "ada", maxHops: 5, maxVisited: 100 })),
    indexes: ["edges_from", "edges_to"],
    sorts: true,
  },
  {
    name: "a chain",
    read: (database, nodeId) => {
      run(database, readChain({ nodeId, owner: "ada", direction: "forward", maxSteps: 1 }));
      return run(database, readChain({ nodeId, owner: "ada", direction: "backward", maxSteps: 1 }));
    },
    indexes: ["edges_by_source", "edges_by_target"],
    sorts: true,
  },
  {
    name: "the nodes that cite an event",
    read: (database, id) => run(database, readNodesCiting(id, "ada")),
    indexes: ["sqlite_autoindex_events_1"],
    sorts: true,
  },
  {
    name: "events by id",
    read: (database, id) => run(database, readEventsById([id], "ada")),
    indexes: ["sqlite_autoindex_events_1"],
    sorts: false,
  },
  {
    name: "contradictions among nodes",
    read: (database, id) => run(database, readContradictionsAmong("ada", [id])),
    indexes: ["edges_contradicting", "sqlite_autoindex_nodes_1", "edges_by_source"],
    sorts: true,
  },
  {
    name: "contradictions among many nodes",
    read: (database, id) =>
      run(database, readContradictionsAmong("ada", [id, ...Array.from({ length: 9 }, freshId)])),
    indexes: ["edges_contradicting"],
    sorts: true,
  },
  {
    name: "contradictions of a node",
    read: (database, id) => run(database, readContradictionsOf(id, "ada")),
    indexes: ["edges_by_source", "edges_by_target"],
    sorts: true,
  },
  {
    name: "operations on a target",
    read: (database, targetId) =>
      run(
        database,
        readAuditRecordsOn({
          targetId,
          after: { createdAt: at(0), id: freshId() },
          limit: 9,
        }),
      ),
    indexes: ["operations_by_target"],
    sorts: false,
  },
  {
    name: "the newest nodes of all owners",
    read: (database) => run(database, readNodes(NEWEST)),
    indexes: ["nodes_by_time"],
    sorts: false,
  },
  {
    name: "the newest nodes of one owner",
    read: (database) => run(database, readNodes({ ...NEWEST, owner: "ada" })),
    indexes: ["nodes_by_owner"],
    sorts: true,
  },
  {
    name: "operations of a kind",
    read: (database, id) =>
      run(database, readAuditRecords({ opType: "X", userId: "ada", afterTargetId: id, limit: 9 })),
    indexes: ["operations_listed"],
    sorts: false,
  },
  {
    name: "expired nodes of all owners",
    read: (database) => run(database, readExpired({ owner: ALL_OWNERS, now: at(9), limit: 9 })),
    indexes: ["nodes_expiring"],
    sorts: true,
  },
  {
    name: "expired nodes of one owner",
    read: (database) => run(database, readExpired({ owner: "ada", now: at(9), limit: 9 })),
    indexes: ["nodes_expiring"],
    sorts: true,
  },
  {
    name: "work of extraction",
    read: (database, id) => run(database, extractionJob(WORKER, id, "ada")),
    indexes: ["sqlite_autoindex_events_1"],
    sorts: false,
  },
  {
    name: "owners and scopes with work of extraction",
    read: (database) => run(database, extractionLanes("ada")),
    indexes: ["work_in_lanes"],
    sorts: false,
  },
  {
    name: "turns that wait for extraction",
    read: (database) => run(database, waitingTurns(CLAIM, { upTo: undefined, limit: 9 })),
    indexes: ["work_in_lanes"],
    sorts: false,
  },
  {
    name: "turns before one that is extracted",
    read: (database) => run(database, earlierTurns(CLAIM, 4)),
    indexes: ["events_by_session"],
    sorts: false,
  },
];

/** The index in order of time, of which no more is read than the page takes. */
const IN_TIME = "SCAN n USING INDEX nodes_by_time";
/** Lists that the caller gave, or that the statement made from them. */
const LISTS = /^SCAN (f|k|w|wanted|named|moves|chain|CONSTANT ROW|\(subquery-\d+\))$/;

test.each([...READS])("$name: no table is gone through", async ({ read, indexes, sorts }) => {
  const pack = filePack(folder());
  const store = await open(pack);
  const [one, other] = await put(store, { content: "one" }, { content: "other" });
  const database = openDatabase({ ...connectionOf(pack), layout: pack.layout, mode: "read-write" });
  const place = { seed: seedOn(database) };
  await link(place, one, other, { type: "supersedes" });
  await link(place, one, other, { type: "contradicts" });
  const plans: string[] = [];

  read(planning(database, plans), one?.id ?? freshId());
  database.close();

  const used = plans.flatMap((line) => / INDEX (\w+)/.exec(line)?.[1] ?? []);
  expect([...new Set(used)]).toEqual(expect.arrayContaining([...indexes]));
  const scans = plans.filter((line) => line.startsWith("SCAN") && !line.includes("VIRTUAL TABLE"));
  expect(scans.filter((line) => !LISTS.test(line) && line !== IN_TIME)).toEqual([]);
  // Indexes by time leave out the id: rows of the same instant are sorted.
  const sorted = plans.filter((line) => /TEMP B-TREE(?! FOR LAST TERM)/.test(line));
  if (!sorts) expect(sorted).toEqual([]);
});
