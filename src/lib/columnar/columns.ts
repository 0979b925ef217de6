import { asInstant, fromEpochMicros, type Instant, toEpochMillis } from "../instant.ts";
import { asUuid, type Uuid } from "../uuid.ts";
import type { BitReader, BitWriter } from "./bits.ts";
import { at, type Column, counts, doubles, filled, flags, placeWidth } from "./numbers.ts";

/** Values of which some are missing. */
export function optional<T>(column: Column<T>): Column<T | undefined> {
  return {
    write: (out, values) => {
      const present = values.filter((value): value is T & {} => value !== undefined);
      flags.write(
        out,
        values.map((value) => value !== undefined),
      );
      column.write(out, present);
    },
    read: (from, count) => {
      const isPresent = flags.read(from, count);
      const present = column.read(from, isPresent.filter(Boolean).length);
      let next = 0;
      return isPresent.map((is) => {
        if (!is) return undefined;
        next += 1;
        return at(present, next - 1);
      });
    },
  };
}

/** Members of a closed set; its order is part of the format. */
export function choices<T extends string>(members: readonly T[]): Column<T> {
  return {
    write: (out, values) =>
      counts.write(
        out,
        values.map((value) => placeOf(members, value)),
      ),
    read: (from, count) => counts.read(from, count).map((place) => at(members, place)),
  };
}

function placeOf<T>(members: readonly T[], value: T): number {
  const place = members.indexOf(value);
  if (place < 0) throw new RangeError(`${String(value)} is not a member of the set`);
  return place;
}

/** Texts with many repeats. */
export const texts: Column<string> = {
  write: (out, values) => {
    const distinct = [...new Set(values)];
    out.count(distinct.length, 2);
    for (const value of distinct) out.text(value);
    const places = new Map(distinct.map((value, place) => [value, place]));
    for (const value of values) out.bits(places.get(value) ?? 0, placeWidth(distinct.length));
  },
  read: (from, count) => {
    const distinct = Array.from({ length: from.count(2) }, () => from.text());
    return Array.from({ length: count }, () =>
      at(distinct, from.bits(placeWidth(distinct.length))),
    );
  },
};

/** Doubles that follow from something the reader already knows: only exceptions are written. */
export function writeGuessed(
  out: BitWriter,
  values: readonly number[],
  guesses: readonly number[],
): void {
  const isAsGuessed = values.map((value, index) => value === guesses[index]);
  flags.write(out, isAsGuessed);
  doubles.write(
    out,
    values.filter((_, index) => isAsGuessed[index] === false),
  );
}

export function readGuessed(from: BitReader, guesses: readonly number[]): number[] {
  const isAsGuessed = flags.read(from, guesses.length);
  const others = doubles.read(from, isAsGuessed.filter((is) => !is).length);
  let next = 0;
  return guesses.map((guess, index) => {
    if (isAsGuessed[index] === true) return guess;
    next += 1;
    return at(others, next - 1);
  });
}

/** Texts of this number of hex digits. */
export function hexTexts(digits: number): Column<string> {
  return {
    write: (out, values) => out.bytes(Uint8Array.fromHex(values.join(""))),
    read: (from, count) => {
      const hex = from.bytes((count * digits) / 2).toHex();
      return Array.from({ length: count }, (_, index) =>
        hex.slice(index * digits, (index + 1) * digits),
      );
    },
  };
}

/** An instant, in as few bits as its microseconds since 1970 take; other instants as text. */
export function writeInstant(out: BitWriter, instant: Instant): void {
  const micros = toMicros(instant);
  out.flag(micros !== undefined);
  if (micros === undefined) out.text(instant);
  else out.bits(micros, 53);
}

export function readInstant(from: BitReader): Instant {
  return from.flag() ? fromEpochMicros(from.bits(53)) : asInstant(from.text());
}

function toMicros(instant: Instant): number | undefined {
  const micros = Math.round(toEpochMillis(instant) * 1000);
  const isExact =
    Number.isSafeInteger(micros) && micros >= 0 && fromEpochMicros(micros) === instant;
  return isExact ? micros : undefined;
}

const UUID_BYTES = 16;
/** The first byte of a UUIDv7 that is random from its first bit. */
const RANDOM_FROM = 9;
const V7 = /^.{14}7.{4}[89ab]/;
const uuidHex = hexTexts(2 * UUID_BYTES);

/** Distinct UUIDs in ascending order. UUIDv7 are written without their version bits, and with the differences of their times. */
export const ascendingIds: Column<Uuid> = {
  write: (out, ids) => {
    const isV7 = ids.every((id) => V7.test(id));
    out.flag(isV7);
    const hex = ids.join("").replaceAll("-", "");
    if (isV7) writeV7(out, Uint8Array.fromHex(hex), ids.length);
    else out.bytes(Uint8Array.fromHex(hex));
  },
  read: (from, count) =>
    from.flag() ? readV7(from, count) : uuidHex.read(from, count).map(toUuid),
};

function writeV7(out: BitWriter, bytes: Uint8Array, count: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const times = Array.from(
    { length: count },
    (_, index) =>
      view.getUint32(index * UUID_BYTES) * 2 ** 16 + view.getUint16(index * UUID_BYTES + 4),
  );
  out.bits(times[0] ?? 0, 48);
  counts.write(
    out,
    times.slice(1).map((time, index) => time - at(times, index)),
  );
  for (let start = 0; start < bytes.length; start += UUID_BYTES) {
    out.bits(view.getUint16(start + 6), 12);
    out.bits(view.getUint8(start + 8), 6);
    out.bytes(bytes.subarray(start + RANDOM_FROM, start + UUID_BYTES));
  }
}

function readV7(from: BitReader, count: number): Uuid[] {
  let time = from.bits(48);
  const later = counts.read(from, Math.max(0, count - 1));
  const times = [time, ...later.map((distance) => (time += distance))].slice(0, count);
  return times.map((one) => {
    const version = 0x7000 + from.bits(12);
    const variant = 0x80 + from.bits(6);
    const random = from.bytes(UUID_BYTES - RANDOM_FROM).toHex();
    return toUuid(hex(one, 12) + hex(version, 4) + hex(variant, 2) + random);
  });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** A UUID of its 32 hex digits. */
export function toUuid(digits: string): Uuid {
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ];
  return asUuid(parts.join("-"));
}

/** Places of things in a list that the reader has. */
export function writePlaces(out: BitWriter, places: readonly number[], size: number): void {
  for (const place of places) out.bits(place, placeWidth(size));
}

export function readPlaces(from: BitReader, count: number, size: number): number[] {
  return placeWidth(size) === 0
    ? filled(count, 0)
    : Array.from({ length: count }, () => from.bits(placeWidth(size)));
}

/** Bit masks of subsets of a closed set, in its order. */
export function subsets<T extends string>(members: readonly T[]): Column<readonly T[]> {
  return {
    write: (out, values) => {
      // Few different subsets occur, each often.
      const places = new Map<string, number>();
      const distinct: number[] = [];
      const chosenPlaces = values.map((chosen) => {
        const name = chosen.join();
        const known = places.get(name);
        if (known !== undefined) return known;
        places.set(name, distinct.length);
        return distinct.push(maskOf(members, chosen)) - 1;
      });
      out.count(distinct.length, 2);
      counts.write(out, distinct);
      writePlaces(out, chosenPlaces, distinct.length);
    },
    read: (from, count) => {
      const size = from.count(2);
      const distinct = counts.read(from, size);
      return readPlaces(from, count, size).map((place) => {
        const mask = at(distinct, place);
        return members.filter((_, bit) => Math.floor(mask / 2 ** bit) % 2 === 1);
      });
    },
  };
}

function maskOf<T>(members: readonly T[], chosen: readonly T[]): number {
  return members.reduce((mask, member, bit) => mask + (chosen.includes(member) ? 2 ** bit : 0), 0);
}
