import { SvcError } from "../../domain/errors.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import type { Store } from "../../ports/store/store.ts";
import { processIdentity } from "../native/process-identity.ts";
import { bindActivity } from "./activity/bind.ts";
import { bindAudit } from "./audit/bind.ts";
import { bindEvents } from "./events/bind.ts";
import { bindGraph } from "./graph/bind.ts";
import type { Indexes } from "./graph/indexes.ts";
import type { Parts, PostgresStoreParts } from "./parts.ts";
import { bindReads } from "./read/bind.ts";
import { readPackFusion, requireManifest } from "./schema/manifest.ts";
import { bindSearches } from "./search/bind.ts";
import { evict } from "./search/evict.ts";
import { writeDocuments } from "./search/write-documents.ts";

let stores = 0;

export function createPostgresStore(given: PostgresStoreParts) {
  stores += 1;
  // Differs for each store, so that two of one process do not take each other for themselves.
  const holder = `${processIdentity()}|${stores}`;
  const parts: Parts = { ...given, indexes: NONE, holder };
  const { database } = parts;
  const manifest = () => database.read(ALL_OWNERS, requireManifest);
  return {
    backend: "postgres",
    manifest,
    packFusion: () => database.read(ALL_OWNERS, readPackFusion),
    ...bindEvents(parts),
    ...bindGraph(parts),
    ...bindReads(parts),
    ...bindSearches(parts),
    ...bindAudit(parts),
    ...bindActivity(database),
    close: database.close,
  } satisfies Partial<Store<number>>;
}

async function refuse(): Promise<never> {
  throw new SvcError("unsupported", "this database has no indexes yet");
}
const NONE: Indexes = { writeDocuments, evict, addNodes: refuse };
