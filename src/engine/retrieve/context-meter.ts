import type { Tokenizer } from "../../ports/tokenizer.ts";
import type { SectionName } from "../results.ts";
import { type ReaderLine, readerHeader } from "./render.ts";

/**
 * Builds the context line by line and knows its exact token count at every step, without counting the whole text again.
 *
 * Every line ends in punctuation and none begins with a blank or a line break, so a token never reaches over the line
 * break that follows a line: the count of the whole is the sum over lines with their line break, except that the last
 * line has none. A property test holds this against counting the complete text.
 */
export class ContextMeter {
  readonly #tokenizer: Tokenizer;
  readonly #sections = new Map<SectionName, string[]>();
  /** Tokens of all section and record lines, each with its line break. */
  #sum = 0;
  #namesSpeakers = false;
  /** The last line of the last section. */
  #last = "";

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** Tokens of the context as it stands; 0 while it is empty. */
  get total(): number {
    return this.#sections.size === 0 ? 0 : this.#count(this.#sum, this.#last, this.#namesSpeakers);
  }

  /** Tokens of the context if this line were added. */
  totalWith(section: SectionName, line: ReaderLine): number {
    const lines = this.#sections.get(section);
    const heading = lines === undefined ? this.#broken(headingOf(section)) : 0;
    const isLast = lines === undefined || [...this.#sections.keys()].at(-1) === section;
    return this.#count(
      this.#sum + heading + this.#broken(line.text),
      isLast ? line.text : this.#last,
      this.#namesSpeakers || line.namesSpeaker,
    );
  }

  /** Appends a line to its section. */
  add(section: SectionName, line: ReaderLine): void {
    const lines = this.#sections.get(section);
    if (lines === undefined) {
      this.#sum += this.#broken(headingOf(section));
      this.#sections.set(section, [line.text]);
    } else lines.push(line.text);
    this.#sum += this.#broken(line.text);
    this.#namesSpeakers ||= line.namesSpeaker;
    if ([...this.#sections.keys()].at(-1) === section) this.#last = line.text;
  }

  /** The complete text; empty while nothing was added. No line break at its end. */
  render(): string {
    if (this.#sections.size === 0) return "";
    const lines = [readerHeader(this.#namesSpeakers)];
    for (const [section, records] of this.#sections) lines.push(headingOf(section), ...records);
    return lines.join("\n");
  }

  #count(sum: number, last: string, namesSpeakers: boolean): number {
    const lastBreak = this.#broken(last) - this.#tokenizer.count(last);
    return this.#broken(readerHeader(namesSpeakers)) + sum - lastBreak;
  }

  #broken(line: string): number {
    return this.#tokenizer.count(`${line}\n`);
  }
}

function headingOf(section: SectionName): string {
  return `[${section}]`;
}
