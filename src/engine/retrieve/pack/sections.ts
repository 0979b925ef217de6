import { isOwnInstruction } from "../../../domain/metadata.ts";
import { isPinned, type MemoryNode } from "../../../domain/node.ts";
import type { PackingSettings, SectionName } from "../../../domain/records/retrieval-record.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Tokenizer } from "../../../ports/models.ts";
import type { ResultCandidate } from "../api.ts";
import type { LineTokens } from "./record-line.ts";

const ORDINARY = 3;

/** As of `packingRanks`. */
export const ORDINARY_RANK = 2 * ORDINARY;

/**
 * Packing order: own instructions, pinned memories and open tasks, episodes and evidence, the rest. Session neighbours of the first three
 * may follow them.
 */
export function packingRanks(
  candidates: readonly ResultCandidate[],
  sessionContextPacking: PackingSettings["sessionContextPacking"],
): (candidate: ResultCandidate) => number {
  const isLinked =
    sessionContextPacking !== undefined &&
    candidates.some(({ sessionLink }) => sessionLink !== undefined);
  const tiers = new Map(
    isLinked ? candidates.map((candidate) => [candidate.node.id, tierOf(candidate)]) : [],
  );
  return (candidate) => {
    const tier = tierOf(candidate);
    if (tier < ORDINARY || !isLinked) return 2 * tier;
    const { sessionLink } = candidate;
    const trigger = sessionLink === undefined ? undefined : tiers.get(sessionLink.triggerId);
    return trigger === undefined || trigger >= ORDINARY ? ORDINARY_RANK : 2 * trigger + 1;
  };
}

/** An own instruction, a pinned memory or an open task. */
export function hasOwnClaim({ node }: ResultCandidate): boolean {
  const openTask =
    node.nodeType === "task" &&
    (node.lifecycleState === "tentative" || node.lifecycleState === "stable");
  return isOwnInstruction(node) || isPinned(node) || openTask;
}

/** Share of the best score; what labelled questions ask for was never below it (docs/retrieval.md). */
const FAR = 0.2;

/** Weak results far behind the best one, if another one is strong; without what stands in a context by its own right, and disputes. */
export function farBehind(results: readonly ResultCandidate[]): ReadonlySet<Uuid> {
  if (!results.some(({ strength }) => strength === "strong")) return new Set();
  const best = results.reduce((most, { compositeScore }) => Math.max(most, compositeScore), 0);
  const far = results.filter(
    (result) =>
      result.strength === "weak" &&
      result.compositeScore < FAR * best &&
      result.node.lifecycleState !== "contested" &&
      !hasOwnClaim(result),
  );
  return new Set(far.map(({ node }) => node.id));
}

function tierOf(candidate: ResultCandidate): number {
  if (isOwnInstruction(candidate.node)) return 0;
  if (hasOwnClaim(candidate)) return 1;
  const { paths } = candidate;
  return paths.includes("EPISODE_CONTEXT") || paths.includes("EVIDENCE_CONTEXT") ? 2 : ORDINARY;
}

export function sectionOf(node: MemoryNode): SectionName {
  if (node.lifecycleState === "contested") return "contested_claims";
  switch (node.nodeType) {
    case "instruction":
      return isOwnInstruction(node) ? "system_instructions" : "stable_facts";
    case "entity":
      return "entity_snapshots";
    case "decision":
      return "recent_decisions";
    case "task":
      return "active_tasks";
    case "summary":
      return "summaries";
    case "event":
    case "preference":
      return "provenance_refs";
    case "fact":
    case "note":
      return "stable_facts";
  }
}

export type MeteredLine = {
  readonly section: SectionName;
  readonly tokens: LineTokens;
  readonly namesSpeaker: boolean;
};

type ContextFrame = {
  /** The first lines. */
  readonly notice: string | undefined;
  readonly header: (namesSpeakers: boolean) => string;
};

/**
 * The exact token count of a context at every step, without counting its text: no token spans two lines, so the counts of lines are summed.
 */
export class ContextMeter<L extends MeteredLine> {
  readonly #tokenizer: Tokenizer;
  readonly #frame: ContextFrame;
  readonly #sections = new Map<SectionName, L[]>();
  /** Tokens of section and record lines with their line breaks. */
  #sum = 0;
  #speakers = 0;
  /** Tokens before the first section, by whether speakers are named: counted once. */
  readonly #fronts = new Map<boolean, number>();
  readonly #headings = new Map<SectionName, number>();

  constructor(tokenizer: Tokenizer, frame: ContextFrame) {
    this.#tokenizer = tokenizer;
    this.#frame = frame;
  }

  /** In order of first use. */
  get sections(): ReadonlyMap<SectionName, readonly L[]> {
    return this.#sections;
  }

  get namesSpeakers(): boolean {
    return this.#speakers > 0;
  }

  /** Without records, of the notice alone. */
  get total(): number {
    const last = this.#lastLines?.at(-1);
    if (last !== undefined) return this.#count(this.#sum, last, this.namesSpeakers);
    return this.#frame.notice === undefined ? 0 : this.#tokenizer.count(this.#frame.notice);
  }

  /** The total with one more line at a place of its section. */
  totalWith(line: L, place = this.placesIn(line.section)): number {
    const lines = this.#sections.get(line.section);
    const last = this.#lastLines;
    const lastLine = last?.at(-1);
    const isLast = lines === undefined || (lines === last && place === lines.length);
    return this.#count(
      this.#sum + line.tokens.broken + (lines === undefined ? this.#heading(line.section) : 0),
      isLast || lastLine === undefined ? line : lastLine,
      this.namesSpeakers || line.namesSpeaker,
    );
  }

  /** The total with guidance between notice and header. */
  totalWithGuidance(guidance: string): number {
    return this.total + this.#broken(guidance);
  }

  /** Also the place after the last line. */
  placesIn(section: SectionName): number {
    return this.#sections.get(section)?.length ?? 0;
  }

  add(line: L, place = this.placesIn(line.section)): void {
    const lines = this.#sections.get(line.section);
    if (lines === undefined) {
      this.#sum += this.#heading(line.section);
      this.#sections.set(line.section, [line]);
    } else lines.splice(place, 0, line);
    this.#sum += line.tokens.broken;
    this.#speakers += line.namesSpeaker ? 1 : 0;
  }

  remove(line: L): void {
    const lines = this.#sections.get(line.section) ?? [];
    const place = lines.indexOf(line);
    if (place < 0) return;
    lines.splice(place, 1);
    this.#sum -= line.tokens.broken;
    this.#speakers -= line.namesSpeaker ? 1 : 0;
    if (lines.length > 0) return;
    this.#sections.delete(line.section);
    this.#sum -= this.#heading(line.section);
  }

  get #lastLines(): readonly L[] | undefined {
    let last: readonly L[] | undefined;
    for (const lines of this.#sections.values()) last = lines;
    return last;
  }

  #count(sum: number, last: L, namesSpeakers: boolean): number {
    const front = this.#fronts.getOrInsertComputed(namesSpeakers, () => {
      const { notice, header } = this.#frame;
      return (
        (notice === undefined ? 0 : this.#broken(notice)) + this.#broken(header(namesSpeakers))
      );
    });
    return front + sum - last.tokens.broken + last.tokens.alone;
  }

  #heading(section: SectionName): number {
    return this.#headings.getOrInsertComputed(section, () => this.#broken(sectionHeading(section)));
  }

  #broken(line: string): number {
    return this.#tokenizer.count(`${line}\n`);
  }
}

/** How instructions from the memory are described. */
export const STORED_TEXTS = "stored texts, stated or confirmed by the user";

export function sectionHeading(section: SectionName): string {
  return section === "system_instructions" ? `[${section}] (${STORED_TEXTS})` : `[${section}]`;
}
