import { forTerminal } from "../../lib/standard-output.ts";
import { INTERRUPTED } from "./signals.ts";

/** A person's keyboard and screen, as needed for prompts. */
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
  /** Input typed ahead of the next question. */
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

/** Whether there is a person to ask: keyboard and screen are a terminal. */
export function isTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** A line that is not echoed while it is typed. Ctrl-C ends the program. */
export async function askSecret(question: string, terminal = PROCESS): Promise<string> {
  return await ask(question, terminal, false);
}

/** A line that is echoed while it is typed. Ctrl-C ends the program. */
export async function askLine(question: string, terminal = PROCESS): Promise<string> {
  return await ask(question, terminal, true);
}

/** Whether the person agrees; `otherwise` is the meaning of just pressing Enter. */
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
  // Before the prompt: the terminal must not echo what is typed once the prompt is visible.
  input.setRawMode(true);
  output.write(forTerminal(question));
  input.setEncoding("utf8");
  input.resume();
  try {
    return await readLine(terminal, isShown ? echoOn(terminal) : () => {});
  } finally {
    input.setRawMode(false);
    input.pause();
    output.write("\n");
  }
}

/** Redraws a line as it is typed. */
function echoOn({ output }: Terminal): (line: readonly string[]) => void {
  let shown: readonly string[] = [];
  return (line) => {
    const differs = shown.findIndex((character, at) => character !== line[at]);
    const kept = differs === -1 ? shown.length : differs;
    const text = "\b \b".repeat(shown.length - kept) + line.slice(kept).join("");
    shown = line;
    if (text !== "") output.write(text);
  };
}

async function readLine(
  terminal: Terminal,
  echo: (line: readonly string[]) => void,
): Promise<string> {
  const { input } = terminal;
  return await new Promise((resolve) => {
    let typed = terminal.ahead;
    const take = (): boolean => {
      if (typed.includes(INTERRUPT)) {
        input.setRawMode(false);
        terminal.output.write("\n");
        terminal.interrupt();
      }
      const characters = [...typed];
      const end = characters.findIndex((character) => ENTER.includes(character));
      const line = withoutErased(end === -1 ? characters : characters.slice(0, end));
      echo(line);
      if (end === -1) return false;
      terminal.ahead = characters.slice(end + 1).join("");
      resolve(line.join(""));
      return true;
    };
    const onData = (chunk: string): void => {
      typed += chunk;
      if (take()) input.off("data", onData);
    };
    if (!take()) input.on("data", onData);
  });
}

function withoutErased(line: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const character of line) {
    if (ERASE.includes(character)) kept.pop();
    else kept.push(character);
  }
  return kept;
}
