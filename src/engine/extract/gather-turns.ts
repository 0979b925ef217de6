import type { MemoryEvent } from "../../domain/event.ts";
import { batchOf, type Waiting } from "../../domain/extraction/batch.ts";
import { languageOf } from "../../domain/extraction/language.ts";
import { earlierTurnOf, type Turn, turnOf } from "../../domain/extraction/turn.ts";
import type { ExtractionClaim } from "../../ports/store/extraction-queue.ts";
import type { Tokenizer } from "../../ports/tokenizer.ts";
import type { ExtractDeps, JobOptions } from "./deps.ts";

/** A turn of a request, and the event that it comes from. */
export type AskedTurn = { readonly event: MemoryEvent; readonly turn: Turn };

/** Waiting turns that are read at first, and at most: few fit into a request, unless they are short. */
const READ_AT_FIRST = 64;
const READ_AT_MOST = 1000;
/** UTF-16 units that one token stands for at most. A longer text is above the target without being counted. */
const LONGEST_TOKEN = 128;

/** A claimed event as a turn that is asked alone, with what helps to read it. */
export async function turnAlone(
  { store, settings }: Pick<ExtractDeps, "store" | "settings">,
  claim: ExtractionClaim,
): Promise<AskedTurn> {
  const { event } = claim;
  const { windowTurns } = settings;
  const earlier = windowTurns === 0 ? [] : await store.earlierTurns(claim, windowTurns);
  const around = languageOf([...earlier, event].map(({ content }) => content).join("\n"));
  const turn = turnOf(event, around);
  if (earlier.length === 0) return { event, turn };
  return { event, turn: { ...turn, reading: { window: earlier.map(earlierTurnOf) } } };
}

/** The turns of the request for a claimed event, oldest first. */
export async function gatherTurns(
  deps: Pick<ExtractDeps, "store" | "tokenizer" | "settings">,
  claim: ExtractionClaim,
  options: Pick<JobOptions, "upTo" | "maxTurns">,
): Promise<readonly AskedTurn[]> {
  const events = (await eventsFor(deps, claim, options)).slice(0, options.maxTurns);
  const around = languageOf(events.map(({ content }) => content).join("\n"));
  const asked = events.map((event) => ({ event, turn: turnOf(event, around) }));
  // Stable: turns of one moment stay in the order of the queue.
  return asked.sort((one, other) => compare(one.turn.at, other.turn.at));
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

type WaitingEvent = Waiting & { readonly event: MemoryEvent };

async function eventsFor(
  { store, tokenizer, settings }: Pick<ExtractDeps, "store" | "tokenizer" | "settings">,
  claim: ExtractionClaim,
  { upTo }: Pick<JobOptions, "upTo">,
): Promise<readonly MemoryEvent[]> {
  const target = settings.batchTargetTokens;
  if (target === 0 || claim.event.sessionId === undefined) return [claim.event];
  await tokenizer.ready();
  const tokens = countUpTo(tokenizer, target);
  const toWaiting = (event: MemoryEvent, isRecorded: boolean): WaitingEvent => ({
    event,
    sessionId: event.sessionId,
    isRecorded,
    tokens: isRecorded ? 0 : tokens(event),
  });
  const head = toWaiting(claim.event, false);
  if (head.tokens > target) return [claim.event];
  for (const limit of [READ_AT_FIRST, READ_AT_MOST]) {
    const later = await store.waitingTurns(claim, { upTo, limit });
    const waiting = later.map(({ event, isRecorded }) => toWaiting(event, isRecorded));
    const batch = batchOf(head, waiting, target);
    const open = waiting.filter(({ isRecorded }) => !isRecorded).length;
    const isWhole = batch.length <= open || later.length < limit || limit === READ_AT_MOST;
    if (isWhole) return batch.map(({ event }) => event);
  }
  return [claim.event];
}

/** Counts each text once, and what is surely too long not at all. */
function countUpTo(tokenizer: Tokenizer, target: number): (event: MemoryEvent) => number {
  const counted = new Map<string, number>();
  return ({ id, content }) => {
    const known = counted.get(id);
    if (known !== undefined) return known;
    const isTooLong = content.length > target * LONGEST_TOKEN;
    const tokens = isTooLong ? target + 1 : tokenizer.count(content);
    counted.set(id, tokens);
    return tokens;
  };
}
