import { afterEach, describe } from "bun:test";
import type { Clock } from "../../src/ports/clock.ts";
import type { EmbeddingIdentity } from "../../src/ports/embedder.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { describeAdmission } from "./store-admission.ts";
import { describeChanges } from "./store-change.ts";
import { describeEverybody } from "./store-everybody.ts";
import { describeGraph } from "./store-graph.ts";
import { describeGraphReads } from "./store-graph-reads.ts";
import { describeJobs } from "./store-jobs.ts";
import { describeLeaning } from "./store-leaning.ts";
import { describeLexicalSearch } from "./store-lexical.ts";
import { describeOwnerMoves } from "./store-owner-moves.ts";
import { describeOwners } from "./store-owners.ts";
import { describeReads } from "./store-reads.ts";
import { describeRebuild } from "./store-rebuild.ts";
import { describeReceipts } from "./store-receipts.ts";
import { describeRetirement } from "./store-retirement.ts";
import { describeUpkeep } from "./store-upkeep.ts";
import { describeVectorSearch } from "./store-vectors.ts";

/** What a test may choose about a store that it opens. */
export type StoreChoices = { readonly clock?: Clock; readonly embedding?: EmbeddingIdentity };

/** An empty place that can hold one store, and what the suite needs to look at it from outside. */
export type StorePlace = {
  /** Opens the store of the place; may be called several times for several users of one store. */
  open(options?: StoreChoices): Promise<Store>;
  /** Command line of another process on the same store: `claim <limit>` or `admit <content>`. See worker.ts. */
  worker(...args: readonly string[]): string[];
  /** Statements that try to change the event whose id is their only parameter. Each has to fail. */
  readonly tampering: readonly string[];
  /** Runs SQL on a connection that knows nothing of this program. */
  runRaw(sql: string, ...parameters: readonly string[]): void;
  /** Deletes everything. */
  remove(): void;
};

/** What one test has opened; the suite closes and deletes it afterwards. */
export type World = {
  /** A store in a place of its own. */
  fresh(options?: StoreChoices): Promise<{ store: Store; place: StorePlace }>;
  /** One more store on a place. */
  open(place: StorePlace, options?: StoreChoices): Promise<Store>;
  /** Starts a process on a place and waits for what it did. */
  start(place: StorePlace, ...args: readonly string[]): Promise<Helper>;
};

/** Another process that did its work and now holds what it took. */
export type Helper = {
  readonly did: readonly string[];
  /** Ends it as a crash would, with signal 9. */
  kill(): Promise<void>;
};

type Suite = (world: World) => void;

/** What depends on how a store keeps its parts together: transactions over all of them, and changes of a whole index. */
export const ACROSS_PARTS: readonly Suite[] = [
  describeAdmission,
  describeJobs,
  describeRetirement,
  describeRebuild,
];

const ALL: readonly Suite[] = [
  ...ACROSS_PARTS,
  describeVectorSearch,
  describeLeaning,
  describeLexicalSearch,
  describeReads,
  describeEverybody,
  describeChanges,
  describeGraph,
  describeGraphReads,
  describeReceipts,
  describeUpkeep,
  describeOwners,
  describeOwnerMoves,
];

/**
 * The promises of the store port, checked on one adapter.
 * @param openPlace makes a new, empty place
 * @param suites all promises unless named
 */
export function runStoreContract(
  name: string,
  openPlace: () => StorePlace,
  suites: readonly Suite[] = ALL,
): void {
  describe(`the store: ${name}`, () => {
    const opened: Store[] = [];
    const places: StorePlace[] = [];
    const helpers: Helper[] = [];

    const world: World = {
      fresh: async (options) => {
        const place = openPlace();
        places.push(place);
        return { store: await world.open(place, options), place };
      },
      open: async (place, options) => {
        const store = await place.open(options);
        opened.push(store);
        return store;
      },
      start: async (place, ...args) => {
        const helper = await startHelper(place.worker(...args));
        helpers.push(helper);
        return helper;
      },
    };

    afterEach(async () => {
      for (const helper of helpers.splice(0)) await helper.kill();
      for (const store of opened.splice(0)) await store.close();
      for (const place of places.splice(0)) place.remove();
    });

    for (const suite of suites) suite(world);
  });
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
