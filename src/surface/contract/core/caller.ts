import { parseText } from "../../../domain/arguments.ts";
import { invalid, SvcError } from "../../../domain/errors.ts";
import { nameForm } from "../../../lib/text.ts";

/** On whose behalf a request runs. */
export type Caller = {
  /** The only owner this caller may name; undefined for an operator, who may name any. */
  readonly boundUserId: string | undefined;
  /** The owner for an operator who names none. Absent: a request that needs an owner is rejected. */
  readonly defaultUserId?: string | undefined;
};

/**
 * The owner of a request that may omit it; undefined means all owners.
 * @throws SvcError forbidden if a bound caller names another owner; invalid_argument if an operator names an empty one, which is more often
 * an unset variable than a wish for all owners
 */
export function optionalOwner(
  caller: Caller,
  given: string | null | undefined,
): string | undefined {
  if (caller.boundUserId === undefined) {
    if (given === "") throw invalid("user_id", "is empty; leave it out for all owners");
    return given ?? undefined;
  }
  const { boundUserId } = caller;
  if (given !== undefined && given !== null && nameForm(given) !== nameForm(boundUserId)) {
    throw new SvcError(
      "forbidden",
      `user_id: ${JSON.stringify(given.slice(0, 80))} is not the owner of this connection; leave user_id out`,
    );
  }
  return boundUserId;
}

/**
 * The owner of a request that needs one.
 * @throws SvcError forbidden, or invalid_argument if an operator names none
 */
export function requireOwner(caller: Caller, given: string | null | undefined): string {
  const isUnnamed = given === "" && caller.boundUserId === undefined;
  const owner = optionalOwner(caller, isUnnamed ? undefined : given) ?? caller.defaultUserId;
  if (owner === undefined) {
    throw invalid("user_id", "is required: the name of the owner of these memories");
  }
  return owner;
}

/** @throws SvcError forbidden for the key of one owner */
export function requireOperator({ boundUserId }: Caller): void {
  if (boundUserId === undefined) return;
  throw new SvcError("forbidden", "This is for operators; the key belongs to one owner");
}

/**
 * The actor in the record of a change: the bound owner, else the one that an operator names, else the operator.
 * @throws SvcError invalid_argument if a bound caller names an actor, or the name is blank or malformed text
 */
export function actorOf(
  caller: Caller,
  operator: string,
  given: string | null | undefined,
): string {
  if (given === undefined || given === null) return caller.boundUserId ?? operator;
  if (caller.boundUserId !== undefined) {
    throw invalid("actor", "is this connection's owner; leave it out");
  }
  const name = parseText(given, "actor").trim();
  if (name === "") throw invalid("actor", "must not be blank");
  return name;
}
