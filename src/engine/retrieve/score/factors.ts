import { daysBetween, type Instant } from "../../../lib/instant.ts";
import { namesDate } from "./wording.ts";

/**
 * Ranks from 1 by value, largest first; equal values share the better rank: 1, 2, 2, 4. No value, no rank. Instants rank newest
 * first.
 */
export function competitionRanks<T extends number | string>(
  values: readonly (T | undefined)[],
): readonly (number | undefined)[] {
  const present = values.flatMap((value, index) => (value === undefined ? [] : [{ value, index }]));
  present.sort((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0));
  const ranks = new Array<number | undefined>(values.length).fill(undefined);
  let rank = 0;
  let previous: T | undefined;
  present.forEach(({ value, index }, place) => {
    if (value !== previous) rank = place + 1;
    previous = value;
    ranks[index] = rank;
  });
  return ranks;
}

/** Places of instants as shares of their number: newest 0, equal ones the same, all below 1. No instant, no place. */
export function newestFirstPlaces(
  times: readonly (Instant | undefined)[],
): readonly (number | undefined)[] {
  const count = times.filter((time) => time !== undefined).length;
  return competitionRanks(times).map((rank) =>
    rank === undefined ? undefined : (rank - 1) / count,
  );
}

/**
 * A value as its share of the largest, at most 1; 0 if the largest is 0.
 * @param counted the values that determine the largest
 */
export function shareOfLargest(counted: readonly number[]): (value: number) => number {
  const largest = counted.reduce((max, value) => Math.max(max, value), 0);
  return (value) => (largest === 0 ? 0 : Math.min(1, value / largest));
}

/** Values rescaled linearly to 0 to 1 by the smallest and the largest; all 1 if these are equal. */
export function rescaleToUnit(
  values: readonly (number | undefined)[],
): readonly (number | undefined)[] {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === undefined) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  const range = max - min;
  return values.map((value) => {
    if (value === undefined) return undefined;
    return range === 0 ? 1 : (value - min) / range;
  });
}

/** The latest instant; undefined for none. */
export function newestOf(times: readonly Instant[]): Instant | undefined {
  let newest: Instant | undefined;
  for (const time of times) if (newest === undefined || time > newest) newest = time;
  return newest;
}

/** Factor on recency if a text speaks of a change and the question asks for the newest state. */
export const UPDATE_GAIN = 2;

export type RecencyRule = {
  /** The moment that counts as the present. */
  readonly anchor: Instant;
  /** Per day. */
  readonly lambda: number;
};

/** How recent a time is, 0 to 1: exponential in days before the anchor, times `gain`. Later times count as the anchor. */
export function recency(time: Instant, { anchor, lambda }: RecencyRule, gain: number): number {
  const days = Math.max(0, daysBetween(time, anchor));
  return Math.min(1, Math.exp(-lambda * days) * gain);
}

/** A span of time, both ends included; an absent end is open. */
export type TimeWindow = {
  readonly timeFrom: Instant | undefined;
  readonly timeTo: Instant | undefined;
};

const WINDOW_LAMBDA = 0.02;
const WORDING_SHARE = 0.3;

/**
 * How well a memory matches the time that a question names, 0 to 1: whether its text names a date, and how near its stated time
 * is.
 */
export function temporalAffinity(content: string, stated: Instant, window: TimeWindow): number {
  const wording = namesDate(content) ? 1 : 0;
  return WORDING_SHARE * wording + (1 - WORDING_SHARE) * proximity(wording, stated, window);
}

function proximity(wording: number, stated: Instant, { timeFrom, timeTo }: TimeWindow): number {
  if (timeFrom === undefined && timeTo === undefined) return wording / 2;
  const early = timeFrom !== undefined && stated < timeFrom ? daysBetween(stated, timeFrom) : 0;
  const late = timeTo !== undefined && stated > timeTo ? daysBetween(timeTo, stated) : 0;
  if (early === 0) return Math.exp(-WINDOW_LAMBDA * late);
  return Math.exp(-WINDOW_LAMBDA * (late === 0 ? early : Math.min(early, late)));
}
