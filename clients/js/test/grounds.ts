import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryEngine, startHttpServer } from "../../../src/library.ts";
import type { Memory } from "../src/memory.ts";
import { remoteMemory } from "../src/remote.ts";

export type Grounds = AsyncDisposable & {
  readonly engine: MemoryEngine;
  readonly url: string;
  /** The same memory, opened in this process and behind its server. */
  readonly memories: { readonly embedded: Memory; readonly remote: Memory };
};

export const KEY = "key-of-the-operator";
export const WAYS = ["embedded", "remote"] as const;

/** A new pack, open in this process and served by it. */
export async function openGrounds(): Promise<Grounds> {
  const place = mkdtempSync(join(tmpdir(), "svc-frameworks-"));
  const engine = await MemoryEngine.create({
    pack_path: join(place, "memory.pack"),
    // What was just said is found however long its model takes to load.
    materialization_budget_ms: 60_000,
  });
  const server = await startHttpServer({ engine, port: 0, apiKey: KEY });
  const { url } = server;
  return {
    engine,
    url,
    memories: { embedded: engine, remote: remoteMemory({ url, apiKey: KEY }) },
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await engine.close();
      rmSync(place, { recursive: true, force: true });
    },
  };
}
