import type { Inference } from "../../src/adapters/embedding/inference.ts";
import { createLocalEmbedder } from "../../src/adapters/embedding/local-embedder.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/open-store.ts";
import type { OpenPack } from "../../src/adapters/sqlite/sqlite-store.ts";
import { createIdSource, createSystemClock } from "../../src/adapters/system/system.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { VERSION } from "../../src/app/version.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { MemoryEvent } from "../../src/domain/node.ts";
import { planRawNote } from "../../src/engine/write/plan.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { createRandom, sentence } from "./sentences.ts";

const CLOCK = createSystemClock();
const IDS = createIdSource();
const GROUP = 500;
const TURNS_PER_SESSION = 25;
/** Real vectors that the synthetic ones scatter around. */
const CENTRES = 200;
/** Length of the random part of a synthetic vector whose real part has length 1; cosines to its centre are about 0.8. */
const SCATTER = 0.75;

/** The store of a pack without an engine on top, created when it is missing. */
export async function openStore(pack: string): Promise<OpenPack> {
  const { config } = loadConfig({ explicit: { pack_path: pack }, environment: {} });
  const embedder = createLocalEmbedder({ maxTokens: config.embedding.max_tokens });
  await embedder.close();
  return await openSqliteStore({
    layout: { kind: "file", path: pack },
    createIfMissing: true,
    embedding: embedder.identity,
    softwareVersion: VERSION,
    scoringVersion: toEngineSettings(config).scoringVersion,
    clock: CLOCK,
    synchronous: config.synchronous,
    writeQueueSize: config.write_queue_size,
    busyTimeoutMs: config.busy_timeout_ms,
  });
}

/** Makes vectors that lie like those of real sentences, without running the model on each. */
export async function createVectors(model: Inference): Promise<(serial: number) => Float32Array> {
  const random = createRandom(3);
  const centres: Float32Array[] = [];
  for (let serial = 0; serial < CENTRES; serial += 1) {
    centres.push(await model.embed(sentence(random, serial)));
  }
  return (serial) => {
    const scatter = createRandom(serial);
    const centre = centres[Math.floor(scatter() * CENTRES)] ?? new Float32Array(0);
    const step = SCATTER * Math.sqrt(12 / centre.length);
    return normalised(centre.map((value) => value + step * (scatter() - 0.5)));
  };
}

/** Adds memories of one owner, numbered from `from` inclusive to `to` exclusive, in conversations of 25 turns. */
export async function fill(
  store: Store,
  userId: string,
  range: { readonly from: number; readonly to: number },
  vectorOf: (serial: number) => Float32Array,
): Promise<void> {
  const { config } = loadConfig({ environment: {} });
  const settings = toEngineSettings(config);
  for (let start = range.from; start < range.to; start += GROUP) {
    const serials = Array.from(
      { length: Math.min(GROUP, range.to - start) },
      (_, index) => start + index,
    );
    const events = serials.map((serial) => turn(userId, serial));
    await store.admit({ events, auditRecords: [], leaseJobs: true });
    await store.materialize(
      events.map((event, index) => ({
        eventId: event.id,
        node: planRawNote(event, settings),
        vector: vectorOf(serials[index] ?? 0),
        lexical: true,
        failure: undefined,
        at: CLOCK.now(),
      })),
    );
  }
}

/** One turn of a made-up conversation. */
export function turn(userId: string, serial: number): MemoryEvent {
  const content = sentence(createRandom(serial), serial);
  return {
    id: IDS.next(),
    userId,
    sessionId: `session-${Math.floor(serial / TURNS_PER_SESSION)}`,
    scope: "personal",
    role: "user",
    content,
    contentHash: sha256Hex(content),
    metadata: undefined,
    eventTime: undefined,
    timestamp: CLOCK.now(),
  };
}

function normalised(vector: Float32Array): Float32Array {
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}
