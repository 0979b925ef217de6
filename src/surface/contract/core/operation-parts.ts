import { z } from "zod";
import { invalid } from "../../../domain/errors.ts";
import { parseUuid, type Uuid } from "../../../lib/uuid.ts";
import { actorOf } from "./caller.ts";
import type { CallContext } from "./operation.ts";

/** The hints of a tool that only reads. */
export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** The hints of a tool that adds to the memory with each call. */
export const ADDS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;

/** The hints of an idempotent tool that changes existing memories. */
export const CHANGES = { ...ADDS, idempotentHint: true } as const;

/** The hints of such a tool that makes a memory permanently unfindable. */
export const RETIRES = { ...CHANGES, destructiveHint: true } as const;

/** `user_id` in a query, optional. */
export const anyOwnerQuery = z
  .string()
  .optional()
  .meta({ description: "Absent: all owners, for an operator." });

/** `user_id` in a query, required of an operator. */
export const ownerQuery = z
  .string()
  .optional()
  .meta({
    description: "Owner of the memories; not needed with a key that belongs to one owner.",
    examples: ["ada"],
  });

/** A value read by a rule; null and undefined both mean absent. */
export function present<T, R>(value: T | null | undefined, read: (value: T) => R): R | undefined {
  return value === null || value === undefined ? undefined : read(value);
}

/** @throws SvcError invalid_argument */
export function readUuid(text: string, field: string): Uuid {
  const id = parseUuid(text);
  if (id === undefined) throw invalid(field, `${JSON.stringify(text.slice(0, 80))} is not a UUID`);
  return id;
}

/**
 * A page size, or another integer, from a query string.
 * @throws SvcError invalid_argument
 */
export function readLimit(
  text: string,
  [min, max]: readonly [number, number],
  field = "limit",
): number {
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= min && limit <= max) return limit;
  throw invalid(
    field,
    `${JSON.stringify(text.slice(0, 80))} is not an integer from ${min} to ${max}`,
  );
}

/** The owner whose memories a change may touch, and its actor. @throws SvcError invalid_argument */
export function callerOf({ caller, operator }: CallContext, actor?: string | null) {
  return { userId: caller.boundUserId, actorId: actorOf(caller, operator, actor) };
}

/**
 * The header that makes a retry safe. @throws SvcError invalid_argument
 */
export function readIdempotencyKey(text: string | undefined): Uuid | undefined {
  return text === undefined ? undefined : readUuid(text, "Idempotency-Key");
}
