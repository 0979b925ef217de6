/** The calendar units by which days are grouped. */
export const BUCKETS = ["day", "week", "month"] as const;
export type Bucket = (typeof BUCKETS)[number];

/** The first and the last day that an instant can have; a time zone may be a day further. */
const FIRST_DAY = "0001-01-01";
const LAST_DAY = "9999-12-31";

/**
 * The dates of a time zone, `YYYY-MM-DD`, for quarters of an hour in UTC (`2026-03-01T12:15`). No zone changes its date within one.
 * @throws RangeError for an unknown zone
 */
export function localDates(timeZone: string): (quarter: string) => string {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone,
    calendar: "iso8601",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  const dateOf = (minute: string) => {
    const date = format.format(Date.parse(`${minute}Z`)).padStart(10, "0");
    if (minute.startsWith(FIRST_DAY) && date.endsWith("-12-31")) return FIRST_DAY;
    if (minute.startsWith(LAST_DAY) && date.endsWith("-01-01")) return LAST_DAY;
    return date;
  };
  // Almost every hour has one date, so most quarters need no calendar.
  const hours = new Map<string, string | undefined>();
  return (quarter) => {
    const hour = quarter.slice(0, 13);
    if (!hours.has(hour)) {
      const first = dateOf(`${hour}:00`);
      hours.set(hour, first === dateOf(`${hour}:59`) ? first : undefined);
    }
    return hours.get(hour) ?? dateOf(quarter);
  };
}

/** The first day of the unit that contains a date; weeks begin on Monday. */
export function firstDay(date: string, bucket: Bucket): string {
  if (bucket === "day") return date;
  if (bucket === "month") return `${date.slice(0, 8)}01`;
  const day = new Date(Date.parse(`${date}T00:00Z`));
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  return day.toISOString().slice(0, 10);
}
