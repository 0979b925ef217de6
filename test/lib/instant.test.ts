import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addDays,
  asInstant,
  daysBetween,
  fromDate,
  fromEpochMicros,
  nextInstant,
  parseInstant,
  toEpochMillis,
} from "../../src/lib/instant.ts";
import { localDates } from "../../src/lib/local-dates.ts";

function parsed(text: string): string {
  const result = parseInstant(text);
  return typeof result === "string" ? result : result.instant;
}

/** Days since 1970-01-01 of a proleptic Gregorian date, by counting days year by year: no Date involved. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

const pad = (value: number, width: number): string => String(value).padStart(width, "0");

/** Date and time fields that exist, in the years 2 to 9998 so that no offset leaves the range. */
const fields = fc.record({
  year: fc.integer({ min: 2, max: 9998 }),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 28 }),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.integer({ min: 0, max: 59 }),
  second: fc.integer({ min: 0, max: 59 }),
  micros: fc.integer({ min: 0, max: 999_999 }),
  offsetMinutes: fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 }),
});

type Fields = typeof fields extends fc.Arbitrary<infer T> ? T : never;

function written(at: Fields): string {
  const offset = Math.abs(at.offsetMinutes);
  const sign = at.offsetMinutes < 0 ? "-" : "+";
  return (
    `${pad(at.year, 4)}-${pad(at.month, 2)}-${pad(at.day, 2)}T${pad(at.hour, 2)}:${pad(at.minute, 2)}:` +
    `${pad(at.second, 2)}.${pad(at.micros, 6)}${sign}${pad(Math.floor(offset / 60), 2)}:${pad(offset % 60, 2)}`
  );
}

/** Microseconds since the epoch by integer arithmetic. */
function microsOf(at: Fields): bigint {
  const days = BigInt(daysFromCivil(at.year, at.month, at.day));
  const minutes = days * 1440n + BigInt(at.hour * 60 + at.minute - at.offsetMinutes);
  return (minutes * 60n + BigInt(at.second)) * 1_000_000n + BigInt(at.micros);
}

function microsOfText(instant: string): bigint {
  const [year, month, day, hour, minute, second, micros] = instant.split(/[-T:.Z]/).map(Number);
  return microsOf({
    year: year!,
    month: month!,
    day: day!,
    hour: hour!,
    minute: minute!,
    second: second!,
    micros: micros!,
    offsetMinutes: 0,
  });
}

describe("parseInstant", () => {
  test.each(
    (
      [
        ["UTC", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000000Z"],
        ["lower-case letters", "2024-01-02t03:04:05z", "2024-01-02T03:04:05.000000Z"],
        ["a blank for T", "2024-01-02 03:04:05Z", "2024-01-02T03:04:05.000000Z"],
        ["no seconds", "2024-01-02T03:04Z", "2024-01-02T03:04:00.000000Z"],
        ["blanks around", "  2024-01-02T03:04:05Z\n", "2024-01-02T03:04:05.000000Z"],
        ["one digit of a second", "2024-01-02T03:04:05.7Z", "2024-01-02T03:04:05.700000Z"],
        ["a decimal comma", "2024-01-02T03:04:05,25Z", "2024-01-02T03:04:05.250000Z"],
        [
          "nanoseconds, which are cut",
          "2024-01-02T03:04:05.123456789Z",
          "2024-01-02T03:04:05.123456Z",
        ],
        ["an offset east", "2024-01-01T00:30:00+05:30", "2023-12-31T19:00:00.000000Z"],
        ["an offset west", "2023-12-31T22:00:00-03:00", "2024-01-01T01:00:00.000000Z"],
        ["an offset without a colon", "2024-01-01T00:00:00+0130", "2023-12-31T22:30:00.000000Z"],
        ["an offset in hours", "2024-01-01T00:00:00-08", "2024-01-01T08:00:00.000000Z"],
        ["the first year", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
        ["the last year", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
        ["a year below 100", "0099-06-15T12:00:00Z", "0099-06-15T12:00:00.000000Z"],
      ] as const
    ).map(([name, text, instant]) => ({ name, text, instant })),
  )("reads $name", ({ text, instant }) => {
    expect(parsed(text)).toBe(instant);
  });

  test.each(["2024-01-02T03:04:05", "2024-01-02 03:04", "2024-01-02", "2024-01-02T03:04:05.123"])(
    "calls %s naive",
    (text) => {
      expect(parsed(text)).toBe("naive");
    },
  );

  test.each([
    "",
    "yesterday",
    "1704067200",
    "2024-13-01T00:00:00Z",
    "2024-00-10T00:00:00Z",
    "2024-02-30T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "2023-02-29",
    "2024-01-02T24:00:00Z",
    "2024-01-02T23:60:00Z",
    "2024-06-30T23:59:60Z",
    "2024-01-02T03:04:05+24:00",
    "2024-01-02T03:04:05+05:60",
    "2024-01-02T03:04:05.1234567890Z",
    "2024-1-2T03:04:05Z",
    "+2024-01-02T03:04:05Z",
    "12024-01-02T03:04:05Z",
    "2024-01-02T03:04:05ZZ",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "0000-01-01T00:00:00Z",
    "２０２４-01-02T03:04:05Z",
  ])("calls %j malformed", (text) => {
    expect(parsed(text)).toBe("malformed");
  });

  test("agrees with integer arithmetic on the moment that an offset means", () => {
    fc.assert(
      fc.property(fields, (at) => {
        expect(microsOfText(parsed(written(at)))).toBe(microsOf(at));
      }),
    );
  });

  test("leaves its own output unchanged", () => {
    fc.assert(
      fc.property(fields, (at) => {
        const once = parsed(written(at));
        expect(parsed(once)).toBe(once);
        expect(once).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      }),
    );
  });

  test("gives texts whose order is the order of time", () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const [left, right] = [parsed(written(a)), parsed(written(b))];
        const byText = left < right ? -1 : left > right ? 1 : 0;
        const byTime = microsOf(a) < microsOf(b) ? -1 : microsOf(a) > microsOf(b) ? 1 : 0;
        expect(byText).toBe(byTime);
      }),
    );
  });

  test("never throws on any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(["string", "object"]).toContain(typeof parseInstant(text));
      }),
    );
  });
});

describe("instants from numbers", () => {
  const wholeMicros = fc.integer({ min: -62_135_596_800_000, max: 8_000_000_000_000_000 });

  test("fromEpochMicros keeps every microsecond", () => {
    expect(fromEpochMicros(0)).toBe("1970-01-01T00:00:00.000000Z" as never);
    expect(fromEpochMicros(-1)).toBe("1969-12-31T23:59:59.999999Z" as never);
    expect(fromEpochMicros(1_700_000_000_123_456)).toBe("2023-11-14T22:13:20.123456Z" as never);
    fc.assert(
      fc.property(wholeMicros, (micros) => {
        expect(microsOfText(fromEpochMicros(micros))).toBe(BigInt(micros));
      }),
    );
  });

  test("fromDate and toEpochMillis are inverse for whole milliseconds", () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date("0001-01-01T00:00:00Z"),
          max: new Date("9999-12-31T23:59:59.999Z"),
          noInvalidDate: true,
        }),
        (date) => {
          expect(toEpochMillis(fromDate(date))).toBe(date.getTime());
        },
      ),
    );
  });

  test("toEpochMillis keeps the microseconds as a fraction", () => {
    expect(toEpochMillis(fromEpochMicros(1_500_250))).toBe(1500.25);
  });

  test("daysBetween counts days of 86,400 seconds with sign", () => {
    const start = fromDate(new Date("2024-02-28T12:00:00Z"));
    expect(daysBetween(start, fromDate(new Date("2024-03-01T12:00:00Z")))).toBe(2);
    expect(daysBetween(start, fromDate(new Date("2024-02-28T00:00:00Z")))).toBe(-0.5);
    expect(daysBetween(start, start)).toBe(0);
  });
});

describe("addDays", () => {
  test.each([
    ["2024-02-28T23:59:59.000001Z", 1, "2024-02-29T23:59:59.000001Z"],
    ["2026-12-31T00:00:00.999999Z", 1, "2027-01-01T00:00:00.999999Z"],
    ["2026-01-01T00:00:00.5Z", 0, "2026-01-01T00:00:00.500000Z"],
    ["2024-03-01T00:00:00.000001Z", -1, "2024-02-29T00:00:00.000001Z"],
    ["9999-12-30T12:00:00Z", 1, "9999-12-31T12:00:00.000000Z"],
  ])("of %s and %d is %s", (start, days, end) => {
    expect(addDays(parsed(start) as never, days)).toBe(end as never);
  });

  test("has no instant outside of the years 1 to 9999", () => {
    expect(addDays(parsed("0001-01-01T12:00:00Z") as never, -1)).toBeUndefined();
    expect(addDays(parsed("9999-12-31T12:00:00Z") as never, 1)).toBeUndefined();
    expect(addDays(parsed("2026-01-01T00:00:00Z") as never, 1e9)).toBeUndefined();
  });
});

describe("the instant after another one", () => {
  test.each([
    ["2026-03-18T12:00:00.000000Z", "2026-03-18T12:00:00.000001Z"],
    ["2026-03-18T12:00:00.000999Z", "2026-03-18T12:00:00.001000Z"],
    ["2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00.000000Z"],
    ["0001-01-01T00:00:00.000000Z", "0001-01-01T00:00:00.000001Z"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
  ])("of %s is %s", (instant, next) => {
    expect(nextInstant(asInstant(instant))).toBe(asInstant(next));
  });
});

test.each([
  { zone: "America/New_York", quarter: "0001-01-01T00:00", date: "0001-01-01" },
  { zone: "America/New_York", quarter: "0001-01-02T00:00", date: "0001-01-01" },
  { zone: "Pacific/Apia", quarter: "9999-12-31T23:45", date: "9999-12-31" },
  { zone: "Pacific/Apia", quarter: "9999-12-30T23:45", date: "9999-12-31" },
  { zone: "America/New_York", quarter: "2026-01-01T03:15", date: "2025-12-31" },
  { zone: "Pacific/Apia", quarter: "2025-12-31T23:45", date: "2026-01-01" },
])(
  "in $zone the date of $quarter is $date: no year before 1 or after 9999",
  ({ zone, quarter, date }) => {
    expect(localDates(zone)(quarter)).toBe(date);
  },
);
