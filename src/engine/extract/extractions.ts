import {
  parseId,
  parseOptionalBoolean,
  parseOptionalInteger,
  parseOptionalNumber,
  parseOwner,
  parseUserId,
} from "../../domain/arguments.ts";
import type { Scope } from "../../domain/enums.ts";
import { reasonCode, SvcError } from "../../domain/errors.ts";
import { failureCode } from "../../domain/extraction/work.ts";
import { type ExtractionJob, isTakenOver, takenOver } from "../../domain/jobs.ts";
import type { MemoryEvent } from "../../domain/node.ts";
import { type Instant, toEpochMillis } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EventLog } from "../../ports/store/events.ts";
import type { ExtractionClaim, ExtractionQueue } from "../../ports/store/work.ts";
import { createGate, type Gate, whileHeld } from "../concurrency.ts";
import type { EngineDeps } from "../deps.ts";
import type {
  ExtractionPass,
  ExtractionSettings,
  ProcessExtractionsInput,
  RetryExtractionOptions,
} from "./api.ts";
import {
  createCustomExtractor,
  createExtractor,
  type ExtractDeps,
  type Extractor,
  type JobOptions,
} from "./extractor.ts";

/** Undefined: extraction is off. @throws SvcError invalid_config for an unusable custom provider */
export function createExtractions(deps: EngineDeps): Extractions | undefined {
  const { extractionModel: model, isReadOnly = false } = deps;
  if (model === undefined || isReadOnly) return undefined;
  const { confidenceOverrides, extraction } = deps.settings;
  const settings = { ...extraction, confidenceOverrides };
  const extractor: Extractor =
    "ask" in model ? createExtractor(model, settings) : createCustomExtractor(model, settings);
  return new Extractions({ ...deps, extractor, settings }, createGate(settings.maxConcurrent));
}

/** Schedules extraction of queued events, one flush at a time per lane (owner and scope). */
export class Extractions {
  readonly #deps: ExtractDeps;
  readonly #lanes = new Lanes();
  readonly #closing: Closing;
  #stop = new AbortController();

  constructor(deps: Omit<ExtractDeps, "gate">, gate: ExtractDeps["gate"]) {
    this.#closing = new Closing(deps.settings);
    this.#deps = { ...deps, gate: this.#closing.counting(gate) };
  }

  /** After events were admitted without waiting. */
  queued(lane: LaneName): void {
    const { batchTargetTokens, delayMs } = this.#deps.settings;
    this.#arm(lane, batchTargetTokens === 0 ? 0 : delayMs);
  }

  /** After a retry was asked for. A close does not wait for it. */
  retried(lane: LaneName): void {
    if (this.#closing.hasBegun) return;
    const { delayMs } = this.#deps.settings;
    this.#lanes.arm(lane, "retry", delayMs, () => this.#background(lane));
  }

  /** Extracts what is queued up to now, in the background. */
  soon(lane: LaneName): void {
    this.#background(lane);
  }

  /** Extracts a lane up to the last of the events. @throws SvcError extraction_failed for the first one that failed */
  async waitFor(events: readonly MemoryEvent[]): Promise<void> {
    const [lane] = events;
    if (lane === undefined) return;
    const { store } = this.#deps;
    const upTo = await this.#upTo(lane);
    const done = await this.#flush(lane, async () => ({
      upTo,
      isDueOnly: false,
      goesOn: (ended) => events.some(({ id }) => !ended.has(id)),
    }));
    for (const { id, userId } of events) {
      const end = done.get(id);
      if (end?.kind === "complete") continue;
      const job = await store.extractionJob(id, userId);
      if (job?.status !== "complete") throw notExtracted(id, codeOf(end));
    }
  }

  /** Extracts what is due of an owner. @returns how many events were completed */
  async process({ userId, limit, budgetMs }: PassBounds): Promise<number> {
    const { store } = this.#deps;
    const lanes = await store.extractionLanes(userId);
    if (lanes.length === 0 || limit === 0 || budgetMs === 0) return 0;
    const upTo = Math.max(...lanes.map((lane) => lane.upTo));
    const done = await this.#lanes.exclusive(lanes, () => {
      // Waiting for other work does not count.
      const end = performance.now() + budgetMs;
      const goesOn = () => performance.now() < end;
      return this.#run({ userId, upTo, isDueOnly: true, limit, goesOn });
    });
    // What a pass had no room for waits as if newly queued.
    const { delayMs } = this.#deps.settings;
    for (const lane of await store.extractionLanes(userId)) this.#armRest(lane, delayMs);
    return [...done.values()].filter(({ kind }) => kind === "complete").length;
  }

  /** Stops work until events are admitted again; it is retried then. */
  async pause(): Promise<void> {
    this.#lanes.disarm();
    this.#stop.abort(new SvcError("pack_locked", "the pack is being locked"));
    await this.#lanes.settled();
    this.#stop = new AbortController();
  }

  /** Finishes due work within a time limit. */
  async close(): Promise<void> {
    this.#closing.begin(() => this.#stop.abort(closed()));
    for (const lane of this.#lanes.disarm()) this.#background(lane);
    await this.#lanes.settled();
    this.#closing.end();
  }

  #arm(lane: LaneName, delayMs: number): void {
    if (this.#closing.hasBegun) return;
    this.#lanes.arm(lane, "flush", delayMs, () => this.#background(lane));
  }

  /** Schedules the rest of a lane. @param overdueMs delay for work already due */
  #armRest(
    rest: LaneName & { readonly due: Parameters<typeof toEpochMillis>[0] | undefined },
    overdueMs = 0,
  ): void {
    if (this.#closing.hasBegun || this.#stop.signal.aborted) return;
    const { settings, clock } = this.#deps;
    if (rest.due === undefined) this.#arm(rest, settings.delayMs);
    else {
      const dueMs = toEpochMillis(rest.due) - toEpochMillis(clock.now());
      const delayMs = dueMs > 0 ? dueMs : overdueMs;
      this.#lanes.arm(rest, "retry", delayMs, () => this.#background(rest));
    }
  }

  #background(lane: LaneName): void {
    const whole = async () => ({ upTo: await this.#upTo(lane), isDueOnly: true });
    void this.#flush(lane, whole).catch((error: unknown) => {
      this.#deps.warn(`extraction is tried again later (${reasonCode(error)})`);
      this.#arm(lane, this.#deps.settings.delayMs);
    });
  }

  async #flush(
    { userId, scope }: LaneName,
    boundsNow: () => Promise<Pick<FlushBounds, "upTo" | "isDueOnly" | "goesOn">>,
  ): Promise<ReadonlyMap<Uuid, JobEnd>> {
    const lane = { userId, scope };
    return await this.#lanes.exclusive([lane], async () => {
      const bounds = await boundsNow();
      if (bounds.upTo === undefined) return new Map();
      const done = await this.#run({ ...lane, ...bounds });
      const rest = await this.#restOf(lane);
      if (rest !== undefined) this.#armRest(rest);
      return done;
    });
  }

  #run(bounds: Omit<FlushBounds, "signal">): Promise<ReadonlyMap<Uuid, JobEnd>> {
    return flush(this.#deps, { ...bounds, signal: this.#stop.signal });
  }

  async #restOf({ userId, scope }: LaneName) {
    const lanes = await this.#deps.store.extractionLanes(userId);
    return lanes.find((one) => one.scope === scope);
  }

  async #upTo(lane: LaneName): Promise<number | undefined> {
    return (await this.#restOf(lane))?.upTo;
  }
}

/** The code for an event that was not tried. */
function codeOf(end: JobEnd | undefined): string {
  if (end === undefined || end.kind === "lost") return "ExtractionError";
  if (end.kind === "cancelled") return "Cancelled";
  return end.kind === "complete" ? "ExtractionError" : end.code;
}

function notExtracted(eventId: Uuid, reason: string): SvcError {
  return new SvcError(
    "extraction_failed",
    "The message was accepted and can be found; nothing was extracted from it yet",
    { event_id: eventId, reason_code: reason },
  );
}

function closed(): SvcError {
  return new SvcError("engine_closed", "the engine was closed; open it again");
}

/** Owner and scope, whose events are extracted in order. */
type LaneName = { readonly userId: string; readonly scope: Scope };

type Timer = ReturnType<typeof setTimeout>;

type Lane = {
  readonly name: LaneName;
  /** Ends with the last work on the lane. */
  tail: Promise<unknown>;
  /** Unfinished pieces of work. */
  working: number;
  /** For events that were not tried yet. */
  flushTimer: Timer | undefined;
  /** For an event to be retried. */
  retryTimer: Timer | undefined;
};

/** Active lanes and their timers. Work within a lane never overlaps. */
class Lanes {
  readonly #lanes = new Map<string, Lane>();

  /** Runs work after all earlier work on these lanes. */
  exclusive<T>(names: readonly LaneName[], work: () => Promise<T>): Promise<T> {
    const lanes = names.map((name) => this.#lane(name));
    const earlier = lanes.map(({ tail }) => tail);
    const result = Promise.all(earlier).then(work);
    const ended = result.then(
      () => undefined,
      () => undefined,
    );
    for (const lane of lanes) {
      lane.tail = ended;
      lane.working += 1;
    }
    void ended.then(() => {
      for (const lane of lanes) {
        lane.working -= 1;
        this.#forget(lane);
      }
    });
    return result;
  }

  /** Fires after a time, unless already armed. */
  arm(name: LaneName, kind: "flush" | "retry", delayMs: number, fire: () => void): void {
    const lane = this.#lane(name);
    const member = kind === "flush" ? "flushTimer" : "retryTimer";
    if (kind === "flush" && lane.flushTimer !== undefined) return;
    clearTimeout(lane[member]);
    const timer = setTimeout(
      () => {
        lane[member] = undefined;
        fire();
        this.#forget(lane);
      },
      Math.min(delayMs, LONGEST_TIMER_MS),
    );
    timer.unref();
    lane[member] = timer;
  }

  /** @returns the lanes that waited for a flush */
  disarm(): readonly LaneName[] {
    const armed: LaneName[] = [];
    for (const lane of [...this.#lanes.values()]) {
      if (lane.flushTimer !== undefined) armed.push(lane.name);
      clearTimeout(lane.flushTimer);
      clearTimeout(lane.retryTimer);
      lane.flushTimer = undefined;
      lane.retryTimer = undefined;
      this.#forget(lane);
    }
    return armed;
  }

  async settled(): Promise<void> {
    while (this.#lanes.size > 0) {
      const tails = [...this.#lanes.values()].filter(({ working }) => working > 0);
      if (tails.length === 0) return;
      await Promise.all(tails.map(({ tail }) => tail));
    }
  }

  #lane(name: LaneName): Lane {
    const key = keyOf(name);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane = {
      name: { userId: name.userId, scope: name.scope },
      tail: Promise.resolve(),
      working: 0,
      flushTimer: undefined,
      retryTimer: undefined,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  #forget(lane: Lane): void {
    const isIdle =
      lane.working === 0 && lane.flushTimer === undefined && lane.retryTimer === undefined;
    if (isIdle) this.#lanes.delete(keyOf(lane.name));
  }
}

/** Longer timeouts would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function keyOf({ userId, scope }: LaneName): string {
  return JSON.stringify([userId, scope]);
}

/** Milliseconds that a close waits, at least and at most. */
const DRAIN_MS = 10_000;
const DRAIN_MAX_MS = 300_000;

/** How long a close waits: longer for each batch request under way. */
class Closing {
  readonly #requestMs: number;
  #underWay = 0;
  #deadline: number | undefined;
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expire: () => void = () => {};

  constructor(given: Pick<ExtractionSettings, "batchTargetTokens" | "batchTimeoutMs">) {
    const { batchTargetTokens, batchTimeoutMs } = given;
    this.#requestMs = batchTargetTokens === 0 ? 0 : batchTimeoutMs;
  }

  get hasBegun(): boolean {
    return this.#deadline !== undefined;
  }

  /** Counts requests that pass the gate. */
  counting(gate: Gate): Gate {
    return (call, signal) =>
      gate(async () => {
        this.#underWay += 1;
        if (this.#deadline !== undefined) this.#prolong(1);
        try {
          return await call();
        } finally {
          this.#underWay -= 1;
        }
      }, signal);
  }

  /** @param expire called at the deadline */
  begin(expire: () => void): void {
    const now = performance.now();
    this.#expire = expire;
    this.#last = now + DRAIN_MAX_MS;
    this.#deadline = now + DRAIN_MS;
    this.#prolong(this.#underWay);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #prolong(requests: number): void {
    this.#deadline = Math.min((this.#deadline ?? 0) + requests * this.#requestMs, this.#last);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#expire, Math.max(0, this.#deadline - performance.now()));
  }
}

type PassBounds = {
  readonly userId: string;
  /** Events at most. */
  readonly limit: number;
  /** Milliseconds, checked between events. */
  readonly budgetMs: number;
};

const DEFAULT_LIMIT = 100;
const DEFAULT_BUDGET_MS = 5000;

/** One pass over an owner's queue; only counts while extraction is off. */
export async function processExtractions(
  { store, extractions }: Omit<RetryDeps, "clock">,
  input: ProcessExtractionsInput,
): Promise<ExtractionPass> {
  const userId = parseUserId(input.userId);
  const limit = parseOptionalInteger(input.limit, "limit", 0) ?? DEFAULT_LIMIT;
  const budgetMs =
    parseOptionalNumber(input.budgetMs, "budget_ms", 0, Number.MAX_SAFE_INTEGER) ??
    DEFAULT_BUDGET_MS;
  const processed = (await extractions?.process({ userId, limit, budgetMs })) ?? 0;
  return { processed, ...(await store.countExtractions(userId)) };
}

type RetryDeps = Pick<EngineDeps<ExtractionQueue & EventLog>, "store" | "clock"> & {
  readonly extractions: Extractions | undefined;
};

/** Makes a waiting or failed extraction due now. */
export async function retryExtraction(
  { store, clock, extractions }: RetryDeps,
  eventId: string,
  options: RetryExtractionOptions = {},
): Promise<ExtractionJob | undefined> {
  const id = parseId(eventId, "event_id");
  const owner = parseOwner(options.userId);
  const isReplan = parseOptionalBoolean(options.replan, "replan") ?? false;
  const job = await store.retryExtraction(id, owner, { isReplan, at: clock.now() });
  const event = job?.status === "pending" ? await store.event(id, owner) : undefined;
  if (event !== undefined) extractions?.retried(event);
  return job;
}

type FlushBounds = {
  readonly userId: string;
  /** Absent: all. */
  readonly scope?: Scope | undefined;
  /** Highest order, inclusive. */
  readonly upTo: number | undefined;
  /** Skips events that wait after a failure. */
  readonly isDueOnly: boolean;
  /** Default: all. */
  readonly limit?: number | undefined;
  /** Called before each event. Default: always. */
  readonly goesOn?: ((done: ReadonlyMap<Uuid, JobEnd>) => boolean) | undefined;
  readonly signal: AbortSignal;
};

/** Extracts queued events in order; one that has to wait ends it for its scope. @returns how each tried event ended */
export async function flush(
  deps: ExtractDeps,
  bounds: FlushBounds,
): Promise<ReadonlyMap<Uuid, JobEnd>> {
  const { userId: owner, scope, upTo, isDueOnly, goesOn = () => true, signal } = bounds;
  const { limit = Number.POSITIVE_INFINITY } = bounds;
  const { store, settings } = deps;
  const filter = { owner, scope, upTo, isDueOnly };
  const done = new Map<Uuid, JobEnd>();
  while (!signal.aborted && done.size < limit && goesOn(done)) {
    const claim = await store.claimExtraction(filter, settings.leaseSeconds);
    if (claim === undefined) break;
    const isTriedAgain = done.has(claim.event.id);
    const end = await runHeld(deps, claim, { upTo, maxTurns: limit - done.size, signal });
    done.set(claim.event.id, end);
    const isBlocked = end.kind !== "complete" && end.kind !== "failed";
    if (isTriedAgain || (isBlocked && (scope !== undefined || end.kind === "cancelled"))) break;
  }
  return done;
}

/** A lost job is claimed once more. */
async function runHeld(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  options: Parameters<typeof runJob>[2],
): Promise<JobEnd> {
  const end = await runJob(deps, claim, options);
  if (end.kind !== "lost" || options.signal.aborted) return end;
  const { userId: owner, scope, id: eventId } = claim.event;
  const again = await deps.store.claimExtraction(
    { owner, scope, eventId, isDueOnly: false },
    deps.settings.leaseSeconds,
  );
  return again === undefined ? end : await runJob(deps, again, options);
}

/** How a try ended. */
type JobEnd =
  | { readonly kind: "complete" }
  /** Not retried by itself. */
  | { readonly kind: "failed"; readonly code: string }
  /** Retried from `due` on. */
  | { readonly kind: "waits"; readonly code: string; readonly due: Instant | undefined }
  | { readonly kind: "cancelled" }
  /** Another process has it. */
  | { readonly kind: "lost" };

/** Tries a claimed event once under its lease and records the outcome. */
async function runJob(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  options: JobOptions,
): Promise<JobEnd> {
  const { store, settings } = deps;
  const lost = new AbortController();
  const signal = AbortSignal.any([options.signal, lost.signal]);
  const renew = async (): Promise<void> => {
    if (!(await store.renewExtraction(claim, settings.leaseSeconds))) lost.abort(takenOver());
  };
  // Loaded by the first extraction: its many patterns cost time at the start.
  const { derive } = await import("./derive.ts");
  let code: string | undefined;
  try {
    code = await whileHeld(
      renew,
      () => derive(deps, claim, { ...options, signal }),
      settings.leaseSeconds,
    );
  } catch (error) {
    if (isTakenOver(error) || lost.signal.aborted) return { kind: "lost" };
    if (options.signal.aborted) return await endWith(deps, claim, "cancelled");
    code = failureCode(error);
  }
  return code === undefined ? { kind: "complete" } : await endWith(deps, claim, { failure: code });
}

async function endWith(
  { store, clock }: ExtractDeps,
  claim: ExtractionClaim,
  end: Parameters<ExtractDeps["store"]["endExtraction"]>[1],
): Promise<JobEnd> {
  const { status, nextAttemptAt } = await store.endExtraction(claim, end, clock.now());
  if (status === "complete") return { kind: "complete" };
  if (status === "running") return { kind: "lost" };
  if (end === "cancelled") return { kind: "cancelled" };
  return status === "failed"
    ? { kind: "failed", code: end.failure }
    : { kind: "waits", code: end.failure, due: nextAttemptAt };
}
