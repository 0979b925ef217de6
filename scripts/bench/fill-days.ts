import { createSystemClock } from "../../src/adapters/system/system.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { loadConfig } from "../../src/config/load.ts";
import { planRawNote } from "../../src/engine/write/plan.ts";
import { addSeconds, type Instant } from "../../src/lib/instant.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { turn } from "./fill.ts";
import { createRandom } from "./sentences.ts";

const BATCH = 500;
const DAY_SECONDS = 86_400;
const SETTINGS = toEngineSettings(loadConfig({ environment: {} }).config);
const NOW = createSystemClock().now();

/** Whose memories are added, and which: the serials from `from` inclusive to `to` exclusive of `of` memories in all, over some days until now. */
export type Span = {
  readonly userId: string;
  readonly from: number;
  readonly to: number;
  readonly of: number;
  readonly days: number;
};

/** Adds memories, the oldest first, with vectors of which few are near each other. */
export async function fillDays(store: Store, { userId, from, to, of, days }: Span): Promise<void> {
  const { embedding } = await store.manifest();
  for (let start = from; start < to; start += BATCH) {
    const serials = Array.from({ length: Math.min(BATCH, to - start) }, (_, at) => start + at);
    const events = serials.map((serial) => {
      const age = Math.round(days * DAY_SECONDS * (1 - serial / of));
      return { ...turn(userId, serial), timestamp: before(age) };
    });
    await store.admit({ events, auditRecords: [], leaseJobs: true });
    await store.materialize(
      events.map((event, at) => ({
        eventId: event.id,
        node: { ...planRawNote(event, SETTINGS), ttlDays: undefined },
        vector: vectorOf(serials[at] ?? 0, embedding.dimension),
        lexical: true,
        failure: undefined,
        at: NOW,
      })),
    );
  }
}

function before(seconds: number): Instant {
  const moment = addSeconds(NOW, -seconds);
  if (moment === undefined) throw new Error("the calendar ends here");
  return moment;
}

function vectorOf(serial: number, dimension: number): Float32Array {
  const random = createRandom(serial);
  const vector = Float32Array.from({ length: dimension }, () => random() - 0.5);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}
