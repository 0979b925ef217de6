import { turnOf } from "../../../src/domain/extraction/passages.ts";
import {
  type KnownClaim,
  type KnownMemories,
  NOTHING_KNOWN,
  type PlanContext,
  type PlanSettings,
} from "../../../src/domain/extraction/plan/context.ts";
import {
  type DerivationPlan,
  planDerivation,
  planProblem,
  publish,
} from "../../../src/domain/extraction/plan/derivation.ts";
import {
  type ExtractedClaim,
  type ExtractedEntity,
  type ExtractionResult,
  PLAIN_CLAIM,
} from "../../../src/domain/extraction/result.ts";
import { isActive } from "../../../src/domain/lifecycle.ts";
import type { Edge, MemoryEvent, MemoryNode } from "../../../src/domain/node.ts";
import { FIRST_PERSON_OWNER_KEY, SPEAKER_KEY } from "../../../src/domain/speaker.ts";
import { sha256Hex, uuidV5 } from "../../../src/lib/hashing.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";

export const SETTINGS: PlanSettings = {
  confidenceOverrides: {},
  speakerReferences: true,
  claimSentenceText: true,
  claimMerge: true,
};

/** `SUBJECT | PREDICATE | OBJECT`, positive and asserted unless said otherwise. */
export function claim(line: string, part: Partial<ExtractedClaim> = {}): ExtractedClaim {
  const [subject = "", predicate = "", object = ""] = line.split(" | ");
  return {
    ...PLAIN_CLAIM,
    kind: "fact",
    subject,
    predicate,
    object,
    polarity: "positive",
    evidenceQuote: undefined,
    confidence: 0.5,
    factType: "fact",
    epistemicType: "asserted",
    ...part,
  };
}

export function entity(name: string, entityType = "person", description?: string): ExtractedEntity {
  return { name, entityType, description, scope: undefined };
}

/** What is said, and what was extracted from it. */
export type Said = {
  readonly content: string;
  readonly claims?: readonly ExtractedClaim[];
  readonly entities?: readonly ExtractedEntity[];
  readonly role?: MemoryEvent["role"];
  readonly speaker?: string;
  readonly isOwner?: boolean;
  /** A day of May 2024. */
  readonly day?: number;
  readonly settings?: Partial<PlanSettings>;
};

/** A memory of plain values that plans are made for and carried out on. */
export class MemoryOf {
  readonly nodes = new Map<Uuid, MemoryNode>();
  readonly edges: Edge[] = [];
  #events = 0;

  /** The plan for a turn, from what is known now. */
  plan(said: Said): DerivationPlan {
    const plan = planDerivation(resultOf(said), this.context(said));
    if (typeof plan === "string") throw new Error(plan);
    const problem = planProblem(plan);
    if (problem !== undefined) throw new Error(problem);
    return plan;
  }

  /** Plans a turn and carries the plan out. */
  tell(said: Said): DerivationPlan {
    const plan = this.plan(said);
    const done = publish(plan, this.nodes, asInstant("2024-06-01T00:00:00.000000Z"));
    if ("staleId" in done) throw new Error(`stale: ${done.staleId}`);
    for (const node of [...done.nodes, ...done.replaced]) this.nodes.set(node.id, node);
    this.edges.push(...done.edges);
    return plan;
  }

  context({ content, role, speaker, isOwner, day = 10, settings }: Said): PlanContext {
    this.#events += 1;
    const at = asInstant(`2024-05-${String(day).padStart(2, "0")}T09:00:00.000000Z`);
    const event: MemoryEvent = {
      id: uuidV5("url", `event ${this.#events}`),
      userId: "anna",
      sessionId: "s",
      scope: "personal",
      role: role ?? "user",
      content,
      contentHash: sha256Hex(content),
      metadata: {
        ...(speaker !== undefined && { [SPEAKER_KEY]: speaker }),
        ...(isOwner === true && { [FIRST_PERSON_OWNER_KEY]: true }),
      },
      eventTime: at,
      timestamp: at,
    };
    return {
      event,
      turn: turnOf(event),
      known: this.known(),
      settings: { ...SETTINGS, ...settings },
      readDates: (text) =>
        text === "yesterday"
          ? [
              {
                value: text,
                resolved: asInstant(`2024-05-${String(day - 1).padStart(2, "0")}T09:00:00.000000Z`),
              },
            ]
          : [],
      revision: 1,
      now: at,
    };
  }

  known(): KnownMemories {
    const all = [...this.nodes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const active = all.filter(({ lifecycleState }) => isActive(lifecycleState));
    const isOwner = ({ metadata }: MemoryNode) =>
      metadata?.["identity_status"] === "owner_reference";
    const ends = (
      id: Uuid,
      type: string,
      end: "sourceId" | "targetId",
      other: "sourceId" | "targetId",
    ) =>
      this.edges
        .filter((edge) => edge.edgeType === type && edge[end] === id)
        .map((edge) => edge[other]);
    return {
      ...NOTHING_KNOWN,
      entities: active.filter(({ nodeType }) => nodeType === "entity"),
      claims: all
        .filter(({ nodeType }) => nodeType !== "entity")
        .map(
          (node): KnownClaim => ({
            node,
            subjectIds: ends(node.id, "has_fact", "targetId", "sourceId"),
            objectIds: ends(node.id, "mentions", "sourceId", "targetId"),
          }),
        ),
      owner: all.find(isOwner),
      ownerNames: new Set(["anna"]),
      shown: this.nodes,
    };
  }

  /** The objects of what is believed now. */
  believed(): readonly string[] {
    return [...this.nodes.values()]
      .filter(({ nodeType, lifecycleState }) => nodeType !== "entity" && isActive(lifecycleState))
      .map(({ metadata }) => String(metadata?.["object"]))
      .sort();
  }
}

function resultOf({ content, claims = [], entities = [] }: Said): ExtractionResult {
  return {
    entities,
    claims: claims.map((one) => ({ ...one, evidenceQuote: one.evidenceQuote ?? content })),
    summary: undefined,
  };
}
