import { uuidV5 } from "../../../lib/hashing.ts";
import { canonicalJson } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { canReplace } from "../../lifecycle.ts";
import type { MemoryNode } from "../../node.ts";
import { isFirstPerson, isPersonal } from "../cues.ts";
import {
  type ExtractedEntity,
  type ExtractionResult,
  type Reference,
  referenceOf,
} from "../result.ts";
import {
  type KnownMemories,
  nameKey,
  newNode,
  ownerReferenceId,
  type PlanContext,
  type PlanProblem,
  planIdOf,
} from "./context.ts";

/** The type of an entity for a personal word whose claims disagree on the type. */
const PERSONAL_TYPE = "personal_reference";

/** What one end of a claim resolves to. */
export type End = {
  readonly status: Reference;
  /** Undefined unless resolved. */
  readonly entityId: Uuid | undefined;
  readonly firstPerson: "owner" | "speaker" | undefined;
};

/** The entities of a plan: reused ones and new ones. */
export type PlannedEntities = {
  readonly created: readonly MemoryNode[];
  /** Known ones that are reused unchanged. */
  readonly used: readonly MemoryNode[];
  /** The text to embed for each new one. */
  readonly texts: ReadonlyMap<Uuid, string>;
  readonly endOf: (name: string, type: string | undefined) => End;
};

/** The names for which a store must look up entities before planning: trimmed, in lower case, each once. */
export function namesToFind(
  { entities }: ExtractionResult,
  speaker: string | undefined,
): readonly string[] {
  const named = entities.filter(({ name, entityType }) => !isPersonal(name, entityType));
  const names = named.map(({ name }) => nameKey(name));
  return [...new Set(speaker === undefined ? names : [...names, nameKey(speaker)])];
}

export function planEntities(
  result: ExtractionResult,
  context: PlanContext,
): PlannedEntities | PlanProblem {
  const planning = new EntityPlanning(context);
  for (const entity of result.entities) {
    if (!isPersonal(entity.name, entity.entityType)) planning.named(entity);
  }
  for (const word of personalWords(result)) {
    const problem = planning.personal(word.name, word.type);
    if (problem !== undefined) return problem;
  }
  return planning.end(result.entities);
}

/** The personal words of the claims, each once, with the type on which its claims agree. */
function personalWords({
  claims,
}: ExtractionResult): readonly { readonly name: string; readonly type: string }[] {
  const types = new Map<string, { name: string; readonly types: Set<string> }>();
  const add = (name: string, type: string | undefined): void => {
    if (!isPersonal(name, type)) return;
    const word = types.get(nameKey(name)) ?? { name: name.trim(), types: new Set() };
    word.types.add(type?.trim() ?? PERSONAL_TYPE);
    types.set(nameKey(name), word);
  };
  for (const claim of claims) {
    add(claim.subject, claim.subjectEntityType);
    add(claim.object, claim.objectEntityType);
  }
  return Array.from(types.values(), ({ name, types: given }) => {
    const [type = PERSONAL_TYPE, other] = given;
    return { name, type: other === undefined ? type : PERSONAL_TYPE };
  });
}

class EntityPlanning {
  readonly #context: PlanContext;
  readonly #planId: Uuid;
  readonly #created = new Map<Uuid, MemoryNode>();
  readonly #used = new Map<Uuid, MemoryNode>();
  readonly #texts = new Map<Uuid, string>();
  readonly #byIdentity = new Map<string, Uuid>();
  readonly #byWord = new Map<string, Uuid>();

  constructor(context: PlanContext) {
    this.#context = context;
    this.#planId = planIdOf(context);
  }

  /** @returns the entity of that name and type: known, planned before, or new */
  named(entity: ExtractedEntity): Uuid {
    const identity = identityOf(entity.name, entity.entityType);
    const planned = this.#byIdentity.get(identity);
    if (planned !== undefined) return planned;
    const found = findKnown(entity, this.#context.known);
    if (found !== undefined) this.#used.set(found.id, found);
    const id = found?.id ?? this.#createNamed(entity, identity);
    this.#byIdentity.set(identity, id);
    return id;
  }

  personal(name: string, type: string): PlanProblem | undefined {
    const who = firstPersonOf(name, this.#context);
    if (who === "owner") return this.#owner(name);
    const id =
      who === "speaker"
        ? this.named({
            ...NO_DETAILS,
            name: this.#context.turn.speaker ?? "",
            entityType: "person",
          })
        : this.#local(name, type);
    this.#byWord.set(nameKey(name), id);
    return undefined;
  }

  end(entities: readonly ExtractedEntity[]): PlannedEntities {
    return {
      created: [...this.#created.values()],
      used: [...this.#used.values()],
      texts: this.#texts,
      endOf: (name, type) => {
        const word = isPersonal(name, type) ? this.#byWord.get(nameKey(name)) : undefined;
        if (word !== undefined) {
          const firstPerson = firstPersonOf(name, this.#context);
          return { status: "resolved", entityId: word, firstPerson };
        }
        const status = referenceOf(name, type, entities);
        const listed =
          status === "resolved" ? entities.find((entity) => isIt(entity, name, type)) : undefined;
        const entityId = listed && this.#byIdentity.get(identityOf(listed.name, listed.entityType));
        return {
          status: entityId === undefined && status === "resolved" ? "missing" : status,
          entityId,
          firstPerson: undefined,
        };
      },
    };
  }

  #createNamed({ name, entityType, description }: ExtractedEntity, identity: string): Uuid {
    const content = name.trim();
    const id = this.#add(`entity:${identity}`, content, {
      entity_type: entityType.trim(),
      ...(description !== undefined && { description }),
    });
    this.#texts.set(id, description === undefined ? content : `${content}: ${description}`);
    return id;
  }

  /** A personal word whose meaning only this event determines. */
  #local(name: string, type: string): Uuid {
    const id = this.#add(`reference:${nameKey(name)}`, name, {
      entity_type: type,
      identity_status: "unresolved_reference",
      reference_event_id: this.#context.event.id,
    });
    this.#texts.set(id, name);
    return id;
  }

  #add(what: string, content: string, metadata: NonNullable<MemoryNode["metadata"]>): Uuid {
    const id = uuidV5(this.#planId, what);
    const node = newNode(this.#context, { id, nodeType: "entity", content, metadata });
    this.#created.set(id, node);
    return id;
  }

  #owner(name: string): PlanProblem | undefined {
    const { event, known } = this.#context;
    const metadata = {
      entity_type: "person",
      identity_status: "owner_reference",
      owner_id: event.userId,
    };
    const node =
      known.owner ??
      newNode(this.#context, {
        id: ownerReferenceId(event.userId, event.scope),
        nodeType: "entity",
        content: "I",
        decayProfile: "medium",
        sessionId: undefined,
        metadata,
      });
    if (known.owner === undefined) {
      this.#created.set(node.id, node);
      this.#texts.set(node.id, node.content);
    } else if (isUntouchedOwner(node, known, metadata)) this.#used.set(node.id, node);
    else return "owner_reference_changed";
    this.#byWord.set(nameKey(name), node.id);
    return undefined;
  }
}

const NO_DETAILS = { description: undefined, scope: undefined } as const;

/** Whether the owner's node is unchanged, whatever the owner was called then. */
function isUntouchedOwner(
  node: MemoryNode,
  { ownerNames }: KnownMemories,
  metadata: NonNullable<MemoryNode["metadata"]>,
): boolean {
  const ownerId = node.metadata?.["owner_id"];
  const isNamed = typeof ownerId === "string" && ownerNames.has(ownerId);
  const isSame =
    canonicalJson({ ...node.metadata, owner_id: null }) ===
    canonicalJson({ ...metadata, owner_id: null });
  const isOwned = isNamed || ownerId === metadata["owner_id"];
  return canReplace(node.lifecycleState) && node.content === "I" && isSame && isOwned;
}

/** Who the singular first person of a turn is; undefined if unknown. */
function firstPersonOf(
  name: string,
  { turn, settings }: PlanContext,
): "owner" | "speaker" | undefined {
  if (!isFirstPerson(name)) return undefined;
  if (turn.isOwner) return "owner";
  return settings.speakerReferences && turn.speaker !== undefined ? "speaker" : undefined;
}

function findKnown(
  { name, entityType }: ExtractedEntity,
  { entities }: KnownMemories,
): MemoryNode | undefined {
  const sought = nameKey(name);
  return entities.find(
    ({ content, metadata }) =>
      metadata?.["entity_type"] === entityType.trim() &&
      metadata["identity_status"] === undefined &&
      nameKey(content) === sought,
  );
}

function isIt(entity: ExtractedEntity, name: string, type: string | undefined): boolean {
  return (
    nameKey(entity.name) === nameKey(name) &&
    (type === undefined || nameKey(entity.entityType) === nameKey(type))
  );
}

function identityOf(name: string, type: string): string {
  return JSON.stringify([nameKey(name), nameKey(type)]);
}
