import { modelRules, onScale, unitCosine } from "../../../domain/embedding-models.ts";
import { reasonCode } from "../../../domain/errors.ts";
import { canReplace } from "../../../domain/lifecycle.ts";
import { isPinned, type MemoryNode, statedTime } from "../../../domain/node.ts";
import { groupKey, groupSummary, requestHashOf } from "../../../domain/organize.ts";
import { addDays, type Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { compareUnits } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Change, Graph } from "../../../ports/store/graph.ts";
import type { KeyedNode, SearchIndex } from "../../../ports/store/search-index.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { Organizing, PublishedSummary } from "../../../ports/store/work.ts";
import type { EngineDeps } from "../../deps.ts";
import { isOutOfReach } from "../../lifecycle/expire.ts";
import { stepEach } from "./aging.ts";
import {
  eachOwner,
  type JobCounts,
  type OrganizerJob,
  OwnerWalk,
  type Skipped,
  seenIn,
} from "./job.ts";
import {
  excerptsOf,
  methodIdentity,
  methodOf,
  NO_MODEL,
  publishSummary,
  replacedBy,
} from "./publish-summary.ts";

const JOB = "consolidate";
/** Types that are grouped, and candidates per type: the newest. */
const TYPES = ["fact", "event", "note"] as const;
const CANDIDATES = 500;
/** Maximum members of a group. */
const NEAREST = 50;
/** Members whose text a summary shows. */
const SHOWN = 3;

type Deps = Pick<
  EngineDeps<Graph & SearchIndex & Organizing & Pick<Store, "owners">>,
  "store" | "embedder" | "ids" | "settings" | "summaryModel" | "warn"
>;

/** Summarizes groups of near-identical memories; old, doubtful members that are quoted in full are superseded. */
export function consolidate(deps: Deps): OrganizerJob {
  return {
    name: JOB,
    work: async (run): Promise<JobCounts | Skipped> => {
      if (methodOf(deps) === undefined) return NO_MODEL;
      const counts: Counts = { groups: 0, members: 0, retired: 0, summaries: 0, errors: 0 };
      for await (const userId of eachOwner(deps.store, run)) {
        await new Groups(deps, run, userId, counts).go();
      }
      return {
        nodesProcessed: counts.members,
        nodesModified: counts.retired + counts.summaries,
        errors: counts.errors,
        details: {
          clusters_found: counts.groups,
          nodes_consolidated: counts.members,
          nodes_archived: counts.retired,
          summaries_created: counts.summaries,
        },
      };
    },
  };
}

type Counts = Record<"groups" | "members" | "retired" | "summaries" | "errors", number>;
type Candidate = KeyedNode & { readonly vector: Float32Array };

class Groups extends OwnerWalk<Deps, Counts> {
  /** Groups memories added since the last run with those that no summary covers. */
  async go(): Promise<void> {
    const { store } = this.deps;
    await this.#renewOutdated();
    const place = await store.walkPlace(JOB, this.userId);
    const seen = seenIn(place);
    const newest = await store.newestKey(this.userId);
    const { errors } = this.counts;
    const isDone = newest <= seen || (await this.#group(await this.#candidates(), seen));
    // The next run retries failures.
    const reached = isDone && this.counts.errors === errors ? newest : seen;
    const aged = await this.#retireAged(agedIn(place));
    if (!this.run.isDryRun && (reached > seen || aged > agedIn(place)))
      await store.saveWalkPlace(JOB, this.userId, { seen: reached, aged });
  }

  /** Supersedes members that were too new when summarized. @param after key of the newest summary already done @returns it afterwards */
  async #retireAged(after: number): Promise<number> {
    const { store } = this.deps;
    const cutoff = this.#cutoff();
    let aged = after;
    const groups = (await store.publishedSummaries(this.userId))
      .filter(({ key, level, isOutdated }) => level === undefined && !isOutdated && key > after)
      .sort((a, b) => a.key - b.key);
    for (const { key, id } of groups) {
      if (this.run.isOver()) return aged;
      const summary = await store.node(id, this.userId);
      if (summary === undefined) continue;
      // SAFETY: `groupSummary` wrote the list.
      const shown = (summary.metadata?.["selected_source_node_ids"] ?? []) as readonly Uuid[];
      const retire = (sources: readonly MemoryNode[], at: Instant) =>
        this.#retired(
          sources.filter(({ content }) => summary.content.includes(content)),
          summary,
          at,
        );
      const known = await Promise.all(shown.map((source) => store.node(source, this.userId)));
      const due = retire(
        known.flatMap((node) => node ?? []),
        summary.createdAt,
      );
      if ((due.nodes ?? []).length > 0) {
        const reads = { nodeIds: [id, ...shown], auditRecordIds: [], eventIds: [] };
        this.counts.retired += await this.run.change(reads, ({ nodes, at }) => {
          const isOpen = canReplace(nodes.get(id)?.lifecycleState ?? "archived");
          const sources = isOpen ? shown.flatMap((source) => nodes.get(source) ?? []) : [];
          const change = retire(sources, at);
          const count = change.nodes?.length ?? 0;
          return { change: count === 0 ? undefined : change, result: count };
        });
      }
      if (cutoff !== undefined && summary.createdAt <= cutoff) aged = Math.max(aged, key);
    }
    return aged;
  }

  /** Memories stored before this are old. */
  #cutoff(): Instant | undefined {
    const { consolidationPreserveRecentDays: days } = this.deps.settings.organizer;
    return addDays(this.run.now, -days);
  }

  /** In the order of their first members. */
  async #candidates(): Promise<readonly Candidate[]> {
    const { store } = this.deps;
    const userId = this.userId;
    const covered = await store.consolidatedIds(userId);
    const found: KeyedNode[] = [];
    for (const type of TYPES) {
      const newest = await store.newestOfType(userId, type, CANDIDATES);
      found.push(...newest.filter(({ node }) => !covered.has(node.id)));
      await this.run.pause();
    }
    const vectors = await store.ownVectors(
      userId,
      found.map(({ key }) => key),
    );
    return found
      .flatMap(({ key, node }) => {
        const vector = vectors.get(key);
        return vector === undefined ? [] : [{ key, node, vector }];
      })
      .sort((a, b) => inOrder(a.node, b.node));
  }

  /** @returns whether all were examined */
  async #group(candidates: readonly Candidate[], seen: number): Promise<boolean> {
    const { consolidationMinClusterSize: minimum } = this.deps.settings.organizer;
    const free = new Set(candidates);
    for (const seed of candidates) {
      if (!free.has(seed) || seed.key <= seen) continue;
      if (!(await this.#pauseNow())) return false;
      const members = this.#around(seed, free);
      if (members.length < minimum) continue;
      for (const member of members) free.delete(member);
      await this.#publish(members.map(({ node }) => node));
    }
    return true;
  }

  async #pauseNow(): Promise<boolean> {
    this.#turns += 1;
    return this.#turns % SEEDS_PER_TURN === 0 ? this.run.pause() : !this.run.isOver();
  }
  #turns = 0;

  /** The free candidates of its scope that are near enough, itself included, nearest first. */
  #around(seed: Candidate, free: ReadonlySet<Candidate>): readonly Candidate[] {
    const { embedder, settings } = this.deps;
    const { likeMemories } = modelRules(embedder.identity.model);
    const least = settings.organizer.consolidationSimilarityThreshold;
    const near: { readonly candidate: Candidate; readonly cosine: number }[] = [];
    for (const candidate of free) {
      if (candidate.node.scope !== seed.node.scope) continue;
      const cosine = candidate === seed ? 1 : unitCosine(seed.vector, candidate.vector);
      if (candidate === seed || onScale(likeMemories, cosine) >= least)
        near.push({ candidate, cosine });
    }
    return near
      .sort((a, b) => b.cosine - a.cosine || inOrder(a.candidate.node, b.candidate.node))
      .slice(0, NEAREST)
      .map(({ candidate }) => candidate);
  }

  async #publish(
    members: readonly MemoryNode[],
    previous: readonly PublishedSummary[] = [],
    about = groupKey(members),
  ): Promise<void> {
    const [{ scope } = { scope: undefined }] = members;
    if (scope === undefined) return;
    const counts = this.counts;
    counts.groups += 1;
    try {
      const shown = surestFirst(members).slice(0, SHOWN);
      const excerpts = await excerptsOf(this.deps, this.run, shown);
      if (excerpts.length === 0) return;
      const requestHash = requestHashOf(shown.map(toRanked), methodIdentity(this.deps));
      const method = methodOf(this.deps) ?? "excerpts";
      const draft = groupSummary(members, excerpts, { about, requestHash, method });
      const whole = new Set(
        excerpts.flatMap(({ source, text }) => (text === source.content ? [source.id] : [])),
      );
      const retire = (sources: readonly MemoryNode[], summary: MemoryNode) =>
        this.#retired(
          sources.filter(({ id }) => whole.has(id)),
          summary,
          summary.createdAt,
        );
      const publication = { userId: this.userId, scope, draft, previous, retire };
      const done = await publishSummary(this.deps, this.run, publication);
      if (done === undefined) return;
      counts.members += members.length;
      counts.summaries += 1;
      counts.retired += done.retired;
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      counts.errors += 1;
      this.deps.warn(`organize: a group of memories was not summed up (${reasonCode(error)})`);
    }
  }

  /** Supersedes members that are old and doubtful. */
  #retired(sources: readonly MemoryNode[], summary: MemoryNode, at: Instant): Change {
    const { organizer } = this.deps.settings;
    const cutoff = this.#cutoff();
    const evidence = new Set(summary.evidenceRefs);
    const changes = sources
      .filter((node) => mayRetire(node, cutoff, organizer.consolidationMinConfidencePreserve))
      .filter(({ evidenceRefs }) => evidenceRefs.every((id) => evidence.has(id)))
      .map((node) => replacedBy(summary, node, at));
    return {
      nodes: changes.flatMap(({ nodes }) => nodes),
      edges: changes.flatMap(({ edges }) => edges),
      auditRecords: changes.flatMap(({ auditRecords }) => auditRecords),
    };
  }

  /** Renews summaries that show an inactive memory. */
  async #renewOutdated(): Promise<void> {
    const { store } = this.deps;
    const all = await store.publishedSummaries(this.userId);
    const outdated = all.filter(({ level, isOutdated }) => level === undefined && isOutdated);
    for (const previous of outdated) {
      if (this.run.isOver()) return;
      const summary = await store.node(previous.id, this.userId);
      if (summary === undefined) continue;
      // SAFETY: `groupSummary` wrote the list.
      const ids = (summary.metadata?.["source_node_ids"] ?? []) as readonly Uuid[];
      const members = await this.#membersLeft(ids, summary.id);
      const { consolidationMinClusterSize: minimum } = this.deps.settings.organizer;
      const isNeeded = members.some(({ supersededBy }) => supersededBy === summary.id);
      if (isNeeded || members.length >= minimum) {
        await this.#publish(members, [previous], previous.about);
      } else {
        const why = { job: JOB, reason: "sources_gone" };
        const { changed } = await stepEach(this.deps, this.run, [summary], () => ({
          step: "archive",
          why,
        }));
        this.counts.retired += changed;
      }
    }
  }

  /** Members that are active, or superseded by the summary itself. */
  async #membersLeft(ids: readonly Uuid[], summaryId: Uuid): Promise<readonly MemoryNode[]> {
    const left: MemoryNode[] = [];
    for (const id of ids) {
      const node = await this.deps.store.node(id, this.userId);
      if (node === undefined) continue;
      if (canReplace(node.lifecycleState) || node.supersededBy === summaryId) left.push(node);
    }
    return left.sort(inOrder);
  }
}

/** Key of the newest summary whose members are all handled. */
function agedIn(place: JsonObject | undefined): number {
  const aged = place?.["aged"];
  return typeof aged === "number" ? aged : 0;
}

/** Seeds between two yields. */
const SEEDS_PER_TURN = 16;

function mayRetire(node: MemoryNode, cutoff: Instant | undefined, preserved: number): boolean {
  const isOld = cutoff !== undefined && node.createdAt <= cutoff;
  return canReplace(node.lifecycleState) && !isPinned(node) && node.confidence < preserved && isOld;
}

function inOrder(a: MemoryNode, b: MemoryNode): number {
  return (
    compareUnits(a.scope, b.scope) ||
    compareUnits(statedTime(a), statedTime(b)) ||
    compareUnits(a.content, b.content) ||
    compareUnits(a.id, b.id)
  );
}

function surestFirst(members: readonly MemoryNode[]): readonly MemoryNode[] {
  return [...members].sort((a, b) => b.confidence - a.confidence || inOrder(a, b));
}

function toRanked(node: MemoryNode) {
  const { id, salienceBase, confidenceBase } = node;
  return { id, at: statedTime(node), salienceBase, confidenceBase };
}
