import { join } from "node:path";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { createVectors, fill, openStore } from "../fill.ts";
import { openRawModel } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { createRandom, sentence } from "../sentences.ts";
import { digits, median, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const OWNER = "bench";
const WARM_UP = 4;

/** What the near memories in its answer add to a store: pairs of stores with and without them, in turns. */
export async function measureNear(context: PartContext): Promise<Section> {
  const model = await openRawModel();
  const figures: Figure[] = [];
  try {
    const vectorOf = await createVectors(model);
    for (const size of context.sizes) {
      const pack = join(context.folder, `near-${size}.pack`);
      const store = await openStore(pack);
      await fill(store, OWNER, { from: 0, to: size }, vectorOf);
      await store.close();
      const engine = await openEngine(
        loadConfig({ explicit: { pack_path: pack }, environment: {} }).config,
      );
      try {
        figures.push(await measureAt(engine, size, repetitions(context, 200, 20)));
      } finally {
        await engine.close();
      }
      context.say(`near: ${size} measured`);
    }
  } finally {
    await model.close();
  }
  return {
    title: "Near memories",
    command: `bun scripts/bench/bench.ts near --sizes ${context.sizes.join(",")}`,
    notes: [
      "One client stores in the process of the engine, one text after the other. A pair is a store that looks for near memories and one that does not, in changing order. The difference is the median over the pairs.",
    ],
    figures,
  };
}

async function measureAt(engine: MemoryEngine, size: number, pairs: number): Promise<Figure> {
  const random = createRandom(5);
  let serial = size;
  const input = () => ({ userId: OWNER, content: sentence(random, serial++) });
  const looking: number[] = [];
  const plain: number[] = [];
  for (let pair = 0; pair < pairs + WARM_UP; pair += 1) {
    const runs = [
      async () => looking.push(await timed(() => engine.storeWithReceipt(input()))),
      async () => plain.push(await timed(() => engine.store(input()))),
    ];
    for (const run of pair % 2 === 0 ? runs : runs.reverse()) await run();
  }
  const differences = looking.map((ms, index) => ms - (plain[index] ?? 0)).slice(WARM_UP);
  const [one, other] = [looking, plain].map((times) => median(times.slice(WARM_UP)));
  return {
    what: `${size.toLocaleString("en-US")} memories: store with near memories`,
    figure: `p50 ${digits(one ?? 0)} ms, ${digits(median(differences))} ms more`,
    ratio: `${digits((one ?? 0) / (other ?? 1))} x without (p50 ${digits(other ?? 0)} ms)`,
  };
}
