import kleur from "kleur";
import { forTerminal, print, printAndWait, printError } from "../../lib/standard-output.ts";

/** The forms in which a command prints its result. */
export const FORMATS = ["table", "json"] as const;
export type Format = (typeof FORMATS)[number];

/** Where a command writes. Results go to stdout, everything else to stderr. */
export type Output = {
  /** A line of the result. */
  line(text?: string): void;
  /** The result as JSON, indented by 2. */
  json(value: unknown): void;
  /** A message for the person at the terminal. */
  note(text: string): void;
  /** Shows that something takes long, on a terminal only. Call the result to end it. */
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

/** The output of this process. Results throw `Unwritten` where nobody reads on, or nothing can be written. */
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

/** Whether a line can be redrawn. A terminal of 0 columns would break it into endlessly many. */
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

/** Rows under their headings, columns aligned; `(no results)` when there are none. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return ["(no results)"];
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const align = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [kleur.bold(align(headings)), ...rows.map(align)];
}

/** The line below a table that says how many rows it has; none below an empty one. */
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

/** A name or a message on one line, with what could steer a terminal as escapes, so that it can be told from every other one. */
export function escaped(text: string): string {
  return text.replace(ESCAPED, (unit) =>
    unit === "\n" ? "\\n" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A message of several lines. */
export function escapedLines(text: string): string {
  return text.split("\n").map(escaped).join("\n");
}

/** As above, and the separators of lines and paragraphs. */
const ESCAPED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Text from a memory with its lines, which cannot steer a terminal either. */
export function allLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.replaceAll("\t", "  ").replace(STEERING, "\ufffd"))
    .join("\n");
}

/** Like `oneLine`, cut after `max` characters. */
export function shortened(text: string, max = 50): string {
  // The start of a long text is enough, whatever blanks it has.
  const points = [...oneLine(text.slice(0, max * 8))];
  const isCut = points.length > max || text.length > max * 8;
  return isCut ? `${points.slice(0, max).join("")}...` : points.join("");
}

/** A member of a result: its name in JSON and its label in a table, which shows only those that have one. */
export type Member = readonly [
  name: string,
  value: string | number | boolean | null,
  label?: string,
];

/** Prints a result in the form that was asked for. */
export function printMembers(output: Output, format: Format, members: readonly Member[]): void {
  if (format === "json") {
    output.json(Object.fromEntries(members));
    return;
  }
  const shown = members.flatMap(([, value, label]) => {
    if (label === undefined) return [];
    const text = typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
    return [[label, text] as const];
  });
  for (const line of fields(shown)) output.line(line);
}
