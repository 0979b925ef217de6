import type { z } from "zod";
import { SvcError } from "../../../domain/errors.ts";
import { parseJson } from "../../../lib/json.ts";

/** A line of a file to import, without its line feed. */
export type ImportLine = { readonly number: number; readonly bytes: Uint8Array };

/** No export has a longer line: the longest text that a pack accepts is far shorter. */
const LINE_MAX_BYTES = 256 * 1024 * 1024;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const CLOSING_BRACE = 125;
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/**
 * Splits a stream of bytes into lines, tolerating changes by editors and git: a byte order mark, carriage returns before line feeds, a
 * missing last line feed, and empty lines at the end. Holds one line at a time.
 * @throws SvcError not_an_export if the last line is incomplete or a line is too long
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<ImportLine> {
  let number = 1;
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  const empty: ImportLine[] = [];
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      const piece = chunk.subarray(from, end);
      const bytes = restored(begun.length === 0 ? piece : Buffer.concat([...begun, piece]), number);
      // The next line shows whether they are in the middle.
      if (bytes.length === 0) empty.push({ number, bytes });
      else {
        yield* empty.splice(0);
        yield { number, bytes };
      }
      number += 1;
      begun = [];
      begunBytes = 0;
      from = end + 1;
    }
    if (from === chunk.length) continue;
    // A copy: the reader of the stream may reuse its buffer.
    begun.push(chunk.slice(from));
    begunBytes += chunk.length - from;
    if (begunBytes > LINE_MAX_BYTES) throw notAnExport(name, number, "the line is too long");
  }
  const last = restored(Buffer.concat(begun), number);
  if (last.length === 0) return;
  yield* empty;
  if (last.at(-1) !== CLOSING_BRACE) {
    throw notAnExport(name, number, "the file ends in the middle of this line");
  }
  yield { number, bytes: last };
}

/** A line as it was written. */
function restored(line: Uint8Array, number: number): Uint8Array {
  const isMarked = number === 1 && BYTE_ORDER_MARK.equals(line.subarray(0, 3));
  const end = line.at(-1) === CARRIAGE_RETURN ? -1 : undefined;
  return line.subarray(isMarked ? BYTE_ORDER_MARK.length : 0, end);
}

const INEXACT = "it has a number with more digits than a number of JSON keeps";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The JSON object of a line. @throws SvcError not_an_export */
export function parseLine(line: ImportLine, name: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(utf8.decode(line.bytes), (source) => {
      throw notAnExport(name, line.number, `${INEXACT}: ${source.slice(0, 40)}`);
    });
  } catch (error) {
    if (error instanceof SvcError) throw error;
    // The parser's own message may quote the line.
    throw notAnExport(name, line.number, "it is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw notAnExport(name, line.number, "it is not a JSON object");
  }
  // SAFETY: a JSON object has text keys; nothing is claimed about its values.
  return value as Record<string, unknown>;
}

/** Checks a line against its schema. @throws SvcError not_an_export naming the member, never its value */
export function checkLine<T>(
  schema: z.ZodType<T>,
  value: unknown,
  line: ImportLine,
  name: string,
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const member = issue?.path.join(".") ?? "";
  const reason = issue?.message ?? "is not as it has to be";
  throw notAnExport(name, line.number, member === "" ? reason : `${member}: ${reason}`);
}

/** The error about a file that cannot be imported. @param line counted from 1 */
export function notAnExport(name: string, line: number, reason: string): SvcError {
  return new SvcError(
    "not_an_export",
    `${name}, line ${line}: ${reason}. Nothing was imported; export the pack again with: svc export`,
    { path: name, line },
  );
}
