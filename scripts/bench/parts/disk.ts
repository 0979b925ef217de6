import { join } from "node:path";
import { toEngineSettings } from "../../../src/app/engine-settings.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { planRawNote } from "../../../src/engine/write/plan.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { createVectors, openStore, turn } from "../fill.ts";
import { openRawModel, probeSync } from "../probe.ts";
import type { Section } from "../report.ts";
import { digits, median, quantile, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const MEMORIES_PER_TURN = 200;

/** What one durable transaction costs beyond the disk's own time. */
export async function measureDisk(context: PartContext): Promise<Section> {
  const model = await openRawModel();
  const vectorOf = await createVectors(model);
  await model.close();
  const store = await openStore(join(context.folder, "disk.pack"));
  const settings = toEngineSettings(loadConfig({ environment: {} }).config);
  const times = { sync: [] as number[], admit: [] as number[], index: [] as number[] };
  try {
    let serial = 0;
    for (let round = 0; round < repetitions(context, 5); round += 1) {
      times.sync.push(...probeSync(context.folder, MEMORIES_PER_TURN));
      for (let count = 0; count < MEMORIES_PER_TURN; count += 1) {
        const event = turn("bench", serial);
        const vector = vectorOf(serial);
        times.admit.push(await admit(store, event));
        const node = planRawNote(event, settings);
        const at = event.timestamp;
        const job = { eventId: event.id, node, vector, lexical: true, failure: undefined, at };
        times.index.push(await timed(() => store.materialize([job])));
        serial += 1;
      }
    }
  } finally {
    await store.close();
  }
  const sync = median(times.sync);
  const line = (what: string, ms: readonly number[]) => ({
    what,
    figure: `p50 ${digits(median(ms))} ms, p95 ${digits(quantile(ms, 0.95))} ms`,
    ratio: `${digits(median(ms) / sync)} x one sync`,
  });
  return {
    title: "Disk",
    command: "bun scripts/bench/bench.ts disk",
    notes: [
      "One memory a transaction, one after the other, `synchronous=full`, no model and no HTTP.",
    ],
    figures: [
      { ...line("write of 4 KiB with fdatasync (the probe)", times.sync), ratio: "1" },
      line("event and job", times.admit),
      line("memory, vector, text entry and job state", times.index),
    ],
  };
}

async function admit(store: Store, event: ReturnType<typeof turn>): Promise<number> {
  return await timed(() => store.admit({ events: [event], auditRecords: [], leaseJobs: true }));
}
