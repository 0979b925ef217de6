import type { OpenOptions } from "../../app/open-engine.ts";
import type { Config } from "../../config/schema.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { CliContext } from "./context.ts";
import { warnOn } from "./options.ts";

/** Opens a pack, runs `work` with its engine, and always closes it. A missing pack is refused by default. */
export async function withEngine<T>(
  context: CliContext,
  config: Config,
  work: (engine: MemoryEngine) => Promise<T>,
  opening: Omit<OpenOptions, "warn"> = {},
): Promise<T> {
  const { openEngine } = await import("../../app/open-engine.ts");
  const warn = warnOn(context);
  const engine = await openEngine(config, { createIfMissing: false, warn, ...opening });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}
