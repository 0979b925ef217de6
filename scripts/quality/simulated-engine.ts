/** An engine whose clock a script sets, with the real model, whose vectors are kept in a file beside the dependencies. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createChronoDateReader } from "../../src/adapters/dates/chrono.ts";
import { createLocalEmbedder } from "../../src/adapters/embedding/local-embedder.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/open-store.ts";
import { pastIndexes } from "../../src/adapters/sqlite/past-index.ts";
import { createCl100kTokenizer } from "../../src/adapters/tokens/cl100k.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { ConfigInput } from "../../src/config/schema.ts";
import { createEngine } from "../../src/engine/engine.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import { fromEpochMicros } from "../../src/lib/instant.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import type { Embedder } from "../../src/ports/models.ts";
import type { Clock, IdSource } from "../../src/ports/system.ts";

const CACHE = join(import.meta.dir, "../../node_modules/.cache/svc-quality");

/** A clock that moves on by a microsecond a call, and ids of its times. */
type Simulation = {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly set: (moment: Date) => void;
};

export function createSimulation(start: Date): Simulation {
  let micros = start.getTime() * 1000;
  let serial = 0;
  return {
    clock: {
      now: () => {
        micros += 1;
        return fromEpochMicros(micros);
      },
    },
    ids: {
      next: () => {
        serial += 1;
        const time = Math.floor(micros / 1000)
          .toString(16)
          .padStart(12, "0");
        const number = serial.toString(16).padStart(12, "0");
        return asUuid(`${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number}`);
      },
    },
    set: (moment) => {
      micros = Math.max(micros, moment.getTime() * 1000);
    },
  };
}

/** The default model; a text that was embedded in an earlier run is read from the file. */
export function createKeepingEmbedder(): Embedder & { readonly keep: () => void } {
  const model = createLocalEmbedder();
  const { dimension, version } = model.identity;
  const path = join(CACHE, `vectors-${Bun.hash(version).toString(36)}`);
  const vectors = new Map<string, Float32Array>();
  if (existsSync(`${path}.json`)) {
    // SAFETY: `keep` wrote the file.
    const texts = JSON.parse(readFileSync(`${path}.json`, "utf8")) as string[];
    const all = new Float32Array(new Uint8Array(readFileSync(`${path}.f32`)).buffer);
    for (const [at, text] of texts.entries()) {
      vectors.set(text, all.slice(at * dimension, (at + 1) * dimension));
    }
  }
  const kept = (kind: string, embed: (text: string) => Promise<Float32Array>) => {
    return async (text: string): Promise<Float32Array> => {
      const key = `${kind}:${text}`;
      const known = vectors.get(key);
      if (known !== undefined) return known.slice();
      const vector = await embed(text);
      vectors.set(key, vector.slice());
      return vector;
    };
  };
  return {
    ...model,
    embedDocument: kept("document", model.embedDocument),
    embedQuery: kept("query", model.embedQuery),
    keep: () => {
      mkdirSync(dirname(path), { recursive: true });
      const all = new Float32Array(vectors.size * dimension);
      for (const [at, vector] of [...vectors.values()].entries()) all.set(vector, at * dimension);
      writeFileSync(`${path}.f32`, all);
      writeFileSync(`${path}.json`, JSON.stringify([...vectors.keys()]));
    },
  };
}

/** Opens a new pack. The caller closes the embedder. */
export async function openSimulated(
  path: string,
  { clock, ids }: Simulation,
  embedder: Embedder,
  given: ConfigInput,
): Promise<MemoryEngine> {
  const { config } = loadConfig({ explicit: { ...given, pack_path: path }, environment: {} });
  const settings = toEngineSettings(config);
  const store = await openSqliteStore({
    layout: { kind: "file", path },
    createIfMissing: true,
    embedding: embedder.identity,
    softwareVersion: "simulated",
    scoringVersion: settings.scoringVersion,
    clock,
    // Nobody needs this pack after a power cut.
    synchronous: "normal",
    writeQueueSize: config.write_queue_size,
    busyTimeoutMs: config.busy_timeout_ms,
  });
  return createEngine({
    store,
    packLock: store,
    pastIndex: pastIndexes(clock),
    embedder: { ...embedder, close: async () => {} },
    tokenizer: createCl100kTokenizer(),
    dates: createChronoDateReader({ languages: settings.temporalLanguages, warn: () => {} }),
    clock,
    ids,
    settings,
    features: { svc: "simulated" },
    warn: (message) => console.error(message),
  });
}
