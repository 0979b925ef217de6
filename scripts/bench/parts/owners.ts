import { join } from "node:path";
import { uuidV7 } from "../../../src/lib/hashing.ts";
import { createVectors, fill, openStore } from "../fill.ts";
import { openRawModel } from "../probe.ts";
import type { Section } from "../report.ts";
import { digits, timed } from "../stats.ts";
import type { PartContext } from "./context.ts";

const MEGABYTE = 1e6;

/** What it costs to give all memories of one owner to another. */
export async function measureOwners(context: PartContext): Promise<Section> {
  const model = await openRawModel();
  const vectorOf = await createVectors(model);
  await model.close();
  const figures: Section["figures"][number][] = [];
  for (const size of context.sizes) {
    context.say(`join of ${size} memories`);
    const store = await openStore(join(context.folder, `owners-${size}.pack`));
    try {
      await fill(store, "from", { from: 0, to: size }, vectorOf);
      await fill(store, "into", { from: size, to: size + 1 }, vectorOf);
      Bun.gc(true);
      const before = process.memoryUsage.rss();
      const atStart = process.cpuUsage();
      const ms = await timed(() =>
        store.owners.move({
          ...{ from: "from", into: "into", isJoin: true, actorId: "bench" },
          ...{ id: uuidV7(), settingId: uuidV7() },
        }),
      );
      const { user, system } = process.cpuUsage(atStart);
      const grown = Math.max(0, process.memoryUsage.rss() - before);
      figures.push({
        what: `join of ${size.toLocaleString("en")} memories with another owner`,
        figure: `${digits(ms / 1000)} s (${digits((user + system) / 1e6)} s of processor time), ${digits(grown / MEGABYTE)} MB more memory`,
        ratio: `${digits((user + system) / size)} µs of processor time a memory`,
      });
    } finally {
      await store.close();
    }
  }
  return {
    title: "Owners",
    command: "bun scripts/bench/bench.ts owners --sizes 1000,20000",
    notes: [
      "One transaction, without HTTP. Other processes can read meanwhile; their writes wait, and are refused after `busy_timeout_ms`.",
    ],
    figures,
  };
}
