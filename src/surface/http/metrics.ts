import { readdirSync } from "node:fs";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Stats } from "../../engine/inspect/api.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { UNMATCHED } from "./access-log.ts";
import type { Metrics } from "./metrics-endpoint.ts";

/** Upper bounds in seconds: from a cached answer to a question to a language model. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Requests without a route: anyone can invent paths, and each would be counted separately. */
const OTHER = "other";
const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);
const METHOD_NOT_ALLOWED = 405;
/** Milliseconds for which the counts of stored data are cached. */
const COUNTED_MS = 1000;

/** A number that is read on demand. One whose name ends in `_total` only grows. */
type Sample = {
  readonly name: string;
  readonly help: string;
  /** By label values; undefined ones are left out. */
  readonly values: readonly (readonly [Readonly<Record<string, string>>, number | undefined])[];
};

/** Counts the requests of one server; stored data is counted on demand. */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const inFlight = new Gauge({
    name: "svc_http_requests_in_flight",
    help: "Requests that are being answered.",
    registers,
  });
  const requests = new Counter({
    name: "svc_http_requests_total",
    help: "Answered requests.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "svc_http_request_duration_seconds",
    help: "From a request to its answer.",
    labelNames: ["method", "route"],
    buckets: SECONDS,
    registers,
  });
  let last: { readonly at: number; readonly samples: Promise<readonly Sample[]> } | undefined;
  const counted = (engine: MemoryEngine): Promise<readonly Sample[]> => {
    const now = performance.now();
    if (last === undefined || now - last.at > COUNTED_MS) {
      last = { at: now, samples: engine.stats().then(samplesOf, () => []) };
    }
    return last.samples;
  };
  return {
    contentType: registry.contentType,
    begin: () => {
      inFlight.inc();
      return ({ method: asked, route: path, status, seconds }) => {
        inFlight.dec();
        const method = METHODS.has(asked) ? asked : OTHER;
        // It is answered before the key is checked.
        const route = status === METHOD_NOT_ALLOWED ? UNMATCHED : path;
        requests.inc({ method, route, status });
        durations.observe({ method, route }, seconds);
      };
    },
    text: async (engine) => {
      const stored = engine === undefined ? [] : await counted(engine);
      const ready = single("svc_ready", "1 if the memory answers.", Number(stored.length > 0));
      const about = {
        name: "svc_info",
        help: "Always 1; the version is a label.",
        values: [[{ version }, 1]],
      } as const;
      const scraped = new Registry();
      for (const sample of [about, ready, ...ofProcess(), ...stored]) addSample(scraped, sample);
      return await Registry.merge([scraped, registry]).metrics();
    },
  };
}

/** The names that Prometheus gives to what every process has. */
function ofProcess(): readonly Sample[] {
  const { user, system } = process.cpuUsage();
  return [
    single("process_cpu_seconds_total", "Processor time.", (user + system) / 1e6),
    single("process_resident_memory_bytes", "Memory in use.", process.memoryUsage.rss()),
    single(
      "process_start_time_seconds",
      "When it started, in seconds since 1970.",
      Math.round(performance.timeOrigin / 1000),
    ),
    single("process_open_fds", "Open files and sockets.", openFiles()),
  ];
}

/** Undefined where the system does not list them. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

function addSample(registry: Registry, { name, help, values }: Sample): void {
  const labelNames = Object.keys(values[0]?.[0] ?? {});
  const Kind = name.endsWith("_total") ? Counter : Gauge;
  const metric = new Kind({ name, help, labelNames, registers: [registry] });
  for (const [labels, value] of values) {
    if (value !== undefined) metric.inc(labels, value);
  }
}

/** Stored and pending data over all owners. Empty if it cannot be read. */
function samplesOf({ nodeCount, eventCount, details }: Stats): readonly Sample[] {
  if (details === undefined) return [];
  const { states, jobs, extractions, embeddings, bytes, receipts } = details;
  return [
    single("svc_memories_active", "Memories that can be found.", nodeCount),
    {
      name: "svc_memories",
      help: "Memories by state.",
      values: Object.entries(states).map(([state, count]) => [{ state }, count]),
    },
    single("svc_events", "Messages in the log, without forgotten ones.", eventCount),
    single("svc_receipts", "Receipts that are kept.", receipts),
    single("svc_pack_bytes", "Size of the pack without its log.", bytes),
    {
      name: "svc_jobs_pending",
      help: "Work that waits, by kind.",
      values: [
        [{ kind: "index" }, jobs.pending],
        [{ kind: "extraction" }, extractions.pending],
      ],
    },
    {
      name: "svc_jobs_failed",
      help: "Work that failed: of the index the part that will be tried again, of extraction what was given up.",
      values: [
        [{ kind: "index" }, jobs.failed],
        [{ kind: "extraction" }, extractions.failed],
      ],
    },
    {
      name: "svc_embeddings_total",
      help: "Vectors that this process needed, by where they came from.",
      values:
        embeddings === undefined
          ? []
          : [
              [{ from: "cache" }, embeddings.asked - embeddings.computed],
              [{ from: "model" }, embeddings.computed - embeddings.failed],
              [{ from: "nowhere" }, embeddings.failed],
            ],
    },
    single(
      "svc_embedding_seconds_total",
      "Time that texts spent with the embedding model.",
      embeddings?.seconds,
    ),
  ];
}

function single(name: string, help: string, value: number | undefined): Sample {
  return { name, help, values: [[{}, value]] };
}
