import type { ReadDates } from "../../domain/extraction/relative-date.ts";
import type { DateReader } from "../../ports/date-reader.ts";

/** The language of relative dates; expressions of other languages are not read. */
const LANGUAGES = ["en"];

/** A reader of the relative dates in some texts. */
export async function readerOf(dates: DateReader, texts: readonly string[]): Promise<ReadDates> {
  for (const text of texts) await dates.ready(text, LANGUAGES);
  return (text, reference) => dates.read(text, reference, LANGUAGES);
}
