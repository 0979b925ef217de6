import {
  isVisible,
  parseId,
  parseOptionalBoolean,
  parseOptionalInteger,
  parseOptionalMember,
  parseOptionalText,
  parseUserId,
} from "../../domain/arguments.ts";
import { openChecksummed } from "../../domain/checksummed.ts";
import { SCOPES } from "../../domain/enums.ts";
import { erasedBy } from "../../domain/erasure.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { parseInstantInput } from "../../domain/lifecycle.ts";
import { redact } from "../../domain/redaction.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { releaseMemory } from "../../lib/pause.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type {
  SourceEdge,
  SourceInput,
  SourceItem,
  SourceKindInfo,
  SourcePart,
  SourceRecord,
} from "../../ports/sources.ts";
import { type ForgetDeps, forget } from "../forget/forget.ts";
import { type RestoreDeps, restore } from "../lifecycle/restore.ts";
import { allOf } from "../pages.ts";
import type { ImportCounts, ImportInput, ImportReport, ImportUndone } from "./api.ts";
import {
  type Book,
  eventsIn,
  type Found,
  type ImportDeps,
  openBook,
  recordsOf,
  type Taken,
  type Wish,
} from "./book.ts";
import { drawEdges, retireUnnamed, writeRecords, writeWords } from "./write-records.ts";

/** Records admitted in one transaction, and UTF-16 units of text: ids are spread, so that each one rewrites most pages of their indexes. */
const BATCH = 1000;
const BATCH_CHARS = 8 * 1024 * 1024;
/** UTF-16 units after which discarded texts are freed. */
const FREED_CHARS = 8 * 1024 * 1024;
const UNREADABLE_SHOWN = 100;
/** Of texts that are known to have no secrets. */
const HARMLESS_CHARS = 200;
const HARMLESS_MAX = 1000;
/** What its writer wants nobody to keep. */
const PRIVATE = /<private>[\s\S]*?(?:<\/private>|$)/gi;

export async function importSource(deps: ImportDeps, input: ImportInput): Promise<ImportReport> {
  const { sources } = deps;
  if (sources === undefined) throw new SvcError("unsupported", "this memory imports nothing");
  const wish: Wish = {
    userId: parseUserId(input.userId),
    since: parseInstantInput(input.since, "since"),
    scope: parseOptionalMember(SCOPES, input.scope, "scope"),
    again: parseOptionalBoolean(input.again, "again") ?? false,
    dryRun: parseOptionalBoolean(input.dryRun, "dry_run") ?? false,
    sample: parseOptionalInteger(input.sample, "sample", 0, 100) ?? 0,
    importId: deps.ids.next(),
    signal: input.signal ? AbortSignal.any([deps.closing, input.signal]) : deps.closing,
  };
  const kinds = sources.kinds.map(({ name }) => name);
  const options = {
    from: parseOptionalMember([...kinds, "auto"], input.from, "from"),
    tools: parseOptionalBoolean(input.tools, "tools") ?? false,
    allBranches: parseOptionalMember(["shown", "all"], input.branches, "branches") === "all",
    offsetMinutes: parseOptionalInteger(input.offsetMinutes, "offset_minutes", -840, 840),
    signal: wish.signal,
  };
  const from = options.from === "auto" ? undefined : options.from;
  if (deps.isReadOnly === true && !wish.dryRun) {
    throw new SvcError("pack_read_only", "nothing can be imported: the memory is open for reading");
  }
  const run = new Run(deps, wish, input.onProgress ?? undefined);
  try {
    for await (const item of sources.read(parseSource(input), { ...options, from })) {
      wish.signal.throwIfAborted();
      await run.take(item);
    }
    await run.finish();
  } catch (error) {
    if (!deps.closing.aborted) throw error;
    throw new SvcError("engine_closed", "the engine was closed; open it again");
  }
  return run.report();
}

function parseSource({ source, sourceName }: ImportInput): SourceInput {
  const name = parseOptionalText(sourceName, "source_name");
  if (typeof source === "string") {
    if (source === "" || source.includes("\0")) throw invalid("source", "is no path of a file");
    return { path: source };
  }
  if (source instanceof Uint8Array) return { bytes: chunked(source), name };
  if (typeof source === "object" && source !== null && Symbol.asyncIterator in source) {
    return { bytes: source, name };
  }
  throw invalid("source", "must be a path or bytes");
}

async function* chunked(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type Tally = { -readonly [K in keyof ImportCounts]: number };

type Told = {
  readonly info: SourceKindInfo;
  readonly files: Set<string>;
  readonly sessions: Set<string>;
  first: Instant | undefined;
  last: Instant | undefined;
};

/** One import under way. */
class Run {
  readonly #deps: ImportDeps;
  readonly #wish: Wish;
  readonly #onProgress: NonNullable<ImportInput["onProgress"]> | undefined;
  readonly #books = new Map<string, Promise<Book>>();
  readonly #told = new Map<string, Told>();
  readonly #records = new Map<string, Tally>();
  readonly #leftOut = new Map<string, number>();
  readonly #secrets = new Map<string, number>();
  readonly #unreadable: { file: string; as: string; why: string }[] = [];
  readonly #samples: JsonObject[] = [];
  /** Admitted, and not yet in the word index. */
  readonly #written: Uuid[] = [];
  #unreadableCount = 0;
  #withoutTime = 0;
  #edges = 0;
  #retired = 0;
  #part: SourcePart | undefined;
  #batch: Taken[] = [];
  #chars = 0;
  /** Short texts that have no secrets: titles and names come again and again. */
  readonly #harmless = new Set<string>();
  /** UTF-16 units of earlier batches that may still take memory. */
  #discarded = 0;

  constructor(
    deps: ImportDeps,
    wish: Wish,
    onProgress: NonNullable<ImportInput["onProgress"]> | undefined,
  ) {
    this.#deps = deps;
    this.#wish = wish;
    this.#onProgress = onProgress;
  }

  async take(item: SourceItem): Promise<void> {
    switch (item.kind) {
      case "progress":
        this.#onProgress?.("reading", item.done, item.total);
        return;
      case "left_out":
        add(this.#leftOut, item.why, item.count);
        return;
      case "unreadable":
        this.#unreadableCount += 1;
        if (this.#unreadable.length < UNREADABLE_SHOWN) {
          this.#unreadable.push({ file: item.file, as: item.as, why: item.why });
        }
        return;
      case "edge":
        (await this.#book(item.of)).edges.push(this.#cleanEdge(item.edge, {}));
        return;
      case "whole":
        await this.#flush();
        this.#retired += await this.#retire(item);
        return;
      case "record":
        return await this.#takeRecord(item.of, item.record);
    }
  }

  async #takeRecord(part: SourcePart, given: SourceRecord): Promise<void> {
    const isSaid = isVisible(given.content);
    const { text, counts } = redact(given.content.toWellFormed().replace(PRIVATE, ""));
    if (!isVisible(text)) return add(this.#leftOut, isSaid ? "private" : "empty");
    const found = { ...counts };
    const record: SourceRecord = {
      ...given,
      content: text,
      place: given.place && this.#cleanText(given.place, {}),
      about: this.#clean(given.about, found),
      edges: given.edges?.map((edge) => this.#cleanEdge(edge, found)),
    };
    const { since } = this.#wish;
    const { eventTime } = record;
    if (since !== undefined && eventTime !== undefined && eventTime < since) {
      return add(this.#leftOut, "earlier");
    }
    const before = this.#part;
    // Nearly all records belong to the part of the one before.
    if (before !== undefined && before !== part && keyOf(before) !== keyOf(part))
      await this.#flush();
    this.#part = part;
    this.#tell(part, record);
    this.#batch.push({ record, secrets: found });
    this.#chars += record.content.length;
    if (this.#batch.length >= BATCH || this.#chars >= BATCH_CHARS) await this.#flush();
  }

  /** Without the secrets in any text of it; what the content has as well is counted once. */
  #clean<T extends Json>(value: T, counts: Record<string, number>): T {
    const own: Record<string, number> = {};
    const walk = (one: Json): Json => {
      if (typeof one === "string") return this.#cleanText(one, own);
      if (Array.isArray(one)) return one.map(walk);
      if (typeof one !== "object" || one === null) return one;
      return Object.fromEntries(Object.entries(one).map(([name, part]) => [name, walk(part)]));
    };
    // SAFETY: only texts differ.
    const clean = walk(value) as T;
    for (const [kind, count] of Object.entries(own))
      counts[kind] = Math.max(counts[kind] ?? 0, count);
    return clean;
  }

  #cleanEdge(edge: SourceEdge, counts: Record<string, number>): SourceEdge {
    const { metadata } = edge;
    return metadata === undefined ? edge : { ...edge, metadata: this.#clean(metadata, counts) };
  }

  #cleanText(given: string, found: Record<string, number>): string {
    if (this.#harmless.has(given)) return given;
    const { text, counts } = redact(given);
    for (const [kind, count] of Object.entries(counts)) found[kind] = (found[kind] ?? 0) + count;
    if (text === given && given.length < HARMLESS_CHARS) {
      if (this.#harmless.size >= HARMLESS_MAX) this.#harmless.clear();
      this.#harmless.add(given);
    }
    return text;
  }

  #tell({ source, file }: SourcePart, { sessionId, eventTime, voice }: SourceRecord): void {
    const told = this.#told.getOrInsertComputed(source.title, () => ({
      info: source,
      files: new Set(),
      sessions: new Set(),
      first: undefined,
      last: undefined,
    }));
    told.files.add(file);
    // The parts of a document are a session, and no conversation.
    if (sessionId !== undefined && voice !== "document") told.sessions.add(sessionId);
    if (eventTime === undefined) {
      this.#withoutTime += 1;
      return;
    }
    if (told.first === undefined || eventTime < told.first) told.first = eventTime;
    if (told.last === undefined || eventTime > told.last) told.last = eventTime;
  }

  #book(part: SourcePart): Promise<Book> {
    return this.#books.getOrInsertComputed(keyOf(part), () =>
      openBook(this.#deps, this.#wish, part),
    );
  }

  async #flush(): Promise<void> {
    const [part, batch] = [this.#part, this.#batch];
    this.#batch = [];
    this.#discarded += this.#chars;
    this.#chars = 0;
    if (part === undefined || batch.length === 0) return;
    const book = await this.#book(part);
    if (this.#discarded >= FREED_CHARS) {
      releaseMemory();
      this.#discarded = 0;
    }
    const found = await writeRecords(this.#deps, this.#wish, book, batch);
    for (const one of found) this.#count(book, one);
    // A record that names another one may come before it.
    book.edges.push(...batch.flatMap(({ record }) => record.edges ?? []));
  }

  #count(book: Book, { record, state, eventId, secrets }: Found): void {
    const tally = this.#records.getOrInsertComputed(record.voice, () => ({
      seen: 0,
      new: 0,
      unchanged: 0,
      changed: 0,
      forgotten: 0,
    }));
    tally.seen += 1;
    tally[state] += 1;
    const isNew = state === "new" || state === "changed";
    if (isNew && !this.#wish.dryRun) this.#written.push(eventId);
    if (isNew) for (const [kind, count] of Object.entries(secrets)) add(this.#secrets, kind, count);
    if (this.#samples.length >= this.#wish.sample) return;
    this.#samples.push({
      source: book.part.source.name,
      state,
      voice: record.voice,
      content: record.content,
      node_type: record.nodeType ?? "note",
      session_id: record.sessionId ?? null,
      event_time: record.eventTime ?? null,
      metadata: record.about,
    });
  }

  async #retire({ of, sessionId }: Extract<SourceItem, { kind: "whole" }>): Promise<number> {
    if (this.#wish.dryRun) return 0;
    return await retireUnnamed(this.#deps, this.#wish, await this.#book(of), sessionId);
  }

  async finish(): Promise<void> {
    await this.#flush();
    if (this.#wish.dryRun) return;
    for (const book of this.#books.values()) {
      this.#edges += await drawEdges(this.#deps, this.#wish, await book);
    }
    await writeWords(this.#deps, this.#wish, this.#written, (done) =>
      this.#onProgress?.("words", done, this.#written.length),
    );
  }

  report(): ImportReport {
    const { dryRun, importId } = this.#wish;
    return {
      importId: dryRun || this.#written.length === 0 ? undefined : importId,
      dryRun,
      sources: [...this.#told.values()].map(({ info, files, sessions, first, last }) => ({
        source: info.name,
        title: info.title,
        lossless: info.isLossless,
        files: files.size,
        conversations: sessions.size,
        firstTime: first,
        lastTime: last,
      })),
      records: Object.fromEntries(this.#records),
      edges: this.#edges,
      retired: this.#retired,
      leftOut: Object.fromEntries(this.#leftOut),
      secrets: Object.fromEntries(this.#secrets),
      withoutTime: this.#withoutTime,
      unreadable: this.#unreadable,
      unreadableCount: this.#unreadableCount,
      samples: this.#samples,
    };
  }
}

function keyOf({ source, instance }: SourcePart): string {
  return JSON.stringify([source.name, instance]);
}

function add(counts: Map<string, number>, what: string, count = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + count);
}

/** Events erased together: a forgetting is one transaction. */
const AT_ONCE = 400;

type UndoDeps = ImportDeps & ForgetDeps & RestoreDeps;

/** Erases everything that an import brought in, and restores what it replaced. */
export async function undoImport(
  deps: UndoDeps,
  owner: string,
  importId: string,
): Promise<ImportUndone> {
  const userId = parseUserId(owner);
  const id = parseId(importId, "import_id");
  const records = [];
  for await (const record of recordsOf(deps, userId, id)) {
    const { import_id: of, replaced } = openChecksummed(record.payload);
    if (of === id) records.push({ events: eventsIn(record), replaced: replacedIn(replaced) });
  }
  if (records.length === 0) {
    throw new SvcError("not_found", `there is no import ${id}`, { kind: "import", id });
  }
  const forgetIds: Uuid[] = [];
  let [events, memories] = [0, 0];
  const all = records.flatMap((record) => record.events);
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const wanted = all.slice(at, at + AT_ONCE);
    const some = await allOf(wanted, (rest) => deps.store.eventsById(rest, userId));
    const ids = [...some.values()]
      .filter(({ metadata }) => erasedBy(metadata) === undefined)
      .map((event) => event.id);
    if (ids.length === 0) continue;
    const asked = { userId, ids };
    const { confirm } = await forget(deps, asked);
    const done = await forget(deps, { ...asked, mode: "erase", confirm });
    if (done.forgetId !== undefined) forgetIds.push(done.forgetId);
    events += done.events.length;
    memories += done.memories.length;
  }
  let restored = 0;
  for (const before of records.flatMap((record) => record.replaced)) {
    const node = await deps.store.node(before, userId);
    if (node?.lifecycleState !== "superseded") continue;
    await restore(deps, before, { userId, actorId: userId });
    restored += 1;
  }
  return { importId: id, events, memories, restored, forgetIds };
}

function replacedIn(pairs: unknown): readonly Uuid[] {
  return Array.isArray(pairs) ? pairs.flatMap((pair) => asUuid(String(pair?.[0]))) : [];
}
