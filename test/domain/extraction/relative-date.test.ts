import { beforeAll, expect, test } from "bun:test";
import { createChronoDateReader } from "../../../src/adapters/dates/chrono.ts";
import { resolveDate } from "../../../src/domain/extraction/plan/context.ts";
import { asInstant } from "../../../src/lib/instant.ts";

// A Wednesday.
const REFERENCE = asInstant("2023-05-10T14:30:05.000000Z");
const reader = createChronoDateReader({ languages: ["en"], warn: () => undefined });
beforeAll(() => reader.ready());

function resolved(expression: string): string | undefined {
  const read = (text: string, reference: typeof REFERENCE) => reader.read(text, reference, ["en"]);
  return resolveDate(expression, REFERENCE, read)?.slice(0, 19);
}

const SAME_TIME =
  `today 05-10, now 05-10, this week 05-10, this month 05-10, this year 05-10, yesterday 05-09, tomorrow 05-11,
  the day before yesterday 05-08, day before yesterday 05-08, day after tomorrow 05-12, the day after tomorrow 05-12, 2 days ago 05-08,
  two days ago 05-08, in 3 days 05-13, last week 05-03, next week 05-17, a week ago 05-03, two weeks ago 04-26, in two weeks 05-24,
  last month 04-10, next month 06-10, a month ago 04-10`
    .split(/,\s+/)
    .map((line): [string, string] => [line.slice(0, -6), `2023-${line.slice(-5)}T14:30:05`]);

test.each([
  ...SAME_TIME,
  ["last year", "2022-05-10T14:30:05"],
  ["next year", "2024-05-10T14:30:05"],
  ["10 years ago", "2013-05-10T14:30:05"],
  ["a decade ago", "2013-05-10T14:30:05"],
  ["an hour ago", "2023-05-10T13:30:05"],
  ["5 minutes ago", "2023-05-10T14:25:05"],
  ["2 years later", "2025-05-10T14:30:05"],
  ["tonight", "2023-05-10T22:00:00"],
  ["last night", "2023-05-09T14:30:05"],
  ["this morning", "2023-05-10T06:00:00"],
  ["yesterday evening", "2023-05-09T20:00:00"],
  ["Monday", "2023-05-08T00:00:00"],
  ["on Monday", "2023-05-08T00:00:00"],
  ["last Monday", "2023-05-08T00:00:00"],
  ["next Monday", "2023-05-15T00:00:00"],
  ["this Monday", "2023-05-15T00:00:00"],
  ["Wednesday", "2023-05-03T00:00:00"],
  ["last Wednesday", "2023-05-03T00:00:00"],
  ["Friday", "2023-05-05T00:00:00"],
  ["last Friday", "2023-05-05T00:00:00"],
  ["next Friday", "2023-05-12T00:00:00"],
  ["this Friday", "2023-05-12T00:00:00"],
  ["yesterday at 3pm", "2023-05-09T15:00:00"],
  ["3 pm yesterday", "2023-05-09T15:00:00"],
  ["3pm", "2023-05-09T15:00:00"],
  ["10:30", "2023-05-10T10:30:00"],
  ["noon", "2023-05-10T12:00:00"],
  ["midnight", "2023-05-10T00:00:00"],
  ["next Tuesday at 5pm", "2023-05-16T17:00:00"],
  ["Tuesday afternoon", "2023-05-09T15:00:00"],
  ["March", "2023-03-10T00:00:00"],
  ["in March", "2023-03-10T00:00:00"],
  ["June", "2022-06-10T00:00:00"],
  ["March 2024", "2024-03-10T00:00:00"],
  ["2024", "2024-05-10T00:00:00"],
  ["in 2024", "2024-05-10T00:00:00"],
  ["March 5", "2023-03-05T00:00:00"],
  ["on March 5th", "2023-03-05T00:00:00"],
  ["5 March", "2023-03-05T00:00:00"],
  ["December 25", "2022-12-25T00:00:00"],
  ["March 5th, 2022", "2022-03-05T00:00:00"],
  ["7 May 2023", "2023-05-07T00:00:00"],
  ["2023-04-01", "2023-04-01T00:00:00"],
  ["2023/04/01", "2023-04-01T00:00:00"],
  ["2023-04-01T10:00:00Z", "2023-04-01T10:00:00"],
  ["04/05/2023", "2023-04-05T00:00:00"],
  ["13/05/2023", "2023-05-13T00:00:00"],
])("%s is %s", (expression, expected) => {
  expect(resolved(expression)).toBe(expected);
});

test.each(
  `recently|currently|soon|earlier|later|right now|a few days ago|a couple of weeks ago|several years ago|a while ago|last weekend|
  this weekend|last March|next March|summer|since 2020|for two years|over the past year|in the past week|within the past month|every day|
  early 2023|mid May|end of March|Christmas|20230401|5|the 1980s|Q3 2022|ago|between Monday and Friday||gestern`
    .split("|")
    .map((expression) => [expression.trim()]),
)("%p names no single moment", (expression) => {
  expect(resolved(expression)).toBeUndefined();
});
