/**
 * Compares an encrypted pack with an unencrypted one: `bun scripts/bench/encryption.ts [--memories 10000] [--rounds 5] [--write]`.
 * Prints a table in Markdown and, with --write, puts it into the page of figures: medians over rounds in which both take turns. Vectors are made up, so that no model takes part.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openSqliteStore } from "../../src/adapters/sqlite/open-store.ts";
import { createSystemClock } from "../../src/adapters/system/system.ts";
import { everythingOf } from "../../src/domain/candidate-filter.ts";
import type { MemoryEvent, MemoryNode } from "../../src/domain/node.ts";
import { sha256Hex, uuidV7 } from "../../src/lib/hashing.ts";
import type { Uuid } from "../../src/lib/uuid.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { nodeKeys } from "../../test/node-keys.ts";
import { type Figure, type Section, toMarkdown, writePage } from "./report.ts";
import { createRandom, question, sentence } from "./sentences.ts";
import { digits, median, timed } from "./stats.ts";

const KEY = `raw_key:${Buffer.alloc(32, 7).toString("base64url")}`;
const DIMENSION = 384;
const BATCH = 100;
const QUESTIONS = 100;
const CANDIDATES = 50;
const USER = "bench";
const OPENINGS_PER_ROUND = 5;

type Kind = "plain" | "encrypted";
type FirstAnswer = "memory" | "question";
type Sample = {
  readonly storeMs: number;
  readonly retrieveMs: number;
  /** Open, then read one memory. */
  readonly openMs: number;
  /** Open, then answer a question, which reads every vector. */
  readonly coldMs: number;
  readonly bytes: number;
};

const clock = createSystemClock();
const FILTER = everythingOf(USER);

async function open(path: string, kind: Kind): Promise<Store> {
  return await openSqliteStore({
    layout: { kind: "file", path },
    createIfMissing: true,
    embedding: { model: "made-up", version: "1", dimension: DIMENSION },
    softwareVersion: "bench",
    scoringVersion: "0123456789ab",
    clock,
    synchronous: "full",
    writeQueueSize: 1000,
    busyTimeoutMs: 5000,
    encryptionKey: kind === "encrypted" ? KEY : undefined,
  });
}

function vector(random: () => number): Float32Array {
  const values = Float32Array.from({ length: DIMENSION }, () => random() - 0.5);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

function memory(random: () => number, serial: number): { event: MemoryEvent; node: MemoryNode } {
  const now = clock.now();
  const content = sentence(random, serial);
  const id: Uuid = uuidV7();
  const origin = { userId: USER, sessionId: `s${serial >> 5}`, scope: "personal" } as const;
  const times = { createdAt: now, updatedAt: now, validFrom: now, lastReinforcedAt: now };
  const unset = { metadata: undefined, eventTime: undefined } as const;
  return {
    event: {
      ...origin,
      ...unset,
      id,
      content,
      contentHash: sha256Hex(content),
      role: "user",
      timestamp: now,
    },
    node: {
      ...origin,
      ...unset,
      ...times,
      id: uuidV7(),
      content,
      nodeType: "note",
      lifecycleState: "tentative",
      confidence: 0.8,
      salience: 0.5,
      confidenceBase: 0.8,
      salienceBase: 0.5,
      reinforcementBoost: 0,
      decayProfile: "medium",
      epistemicType: "asserted",
      sourceType: "user_stated",
      validTo: undefined,
      ttlDays: 90,
      supersededBy: undefined,
      evidenceRefs: [id],
      pinned: false,
    },
  };
}

async function storeBatch(store: Store, random: () => number, from: number): Promise<void> {
  const made = Array.from({ length: BATCH }, (_, i) => memory(random, from + i));
  const events = made.map(({ event }) => event);
  await store.admit({ events, auditRecords: [], leaseJobs: true });
  await store.materialize(
    made.map(({ event, node }) => ({
      eventId: event.id,
      node,
      vector: vector(random),
      lexical: true,
      failure: undefined,
      at: node.createdAt,
    })),
  );
}

async function answer(store: Store, random: () => number): Promise<void> {
  const near = await store.searchVectors(vector(random), FILTER, CANDIDATES);
  const text = await store.searchText(question(random), FILTER, CANDIDATES);
  const keys = new Set([...near, ...text].map(({ key }) => key));
  await store.nodesByKey(USER, [...keys]);
}

async function measure(
  folder: string,
  kind: Kind,
  memories: number,
  seed: number,
): Promise<Sample> {
  const path = join(folder, `${kind}-${seed}.pack`);
  const random = createRandom(seed);
  const store = await open(path, kind);
  const storeMs = await timed(async () => {
    for (let from = 0; from < memories; from += BATCH) await storeBatch(store, random, from);
  });
  for (let i = 0; i < 10; i += 1) await answer(store, random);
  const retrieveMs = await timed(async () => {
    for (let i = 0; i < QUESTIONS; i += 1) await answer(store, random);
  });
  await store.close();
  const openings = (what: FirstAnswer): number =>
    median(Array.from({ length: OPENINGS_PER_ROUND }, () => openInNewProcess(path, kind, what)));
  const [openMs, coldMs] = [openings("memory"), openings("question")];
  const { size } = statSync(path);
  rmSync(path);
  return { storeMs, retrieveMs: retrieveMs / QUESTIONS, openMs, coldMs, bytes: size };
}

/** A process of its own, since the libraries are loaded once for each. */
function openInNewProcess(path: string, kind: Kind, what: FirstAnswer): number {
  const options = ["--open", path, "--kind", kind, "--first", what];
  const child = Bun.spawnSync([process.execPath, import.meta.path, ...options]);
  const milliseconds = Number(child.stdout.toString());
  if (!child.success || !Number.isFinite(milliseconds)) throw new Error(child.stderr.toString());
  return milliseconds;
}

async function openOnce(path: string, kind: Kind, what: string): Promise<number> {
  const random = createRandom(1);
  let store: Store | undefined;
  const milliseconds = await timed(async () => {
    store = await open(path, kind);
    if (what === "question") await answer(store, random);
    else await store.nodesByKey(USER, nodeKeys(1));
  });
  await store?.close();
  return milliseconds;
}

function toSection(samples: Readonly<Record<Kind, readonly Sample[]>>, memories: number): Section {
  const figure = (
    what: string,
    unit: string,
    read: (sample: Sample) => number,
    compare: (plain: number, encrypted: number) => string,
  ): Figure => {
    const plain = median(samples.plain.map(read));
    const encrypted = median(samples.encrypted.map(read));
    return {
      what,
      figure: `${digits(encrypted)} ${unit}`,
      ratio: `${compare(plain, encrypted)} (plain: ${digits(plain)} ${unit})`,
    };
  };
  const ratio = (plain: number, encrypted: number): string => `${digits(encrypted / plain)} x`;
  const difference = (plain: number, encrypted: number): string =>
    `${encrypted >= plain ? "+" : ""}${digits(encrypted - plain)} ms`;
  const growth = (plain: number, encrypted: number): string =>
    `+${digits((encrypted / plain - 1) * 100)} %`;
  const count = memories.toLocaleString("en-US");
  return {
    title: "Encryption",
    command: "bun scripts/bench/encryption.ts",
    notes: [
      "The probe is the same work on an unencrypted pack, in turns. Openings are of a new process each, with the key given as 32 bytes. Vectors are made up, so that no model takes part. The first question after opening reads and decrypts every vector of the owner.",
    ],
    figures: [
      figure(`store ${count} memories in batches of ${BATCH}`, "ms", (s) => s.storeMs, ratio),
      figure(`search ${count} memories by vector and words`, "ms", (s) => s.retrieveMs, ratio),
      figure("open and read a memory", "ms", (s) => s.openMs, difference),
      figure("open and answer a question", "ms", (s) => s.coldMs, difference),
      figure("size of the pack", "MB", (s) => s.bytes / 1e6, growth),
    ],
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      memories: { type: "string", default: "10000" },
      rounds: { type: "string", default: "5" },
      open: { type: "string" },
      kind: { type: "string", default: "plain" },
      first: { type: "string", default: "memory" },
      write: { type: "boolean", default: false },
    },
  });
  if (values.open !== undefined) {
    const kind = values.kind === "encrypted" ? "encrypted" : "plain";
    console.log(await openOnce(values.open, kind, values.first));
    return;
  }
  const memories = Number(values.memories);
  const samples: Record<Kind, Sample[]> = { plain: [], encrypted: [] };
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-encryption-"));
  try {
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const order: readonly Kind[] =
        round % 2 === 0 ? ["plain", "encrypted"] : ["encrypted", "plain"];
      for (const kind of order) {
        samples[kind].push(await measure(folder, kind, memories, round + 1));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const section = toSection(samples, memories);
  console.log(toMarkdown(section));
  if (values.write) writePage(join(import.meta.dir, "../../docs/performance.md"), [section]);
}

await main();
