import kleur from "kleur";
import { forTerminal, print, printAndWait, printError } from "../../lib/standard-output.ts";
import { snakeCase } from "../../lib/text.ts";

/** The output formats of a command. */
export const FORMATS = ["table", "json"] as const;
export type Format = (typeof FORMATS)[number];

/** Where a command writes. Results go to stdout, everything else to stderr. */
export type Output = {
  line(text?: string): void;
  /** The result as JSON, indented by 2. */
  json(value: unknown): void;
  /** A message for the person at the terminal. */
  note(text: string): void;
  /** Shows a spinner for long work, on a terminal only. Call the result to end it. */
  progress(text: string): Promise<() => void>;
  /** Shows the progress of long work, on a terminal only. */
  progressBar(label: string): Promise<ProgressBar>;
  /** Text of a result that comes in pieces. Resolves when it accepts more. */
  piece(text: string): Promise<void>;
};

export type ProgressBar = {
  show(done: number, total: number, label?: string): void;
  stop(): void;
};

/** The output of this process. Results throw `Unwritten` if the reader has gone or writing fails. */
export function processOutput(): Output {
  return {
    line: (text = "") => print(`${text}\n`),
    json: (value) => print(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => printError(`${text}\n`),
    progress: async (text) => {
      if (!canAnimate()) return () => {};
      const { default: ora } = await import("ora");
      const spinner = ora({
        text: forTerminal(text),
        stream: process.stderr,
        discardStdin: false,
      }).start();
      return () => void spinner.stop();
    },
    progressBar,
    piece: printAndWait,
  };
}

/** Whether a line can be redrawn. A terminal of 0 columns would wrap it endlessly. */
function canAnimate(): boolean {
  return process.stderr.isTTY === true && process.stderr.columns > 0;
}

/** Cells of a progress bar. */
const BAR_WIDTH = 24;

async function progressBar(label: string): Promise<ProgressBar> {
  if (!canAnimate()) return { show: () => {}, stop: () => {} };
  const { default: ora } = await import("ora");
  const spinner = ora({
    text: forTerminal(label),
    stream: process.stderr,
    discardStdin: false,
  }).start();
  return {
    show: (done, total, shown = label) => {
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const bar = "#".repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, "-");
      spinner.text = `${forTerminal(shown)} [${bar}] ${Math.floor(share * 100)}% (${done}/${total})`;
    },
    stop: () => void spinner.stop(),
  };
}

/** Columns of a screen that does not report its width. */
const SCREEN = 80;

/** Rows under headings, columns aligned; `(no results)` if none. @param isFitting cuts the first column so that a row fits the screen */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  isFitting = false,
): readonly string[] {
  if (rows.length === 0) return ["(no results)"];
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => Bun.stringWidth(row[column] ?? ""))),
  );
  if (isFitting) {
    const others = widths.slice(1).reduce((sum, width) => sum + width + 2, 0);
    const room = Math.max(MIN_TEXT, (process.stdout.columns || SCREEN) - others);
    widths[0] = Math.min(widths[0] ?? 0, room);
  }
  const align = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        const shown = isFitting && column === 0 ? fitted(cell, width) : cell;
        return shown + " ".repeat(Math.max(0, width - Bun.stringWidth(shown)));
      })
      .join("  ")
      .trimEnd();
  return [kleur.bold(align(headings)), ...rows.map(align)];
}

/** Columns that a text gets on the narrowest screen. */
const MIN_TEXT = 20;

/** The beginning of a text that occupies at most this many columns. */
function fitted(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let shown = "";
  for (const character of text) {
    if (Bun.stringWidth(shown + character) >= width) break;
    shown += character;
  }
  return `${shown.trimEnd()}…`;
}

/** Shortens ids to their last digits, as many as keep them distinct: the first ones are the time, which neighbours share. */
export function shortIds(ids: Iterable<string>, least = 6): (id: string) => string {
  const bare = [...new Set(ids)].map((id) => id.replaceAll("-", ""));
  let digits = least;
  while (new Set(bare.map((id) => id.slice(-digits))).size < bare.length) digits += 1;
  return (id) => id.replaceAll("-", "").slice(-digits);
}

/** An answer as lines: values with their names, then a table for each list of objects. */
export function answerLines(answer: object): readonly string[] {
  const members = Object.entries(answer).filter(([, value]) => value !== null);
  const isTable = ([, value]: (typeof members)[number]): boolean =>
    Array.isArray(value) && value.some((one) => typeof one === "object");
  const plain = members.filter((one) => !isTable(one));
  return [
    ...(plain.length === 0 ? [] : fields(plain.map(([key, value]) => [label(key), word(value)]))),
    ...members.filter(isTable).flatMap(([key, value]) => ["", label(key), ...objectTable(value)]),
  ];
}

/** Objects as rows under the names of their members. */
function objectTable(objects: readonly object[]): readonly string[] {
  const keys = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  return table(
    keys.map((key) => key.replaceAll("_", " ").toUpperCase()),
    objects.map((one) => keys.map((key) => word(Reflect.get(one, key)))),
  );
}

function label(key: string): string {
  if (key === "path" || key === "db_path") return "Pack";
  const words = key.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

const MAX_VALUE = 500;

function word(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(word).join(", ");
  if (typeof value !== "object") return shortened(String(value), MAX_VALUE);
  const members = Object.entries(value);
  return members.length === 0
    ? "none"
    : members.map(([key, own]) => `${key} ${word(own)}`).join(", ");
}

/** The line below a table with its number of rows; none below an empty one. */
export function countLine(count: number, one: string, many: string): readonly string[] {
  return count === 0 ? [] : ["", `${count} ${count === 1 ? one : many}`];
}

/** `label  value` lines, labels aligned. */
export function fields(entries: readonly (readonly [string, string | number])[]): string[] {
  const width = Math.max(...entries.map(([label]) => label.length));
  return entries.map(([label, value]) => `${kleur.dim(label.padEnd(width))}  ${value}`);
}

/** Text from a memory or a caller as one line that cannot steer a terminal. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(STEERING, "\ufffd").trim();
}

/**
 * Control characters, lone surrogates and characters that change the text direction. Joiners stay: emoji and scripts need them.
 */
const STEERING = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A name or a message on one line, with terminal control characters escaped, so that it stays distinguishable. */
export function escaped(text: string): string {
  return text.replace(ESCAPED, (unit) =>
    unit === "\n" ? "\\n" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A message of several lines. */
export function escapedLines(text: string): string {
  return text.split("\n").map(escaped).join("\n");
}

/** As above, and line and paragraph separators. */
const ESCAPED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Multi-line text from a memory that cannot steer a terminal. */
export function allLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.replaceAll("\t", "  ").replace(STEERING, "\ufffd"))
    .join("\n");
}

/** Like `oneLine`, cut after `max` characters. */
export function shortened(text: string, max = 50): string {
  // The start of a long text suffices, whatever blanks it has.
  const points = [...oneLine(text.slice(0, max * 8))];
  const isCut = points.length > max || text.length > max * 8;
  return isCut ? `${points.slice(0, max).join("")}...` : points.join("");
}

/** Prints an answer in the requested form. */
export function printAnswer(output: Output, format: Format, answer: object): void {
  if (format === "json") output.json(answer);
  else for (const line of answerLines(answer)) output.line(line);
}

export function printResult(output: Output, format: Format, result: object): void {
  const members = Object.entries(result).map(([key, value]) => [snakeCase(key), value ?? null]);
  printAnswer(output, format, Object.fromEntries(members));
}
