import { describe, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";
import { postgresPlace } from "./postgres-place.ts";
import { describeAddedNodes } from "./store-added-nodes.ts";
import { describeAuditReads } from "./store-audit.ts";
import { describeBrowse } from "./store-browse.ts";
import { runStoreContract } from "./store-contract.ts";
import { describeEverybody } from "./store-everybody.ts";
import { describeExpiry, describeRetention } from "./store-expiry.ts";
import { describeExtractionQueue } from "./store-extraction.ts";
import { describeGraph } from "./store-graph.ts";
import { describeGraphReads } from "./store-graph-reads.ts";
import { describeJobs } from "./store-jobs.ts";
import { describeKnownMemories } from "./store-known.ts";
import { describeLeaning, describeLeaningAfterRebuild } from "./store-leaning.ts";
import { describeLexicalSearch } from "./store-lexical.ts";
import { describeManifest } from "./store-manifest.ts";
import { describeNear } from "./store-near.ts";
import { describeOrganizing } from "./store-organizing.ts";
import { describeOwnerMoves } from "./store-owner-moves.ts";
import { describeOwners } from "./store-owners.ts";
import { describePublication } from "./store-publication.ts";
import { describeKeyedReads, describeReads } from "./store-reads.ts";
import { describeRebuild } from "./store-rebuild.ts";
import { describeReceipts } from "./store-receipts.ts";
import { describeReplacedNotes } from "./store-replaced.ts";
import { describeRetirement } from "./store-retirement.ts";
import { describeUpkeep } from "./store-upkeep.ts";
import { describeVectorSearch } from "./store-vectors.ts";
import { describeWork } from "./store-work.ts";

if (NO_POSTGRES === undefined) {
  runStoreContract("a database", postgresPlace, [
    describeManifest,
    describeAuditReads,
    describeWork,
    describeJobs,
    describeExtractionQueue,
    describeKnownMemories,
    describePublication,
    describeReceipts,
    describeOrganizing,
    describeOwners,
    describeOwnerMoves,
    describeRebuild,
    describeLeaningAfterRebuild,
    describeUpkeep,
    describeExpiry,
    describeRetirement,
    describeVectorSearch,
    describeLeaning,
    describeLexicalSearch,
    describeNear,
    describeKeyedReads,
    describeReads,
    describeRetention,
    describeGraph,
    describeGraphReads,
    describeReplacedNotes,
    describeBrowse,
    describeAddedNodes,
    describeEverybody,
  ]);
} else {
  describe("the store: a database", () => {
    test.skip(`keeps the promises of the store port${leftOut(NO_POSTGRES)}`, () => {});
  });
}
