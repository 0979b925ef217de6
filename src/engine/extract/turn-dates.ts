import type { ReadDates } from "../../domain/extraction/relative-date.ts";
import type { DateReader } from "../../ports/date-reader.ts";

/** The language of relative dates; expressions of other languages are not read. */
const LANGUAGES = ["en"];

/** A reader of relative dates. */
export async function readerOf(dates: DateReader): Promise<ReadDates> {
  await dates.ready(LANGUAGES);
  return (text, reference) => dates.read(text, reference, LANGUAGES);
}
