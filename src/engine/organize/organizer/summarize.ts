import type { Scope } from "../../../domain/enums.ts";
import { reasonCode } from "../../../domain/errors.ts";
import {
  periodSummary,
  type Ranked,
  requestHashOf,
  type SummaryLevel,
  selectSources,
  weekOf,
} from "../../../domain/organize.ts";
import { addDays, asInstant, type Instant } from "../../../lib/instant.ts";
import type { Json, JsonObject } from "../../../lib/json.ts";
import { compareUnits } from "../../../lib/text.ts";
import type { NodeKey, SearchIndex } from "../../../ports/store/search-index.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { Organizing, PublishedSummary } from "../../../ports/store/work.ts";
import type { EngineDeps } from "../../deps.ts";
import { isOutOfReach } from "../../lifecycle/expire.ts";
import {
  type JobCounts,
  type JobRun,
  type OrganizerJob,
  ownersOf,
  type Skipped,
  seenIn,
} from "./job.ts";
import {
  excerptsOf,
  methodIdentity,
  methodOf,
  NO_MODEL,
  publishSummary,
} from "./publish-summary.ts";

const JOB = "summarize";
/** The share of the budget at which a level ends. */
const LEVELS = [
  ["daily", 0.5],
  ["weekly", 0.8],
  ["monthly", 1],
] as const satisfies (readonly [SummaryLevel, number])[];
/** Days per read. */
const DAYS = 64;
/** Days by which the clock may have been ahead at the last run. */
const CLOCK_DAYS = 1;

type Deps = Pick<
  EngineDeps<SearchIndex & Organizing & Pick<Store, "owners">>,
  "store" | "embedder" | "settings" | "summaryModel" | "warn"
>;

/** Summarizes days, weeks of daily summaries, and months of weekly ones. */
export function summarize(deps: Deps): OrganizerJob {
  return {
    name: JOB,
    work: async (run): Promise<JobCounts | Skipped> => {
      if (methodOf(deps) === undefined) return NO_MODEL;
      const counts: Counts = {
        daily: { periods: 0, published: 0 },
        weekly: { periods: 0, published: 0 },
        monthly: { periods: 0, published: 0 },
        errors: 0,
      };
      const whole = run.leftMs();
      const owners = await ownersOf(deps.store, run.owner);
      for (const [level, share] of LEVELS) {
        const isOver = () => run.isOver() || run.leftMs() < whole * (1 - share);
        for (const userId of owners) {
          if (isOver()) break;
          await new Level(deps, run, { level, userId, isOver, counts }).go();
        }
      }
      const { daily, weekly, monthly, errors } = counts;
      return {
        nodesProcessed: daily.periods + weekly.periods + monthly.periods,
        nodesModified: daily.published + weekly.published + monthly.published,
        errors,
        details: {
          daily: { level: "daily", ...daily },
          weekly: { level: "weekly", ...weekly },
          monthly: { level: "monthly", ...monthly },
        },
      };
    },
  };
}

type Counts = Record<SummaryLevel, { periods: number; published: number }> & { errors: number };
type LevelRun = {
  readonly level: SummaryLevel;
  readonly userId: string;
  readonly isOver: () => boolean;
  readonly counts: Counts;
};

type Source = Ranked & { readonly key: NodeKey; readonly scope: Scope };

/** The summaries of one level and owner. */
class Level {
  readonly #deps: Deps;
  readonly #run: JobRun;
  readonly #level: LevelRun;
  /** The method; with a different one a summary is renewed once a source changes. */
  readonly #how: Json;

  constructor(deps: Deps, run: JobRun, level: LevelRun) {
    this.#deps = deps;
    this.#run = run;
    this.#level = level;
    this.#how = methodIdentity(deps);
  }

  /** A failure ends only this level. */
  async go(): Promise<void> {
    const { level, counts } = this.#level;
    try {
      await (level === "daily" ? this.#days() : this.#longer());
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      counts.errors += 1;
      this.#deps.warn(`organize: ${level} summaries were not made (${reasonCode(error)})`);
    }
  }

  /** Days of new memories, and of summaries that show an inactive one. */
  async #days(): Promise<void> {
    const { store } = this.#deps;
    const { userId, isOver, counts } = this.#level;
    const { errors } = counts;
    const place = await store.walkPlace(JOB, userId);
    const seen = seenIn(place);
    const newest = await store.newestKey(userId);
    const since = lookedAt(place, this.#run.now);
    const published = this.#byPeriod(await store.publishedSummaries(userId, since));
    const fresh = newest > seen ? await store.periodSources(userId, seen) : [];
    const outdated = [...published.values()].flat().filter(({ isOutdated }) => isOutdated);
    const known = new Set(fresh.map(({ day }) => day));
    const others = [...new Set(outdated.flatMap(({ periodKey }) => periodKey ?? []))].filter(
      (day) => !known.has(day),
    );
    await this.#periods(fresh, ({ day }) => day, published);
    for (let at = 0; at < others.length && !isOver(); at += DAYS) {
      const sources = await store.periodSources(userId, others.slice(at, at + DAYS));
      await this.#periods(sources, ({ day }) => day, published);
    }
    // The next run retries failures.
    if (isOver() || this.#run.isDryRun || counts.errors > errors) return;
    await store.saveWalkPlace(JOB, userId, { seen: newest, at: this.#run.now });
  }

  /** Weeks of daily summaries, or months of weekly ones. */
  async #longer(): Promise<void> {
    const { level, userId } = this.#level;
    const below = level === "weekly" ? "daily" : "weekly";
    const all = await this.#deps.store.publishedSummaries(userId);
    const sources = all.filter(({ level: own, isOpen }) => own === below && isOpen);
    const periodOf = ({ at }: Source) =>
      level === "weekly" ? weekOf(at.slice(0, 10)) : at.slice(0, 7);
    await this.#periods(sources, periodOf, this.#byPeriod(all));
  }

  /** Published summaries of this level by subject. */
  #byPeriod(all: readonly PublishedSummary[]): ReadonlyMap<string, readonly PublishedSummary[]> {
    const own = all.filter(({ level }) => level === this.#level.level);
    return Map.groupBy(own, ({ about }) => about);
  }

  async #periods<S extends Source>(
    sources: readonly S[],
    periodOf: (source: S) => string,
    published: ReadonlyMap<string, readonly PublishedSummary[]>,
  ): Promise<void> {
    const { level, counts, isOver } = this.#level;
    const groups = Map.groupBy(sources, (source) => `${level}:${source.scope}:${periodOf(source)}`);
    for (const [about, group] of [...groups].sort(([a], [b]) => compareUnits(a, b))) {
      const [first] = group;
      if (first === undefined || group.length < this.#minimum()) continue;
      if (isOver()) return;
      counts[level].periods += 1;
      await this.#summarizePeriod(group, {
        about,
        period: periodOf(first),
        scope: first.scope,
        previous: published.get(about) ?? [],
      });
    }
  }

  #minimum(): number {
    const { organizer } = this.#deps.settings;
    const minima = {
      daily: organizer.summarizationDailyMinEvents,
      weekly: organizer.summarizationWeeklyMinSummaries,
      monthly: organizer.summarizationMonthlyMinSummaries,
    };
    return minima[this.#level.level];
  }

  async #summarizePeriod(
    group: readonly Source[],
    {
      about,
      period,
      scope,
      previous,
    }: {
      readonly about: string;
      readonly period: string;
      readonly scope: Scope;
      readonly previous: readonly PublishedSummary[];
    },
  ): Promise<void> {
    const { level, userId, counts } = this.#level;
    const { store, settings, warn } = this.#deps;
    const selected = selectSources(group, settings.organizer.summarizationMaxItemsPerSummary);
    const requestHash = requestHashOf(selected, this.#how);
    if (previous.length === 1 && previous[0]?.requestHash === requestHash) return;
    const found = await store.nodesByKey(
      userId,
      selected.map(({ key }) => key),
    );
    const nodes = new Map(found.map(({ key, node }) => [key, node]));
    const sources = selected.flatMap(({ key }) => nodes.get(key) ?? []);
    try {
      const excerpts = await excerptsOf(this.#deps, this.#run, sources);
      if (excerpts.length === 0) return;
      const allIds = group.map(({ id }) => id);
      const method = methodOf(this.#deps) ?? "excerpts";
      const given = { allIds, requestHash, method };
      const draft = periodSummary({ level, period, about }, excerpts, given);
      const done = await publishSummary(this.#deps, this.#run, { userId, scope, draft, previous });
      if (done !== undefined) counts[level].published += 1;
    } catch (error) {
      if (reasonCode(error) !== "stale_consolidation") throw error;
      counts.errors += 1;
      warn(`organize: the summary ${about} was not published (stale_consolidation)`);
    }
  }
}

/** Memories may have been retired unnoticed since then; undefined: always. */
function lookedAt(place: JsonObject | undefined, now: Instant): Instant | undefined {
  const at = place?.["at"];
  if (typeof at !== "string" || at > now) return undefined;
  return addDays(asInstant(at), -CLOCK_DAYS);
}
