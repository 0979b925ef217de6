import { describe, test } from "bun:test";
import { join } from "node:path";
import { PROGRAM } from "./run-svc.ts";

/** A run of the program in front of a person: what the screen showed, and how it ended. */
export type Session = { readonly code: number; readonly screen: string };

/** What the person waits for, and what they type then. */
export type Turn = readonly [question: string, answer: string];

/** Why there is no pseudo-terminal to be had here; undefined where there is one. */
const reason = ((): string | undefined => {
  try {
    new Bun.Terminal({}).close();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
})();

/** Describes what needs a pseudo-terminal. Where there is none, nothing of `body` runs, and one skipped test says why. */
export function describeOnTerminal(name: string, body: () => void): void {
  if (reason === undefined) describe(name, body);
  else test.skip(`${name} (${reason})`, () => {});
}

/** Runs the program on a pseudo-terminal; each answer is typed once its question is on the screen. */
export async function onTerminal(
  folder: string,
  args: readonly string[],
  turns: readonly Turn[],
  env: Readonly<Record<string, string>> = {},
  columns = 200,
): Promise<Session> {
  const decoder = new TextDecoder();
  const waiting = [...turns];
  const ended = Promise.withResolvers<void>();
  let screen = "";
  let seen = 0;
  const program = [...PROGRAM, ...args];
  // A new terminal takes 0 for its default, so that it is told afterwards.
  const narrow = ["sh", "-c", `stty cols ${columns} && exec "$0" "$@"`, ...program];
  const child = Bun.spawn(columns > 0 ? program : narrow, {
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? folder,
      XDG_CONFIG_HOME: join(folder, ".config"),
      SVC_KEY_STORE: "file",
      NO_COLOR: "1",
      ...env,
    },
    terminal: {
      cols: columns,
      rows: 50,
      data: (terminal, chunk) => {
        screen += decoder.decode(chunk, { stream: true });
        const [turn] = waiting;
        const at = turn === undefined ? -1 : screen.indexOf(turn[0], seen);
        if (turn === undefined || at < 0) return;
        seen = at + turn[0].length;
        waiting.shift();
        terminal.write(turn[1]);
      },
      exit: () => ended.resolve(),
    },
    timeout: 50_000,
  });
  const code = await child.exited;
  // What the child wrote last may still be on its way.
  await Promise.race([ended.promise, Bun.sleep(30_000)]);
  child.terminal?.close();
  return { code, screen };
}
