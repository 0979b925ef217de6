/** An engine on a pack without a model, for processes outside of the test runner. */

import { createChronoDateReader } from "../../src/adapters/dates/chrono.ts";
import { pastIndexes } from "../../src/adapters/sqlite/past-index.ts";
import { createIdSource, createSystemClock } from "../../src/adapters/system/system.ts";
import { createCl100kTokenizer } from "../../src/adapters/tokens/cl100k.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { CONFIG_SCHEMA } from "../../src/config/schema.ts";
import { createEngine } from "../../src/engine/engine.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import type { Embedder } from "../../src/ports/models.ts";
import type { Clock } from "../../src/ports/system.ts";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";

const DIMENSION = 64;

/** A text is the sum of one direction a word. */
async function embed(text: string): Promise<Float32Array> {
  const vector = new Float32Array(DIMENSION);
  for (const word of text.toLowerCase().split(/\W+/)) {
    const place = Number(Bun.hash.crc32(word)) % DIMENSION;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

const embedder: Embedder = {
  identity: { model: "words", version: "1", dimension: DIMENSION },
  embedDocument: embed,
  embedQuery: embed,
  close: async () => {},
};

/** Jobs of which each finds something to merge or to publish. */
export const ORGANIZING_JOBS = ["deduplicate", "alias_resolve", "summarize", "consolidate"];

/** All there are, in their order. */
export const ALL_JOBS = [
  "promote",
  "decay_sweep",
  "archive",
  ...ORGANIZING_JOBS.slice(0, 3),
  "feedback_apply",
  "tombstone_sweep",
  "snapshot_generation",
  "consolidate",
  "index_compaction",
];

/** @param clock default: that of the machine */
export async function openOrganizing(
  pack: SqlitePack,
  clock: Clock = createSystemClock(),
): Promise<MemoryEngine> {
  const organizer = {
    fading: "original",
    extractive_summaries: true,
    opportunistic_enabled: false,
    consolidation_preserve_recent_days: 0,
  };
  const settings = toEngineSettings(CONFIG_SCHEMA.parse({ organizer }));
  const { scoringVersion } = settings;
  const store = await openSqlitePack(pack, {
    embedding: embedder.identity,
    scoringVersion,
    clock,
  });
  return createEngine({
    store,
    packLock: store,
    pastIndex: pastIndexes(clock),
    embedder,
    tokenizer: createCl100kTokenizer(),
    dates: createChronoDateReader({ languages: [], warn: () => {} }),
    clock,
    ids: createIdSource(),
    settings,
    features: { svc: "test" },
    warn: () => {},
  });
}
