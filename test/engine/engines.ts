import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChronoDateReader } from "../../src/adapters/dates/chrono.ts";
import { createLocalEmbedder } from "../../src/adapters/embedding/local-embedder.ts";
import { createSourceReader } from "../../src/adapters/sources/reader.ts";
import { pastIndexes } from "../../src/adapters/sqlite/past-index.ts";
import { createIdSource } from "../../src/adapters/system/system.ts";
import { createCl100kTokenizer } from "../../src/adapters/tokens/cl100k.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { CONFIG_SCHEMA } from "../../src/config/schema.ts";
import { analyse } from "../../src/domain/lexical-analysis.ts";
import {
  isLean,
  type KeptReceipt,
  type RetrievalReceipt,
} from "../../src/domain/records/receipt.ts";
import type { EngineDeps } from "../../src/engine/deps.ts";
import { createEngine } from "../../src/engine/engine.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import type { EngineSettings } from "../../src/engine/settings.ts";
import { fromEpochMicros, type Instant } from "../../src/lib/instant.ts";
import type { Embedder } from "../../src/ports/models.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { Clock, IdSource } from "../../src/ports/system.ts";
import { filePack, openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";

/** The settings of a fresh installation, but with receipts from which answers can be computed again. */
export const DEFAULT_SETTINGS: EngineSettings = toEngineSettings(
  CONFIG_SCHEMA.parse({ scoring: { fusion: "rrf" }, receipts: { detail: "full" } }),
);

export type FullKept = KeptReceipt & { readonly receipt: RetrievalReceipt };

/** A full receipt. @throws for none and for a lean one */
export async function fullReceipt(
  engine: Pick<MemoryEngine, "getRetrievalReceipt">,
  { metadata }: { readonly metadata: { readonly requestId: string } },
  owner = "ada",
): Promise<FullKept> {
  const kept = await engine.getRetrievalReceipt(metadata.requestId, owner);
  if (kept === undefined || isLean(kept.receipt)) throw new Error("no full receipt");
  return { ...kept, receipt: kept.receipt };
}

/** One tokenizer for all tests: loading its tables takes a moment. */
export const tokenizer = createCl100kTokenizer();

const model = createLocalEmbedder();

/** The model that ships with the program, loaded once for all tests and never closed by an engine. */
export const REAL_MODEL: Embedder = { ...model, close: async () => {} };

/**
 * An embedder without a model, for tests in which only presence counts: a text is the sum of one direction a word.
 * It remembers the documents that it was asked for.
 */
export function wordEmbedder(given: Partial<Embedder> = {}): Embedder & { documents: string[] } {
  const dimension = 64;
  const documents: string[] = [];
  const embed = async (text: string): Promise<Float32Array> => {
    const vector = new Float32Array(dimension);
    for (const word of analyse(text)) {
      const place = Number(Bun.hash.crc32(word)) % dimension;
      vector[place] = (vector[place] ?? 0) + 1;
    }
    const length = Math.hypot(...vector) || 1;
    return vector.map((value) => value / length);
  };
  return {
    identity: { model: "words", version: "1", dimension },
    embedDocument: (text) => {
      documents.push(text);
      return embed(text);
    },
    embedQuery: embed,
    close: async () => {},
    ...given,
    documents,
  };
}

/** A clock that moves on by one microsecond a call, from a moment that a test may set. */
export function testClock(start = "2026-03-18T12:00:00Z"): Clock & { set: (text: string) => void } {
  let micros = Date.parse(start) * 1000;
  return {
    now: (): Instant => {
      micros += 1;
      return fromEpochMicros(micros);
    },
    set: (text) => {
      micros = Date.parse(text) * 1000;
    },
  };
}

/** A store in which some calls behave differently. */
export function altered(store: Store, changes: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const changed: unknown = Reflect.get(changes, name);
      if (changed !== undefined) return changed;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Turns of the event loop without a call of the store, after which nothing is being done behind the calls. */
const QUIET_TURNS = 25;

/** Sees when engines do nothing: what they do behind the calls, they do with their store, and without waiting for time. */
function createWatch() {
  let running = 0;
  let calls = 0;
  const watched = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...given: readonly unknown[]): unknown => {
          const result: unknown = Reflect.apply(value, target, given);
          if (!(result instanceof Promise)) return result;
          calls += 1;
          running += 1;
          const end = (): void => {
            running -= 1;
          };
          result.then(end, end);
          return result;
        };
      },
    });
  const settle = async (): Promise<void> => {
    for (let quiet = 0, seen = calls; quiet < QUIET_TURNS; seen = calls) {
      await Bun.sleep(1);
      quiet = running === 0 && seen === calls ? quiet + 1 : 0;
    }
  };
  return { watched, settle };
}

export type EngineOptions = {
  /** Absent: a new pack. */
  readonly pack?: SqlitePack;
  readonly embedder?: Embedder;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly settings?: Partial<EngineSettings>;
  readonly alter?: (store: Store) => Partial<Store>;
  /** Whether the pack has something that speaks for every reading of the clock. Default true: tests set it as they like. */
  readonly isClockKnown?: boolean;
  /** Models that are off by default. */
  readonly models?: Pick<
    EngineDeps,
    "reranker" | "languageModel" | "summaryModel" | "extractionModel" | "footage" | "visionModel"
  >;
  /** The user of the system. */
  readonly personName?: string;
  /** Default: 30 s, since a busy machine writes slowly. */
  readonly answerMs?: number;
};

export type OpenedEngine = {
  readonly engine: MemoryEngine;
  readonly store: Store;
  readonly deps: EngineDeps;
  readonly pack: SqlitePack;
  readonly warnings: readonly string[];
};

/**
 * Engines on real packs; each is closed and its pack deleted after its test.
 * @param usual settings of all of them, unless a test gives others
 */
export function useEngines(usual: Partial<EngineSettings> = {}) {
  const { open, newPack, settle, close } = engines(usual);
  afterEach(close);
  return { open, newPack, settle };
}

/** Engines on real packs, until they are closed and their packs deleted. */
export function engines(usual: Partial<EngineSettings> = {}) {
  const opened: MemoryEngine[] = [];
  const folders: string[] = [];
  const { watched, settle } = createWatch();
  const close = async (): Promise<void> => {
    for (const engine of opened.splice(0)) await engine.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  };

  const newPack = (): SqlitePack => {
    const folder = mkdtempSync(join(tmpdir(), "svc-engine-"));
    folders.push(folder);
    return filePack(folder);
  };

  const open = async (options: EngineOptions = {}): Promise<OpenedEngine> => {
    const pack = options.pack ?? newPack();
    const embedder = options.embedder ?? wordEmbedder();
    const clock = options.clock ?? testClock();
    const settings = { ...DEFAULT_SETTINGS, ...usual, ...options.settings };
    const real = await openSqlitePack(pack, {
      embedding: embedder.identity,
      scoringVersion: settings.scoringVersion,
      clock,
    });
    const known = options.isClockKnown === false ? {} : { isDated: async () => true };
    const store = watched(altered(real, { ...known, ...options.alter?.(real) }));
    const warnings: string[] = [];
    const deps: EngineDeps = {
      store,
      packLock: real,
      pastIndex: pastIndexes(clock),
      embedder,
      tokenizer,
      dates: createChronoDateReader({ languages: settings.temporalLanguages, warn: () => {} }),
      clock,
      ids: options.ids ?? createIdSource(),
      settings,
      features: { svc: "test" },
      sources: createSourceReader(),
      ...options.models,
      personName: options.personName,
      answerMs: options.answerMs ?? 30_000,
      warn: (message) => warnings.push(message),
    };
    const engine = createEngine(deps);
    opened.push(engine);
    // The engine looks for work that was left behind; in a new pack that is over before the test begins.
    if (options.pack === undefined) await engine.processPending().catch(() => {});
    return { engine, store, deps, pack, warnings };
  };

  /** Waits until what is done behind the calls has ended. */
  return { open, newPack, settle, close };
}

/** One engine on an empty pack for all tests of a file, for calls that leave nothing behind: those that are refused. */
export function useOneEngine(): () => MemoryEngine {
  const { open, close } = engines();
  let engine: MemoryEngine | undefined;
  beforeAll(async () => {
    ({ engine } = await open());
  });
  afterAll(close);
  return () => {
    if (engine === undefined) throw new Error("no test is running");
    return engine;
  };
}

/** Expects a call to fail with an error of that code about that field. */
export async function expectInvalid(
  call: Promise<unknown>,
  expected: { readonly code?: string; readonly field: string },
): Promise<void> {
  const outcome = await call.then(
    () => "the call went through",
    (error: { code?: string; data?: { field?: string } }) => ({
      code: error.code,
      field: error.data?.field,
    }),
  );
  expect(outcome).toEqual({ code: expected.code ?? "invalid_argument", field: expected.field });
}
