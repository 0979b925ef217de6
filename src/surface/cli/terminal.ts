import { INTERRUPTED } from "./signals.ts";

/** The keyboard and the screen of a person, as far as questions need them. */
export type Terminal = {
  readonly input: {
    setRawMode(isRaw: boolean): unknown;
    on(event: "data", listener: (chunk: string) => void): unknown;
    off(event: "data", listener: (chunk: string) => void): unknown;
    setEncoding(encoding: "utf8"): unknown;
    resume(): unknown;
    pause(): unknown;
  };
  readonly output: { write(text: string): unknown };
  /** Ends the program, as Ctrl-C does. */
  interrupt(): never;
  /** What was typed ahead of the next question. */
  ahead: string;
};

const ENTER = ["\r", "\n", "\u0004"];
const ERASE = ["\b", "\u007f"];
const INTERRUPT = "\u0003";

const PROCESS: Terminal = {
  input: process.stdin,
  output: process.stderr,
  interrupt: () => process.exit(INTERRUPTED),
  ahead: "",
};

/** Whether there is a person who can be asked: keyboard and screen are ours. */
export function isTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** A line that is not shown while it is typed. Ctrl-C ends the program. */
export async function askSecret(question: string, terminal = PROCESS): Promise<string> {
  return await ask(question, terminal, false);
}

/** Whether the person agrees; `otherwise` is what Enter alone means. */
export async function confirm(
  question: string,
  otherwise: boolean,
  terminal = PROCESS,
): Promise<boolean> {
  const answer = await ask(`${question} [${otherwise ? "Y/n" : "y/N"}] `, terminal, true);
  return answer.trim() === "" ? otherwise : /^y(es)?$/i.test(answer.trim());
}

async function ask(question: string, terminal: Terminal, isShown: boolean): Promise<string> {
  const { input, output } = terminal;
  // Before the question: whatever is typed once it is seen must not be shown by the terminal itself.
  input.setRawMode(true);
  output.write(question);
  input.setEncoding("utf8");
  input.resume();
  try {
    const line = await readLine(terminal);
    if (isShown) output.write(line);
    return line;
  } finally {
    input.setRawMode(false);
    input.pause();
    output.write("\n");
  }
}

async function readLine(terminal: Terminal): Promise<string> {
  const { input } = terminal;
  return await new Promise((resolve) => {
    let typed = terminal.ahead;
    const take = (): boolean => {
      if (typed.includes(INTERRUPT)) {
        input.setRawMode(false);
        terminal.output.write("\n");
        terminal.interrupt();
      }
      const end = [...typed].findIndex((character) => ENTER.includes(character));
      if (end === -1) return false;
      const characters = [...typed];
      terminal.ahead = characters.slice(end + 1).join("");
      resolve(withoutErased(characters.slice(0, end)));
      return true;
    };
    const onData = (chunk: string): void => {
      typed += chunk;
      if (take()) input.off("data", onData);
    };
    if (!take()) input.on("data", onData);
  });
}

function withoutErased(line: readonly string[]): string {
  const kept: string[] = [];
  for (const character of line) {
    if (ERASE.includes(character)) kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}
