import { expect, test } from "bun:test";
import { localDates } from "../../src/lib/local-dates.ts";

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
