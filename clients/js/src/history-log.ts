import { SvcError } from "../../../src/domain/errors.ts";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { isObject } from "./memory.ts";

/** The member of an event's metadata that makes it an instruction about the history, and no message. */
export const CONTROL_KEY = "_svc_chat_history_control";

const VERSION = 1;

export type Control =
  | { readonly operation: "clear" }
  | { readonly operation: "delete"; readonly targetEventId: string };

export function controlMetadata(control: Control): JsonObject {
  const target = control.operation === "delete" ? { target_event_id: control.targetEventId } : {};
  return { [CONTROL_KEY]: { version: VERSION, operation: control.operation, ...target } };
}

/**
 * What an event says about the history; undefined for a message.
 * @throws SvcError unsupported for an instruction that is malformed or of another version: ignoring it could show what was cleared
 */
export function controlOf({ id, metadata }: MemoryEvent): Control | undefined {
  if (metadata === undefined || !Object.hasOwn(metadata, CONTROL_KEY)) return undefined;
  const control = metadata[CONTROL_KEY];
  if (isObject(control) && control["version"] === VERSION) {
    const { operation, target_event_id: targetEventId } = control;
    if (operation === "clear") return { operation };
    if (operation === "delete" && typeof targetEventId === "string") {
      return { operation, targetEventId };
    }
  }
  throw new SvcError(
    "unsupported",
    `event ${id} is an instruction about the chat history that this version cannot read`,
    { event_id: id },
  );
}

/**
 * The events of a session that are its messages now, oldest first, by time and then by id.
 * @param events in any order, at least those since the last clear
 * @throws SvcError as `controlOf`
 */
export function replay(events: readonly MemoryEvent[]): readonly MemoryEvent[] {
  const messages = new Map<string, MemoryEvent>();
  for (const event of events.toSorted(byTime)) {
    const control = controlOf(event);
    if (control?.operation === "clear") messages.clear();
    else if (control?.operation === "delete") messages.delete(control.targetEventId.toLowerCase());
    else if (!isErased(event)) messages.set(event.id, event);
  }
  return [...messages.values()];
}

function byTime(one: MemoryEvent, other: MemoryEvent): number {
  return compare(one.timestamp, other.timestamp) || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Its text was forgotten; the log keeps only that there was something. */
function isErased({ content, metadata }: MemoryEvent): boolean {
  return content === "" && typeof metadata?.["erased"] === "string";
}
