import { parseOwner, parseText } from "../../domain/arguments.ts";
import { invalid } from "../../domain/errors.ts";
import { LIMITS } from "../../domain/limits.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import type { ChangeCaller } from "./api.ts";

/** The actor if neither an actor nor an owner is named. */
const NOBODY = "system";

/** The name under which a change is recorded; undefined if none is given. @throws SvcError invalid_argument */
export function parseActor(actorId: string | null | undefined): string | undefined {
  if (actorId === undefined || actorId === null) return undefined;
  const actor = parseText(actorId, "actor_id").trim();
  if (actor === "") throw invalid("actor_id", "must not be blank");
  const length = [...actor].length;
  if (length > LIMITS.actorMaxChars) {
    throw invalid("actor_id", `has ${length} characters, at most ${LIMITS.actorMaxChars}`);
  }
  return actor;
}

/** Owner and actor of a change; the actor is the owner unless named. @throws SvcError invalid_argument */
export function parseCaller(caller: ChangeCaller): {
  readonly owner: Owner;
  readonly actorId: string;
} {
  const owner = parseOwner(caller.userId);
  const actorId = parseActor(caller.actorId) ?? (isEverybody(owner) ? NOBODY : owner);
  return { owner, actorId };
}
