import { afterEach, describe } from "bun:test";
import type { Edge, MemoryNode } from "../../src/domain/node.ts";
import type { EmbeddingIdentity } from "../../src/ports/models.ts";
import type { EventLog } from "../../src/ports/store/events.ts";
import type { Graph } from "../../src/ports/store/graph.ts";
import type { SearchIndex } from "../../src/ports/store/search-index.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { WorkQueue } from "../../src/ports/store/work.ts";
import type { Clock } from "../../src/ports/system.ts";
import { describeActivity } from "./store-activity.ts";
import { describeAddedNodes } from "./store-added-nodes.ts";
import { describeAdmission } from "./store-admission.ts";
import { describeAuditReads } from "./store-audit.ts";
import { describeBlobs } from "./store-blobs.ts";
import { describeBrowse } from "./store-browse.ts";
import { describeChanges } from "./store-change.ts";
import { describeEntities } from "./store-entities.ts";
import { describeErasures } from "./store-erasures.ts";
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

/** What a test may choose about a store that it opens. */
export type StoreChoices = { readonly clock?: Clock; readonly embedding?: EmbeddingIdentity };

/** The roles that a retrieval needs, as far as it needs them, and what puts memories into them and changes them. */
export type RetrievalStore = Omit<
  SearchIndex,
  "addNodes" | "hasModel" | "nearNodes" | "readyForNear"
> &
  Pick<EventLog, "admit"> &
  Pick<Graph, "change" | "node" | "countNodes"> &
  Pick<WorkQueue, "materialize"> &
  Pick<Store, "close">;

/** Writes what no call of a store writes, or writes much faster. Owners and ends of edges have to be there. */
export type Seed = {
  /** Nodes without entries in the indexes. */
  nodes(nodes: readonly MemoryNode[]): void | Promise<void>;
  /** Edges as they are, also those that a store would refuse. */
  edges(edges: readonly Edge[]): void | Promise<void>;
};

/** An empty place that can hold one store, and what the suite needs to look at it from outside. */
export type Place<S> = {
  /** Opens the store of the place; may be called several times for several users of one store. */
  open(options?: StoreChoices): Promise<S>;
  readonly seed: Seed;
  /** Deletes everything. */
  remove(): void | Promise<void>;
};

export type StorePlace = Place<Store> & {
  /** Command line of another process on the same store: `claim <limit>`, `extract` or `admit <content>`. See worker.ts. */
  worker(...args: readonly string[]): string[];
};

/** What one test has opened; the suite closes and deletes it afterwards. */
export type World<S = RetrievalStore, P extends Place<S> = Place<S>> = {
  /** A store in a place of its own. */
  fresh(options?: StoreChoices): Promise<{ store: S; place: P }>;
  /** One more store on a place. */
  open(place: P, options?: StoreChoices): Promise<S>;
};

/** The world of a complete store. */
export type StoreWorld = World<Store, StorePlace> & {
  /** Starts a process on a place and waits for what it did. */
  start(place: StorePlace, ...args: readonly string[]): Promise<Helper>;
};

/** Another process that did its work and now holds what it took. */
export type Helper = {
  readonly did: readonly string[];
  /** Ends it as a crash would, with signal 9. */
  kill(): Promise<void>;
};

type Suite = (world: StoreWorld) => void;

/** What depends on how a store keeps its parts together: transactions over all of them, and changes of a whole index. */
export const ACROSS_PARTS: readonly Suite[] = [
  describeAdmission,
  describePublication,
  describeJobs,
  describeRetirement,
  describeRebuild,
  describeLeaningAfterRebuild,
  describeErasures,
];

/** What may be done several times at once. */
export const MEETING: readonly Suite[] = [...ACROSS_PARTS, describeChanges, describeReceipts];

/** What asks for things of several owners, or of owners who were moved. */
export const OVER_OWNERS: readonly Suite[] = [
  ...ACROSS_PARTS,
  describeEverybody,
  describeAuditReads,
  describeActivity,
  describeExtractionQueue,
  describeWork,
  describeOwners,
  describeOwnerMoves,
  describeOrganizing,
  describeBlobs,
];

/** What moves things of owners, or reads those of several. */
export const BETWEEN_OWNERS: readonly Suite[] = [
  describeEverybody,
  describeErasures,
  describeOwners,
  describeOwnerMoves,
];

export const ALL: ReadonlySet<Suite> = new Set<Suite>([
  ...ACROSS_PARTS,
  describeVectorSearch,
  describeLeaning,
  describeLexicalSearch,
  describeKeyedReads,
  describeRetention,
  describeChanges,
  describeGraph,
  describeReplacedNotes,
  describeReads,
  describeEverybody,
  describeGraphReads,
  describeAuditReads,
  describeBrowse,
  describeEntities,
  describeActivity,
  describeExtractionQueue,
  describeKnownMemories,
  describeReceipts,
  describeExpiry,
  describeUpkeep,
  describeAddedNodes,
  describeManifest,
  describeWork,
  describeOwners,
  describeOwnerMoves,
  describeOrganizing,
  describeNear,
  describeBlobs,
]);

/**
 * The promises of the store port, checked on one adapter.
 * @param openPlace makes a new, empty place
 * @param suites all promises unless named
 */
export function runStoreContract(
  name: string,
  openPlace: () => StorePlace,
  suites: Iterable<Suite> = ALL,
): void {
  describe(`the store: ${name}`, () => {
    const helpers: Helper[] = [];
    const world: StoreWorld = {
      ...createWorld(openPlace, async () => {
        for (const helper of helpers.splice(0)) await helper.kill();
      }),
      start: async (place, ...args) => {
        const helper = await startHelper(place.worker(...args));
        helpers.push(helper);
        return helper;
      },
    };
    for (const suite of suites) suite(world);
  });
}

/** @param before runs after each test, before what it opened is closed */
function createWorld<S extends Pick<Store, "close">, P extends Place<S>>(
  openPlace: () => P,
  before: () => Promise<void> = async () => {},
): World<S, P> {
  const opened: S[] = [];
  const places: P[] = [];
  const open = async (place: P, options?: StoreChoices): Promise<S> => {
    const store = await place.open(options);
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    await before();
    for (const store of opened.splice(0)) await store.close();
    for (const place of places.splice(0)) await place.remove();
  });
  return {
    open,
    fresh: async (options) => {
      const place = openPlace();
      places.push(place);
      return { store: await open(place, options), place };
    },
  };
}

async function startHelper(command: string[]): Promise<Helper> {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", stdin: "ignore" });
  const kill = async () => {
    child.kill(9);
    await child.exited;
  };
  let said = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    said += decoder.decode(chunk, { stream: true });
    if (said.includes("\n")) return { did: JSON.parse(said), kill };
  }
  await kill();
  throw new Error("the other process ended without a word");
}
