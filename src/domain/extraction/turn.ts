import type { Instant } from "../../lib/instant.ts";
import type { MemoryEvent } from "../event.ts";
import { FIRST_PERSON_OWNER_KEY, storedSpeaker } from "../speaker.ts";
import { type CueLanguage, languageOf } from "./language.ts";

/** A turn before another one of its conversation. */
export type EarlierTurn = {
  readonly content: string;
  readonly speaker: string | undefined;
};

/** What helps to read a turn that is asked alone. It supports no claim. */
export type Reading = {
  /** Oldest first. */
  readonly window: readonly EarlierTurn[];
};

/** A turn against which claims are held: nothing else supports them. */
export type Turn = {
  readonly content: string;
  /** Trimmed, in lower case. */
  readonly role: string;
  readonly speaker: string | undefined;
  /** Whether the first person of the turn is the owner of the memory. */
  readonly isOwner: boolean;
  /** When it was said. */
  readonly at: Instant;
  readonly language: CueLanguage;
  readonly reading?: Reading;
};

/** A turn as another one is shown it. */
export function earlierTurnOf({ content, metadata }: MemoryEvent): EarlierTurn {
  return { content, speaker: storedSpeaker(metadata) };
}

/** The turn of an event. @param around the language of the conversation */
export function turnOf(event: MemoryEvent, around?: CueLanguage): Turn {
  const role = event.role.trim().toLowerCase();
  const isUser = role === "user" || role === "human";
  return {
    content: event.content,
    role: role === "" ? "unknown" : role,
    speaker: storedSpeaker(event.metadata),
    isOwner: isUser && event.metadata?.[FIRST_PERSON_OWNER_KEY] === true,
    at: event.eventTime ?? event.timestamp,
    language: languageOf(event.content, around),
  };
}
