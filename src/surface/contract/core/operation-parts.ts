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

/** The owner whose memories a change may touch, and its actor. @throws SvcError invalid_argument */
export function callerOf({ caller, userId, operator }: CallContext, actor?: string | null) {
  return { userId, actorId: actorOf(caller, operator, actor) };
}
