import type { Subprocess } from "bun";
import type { Send } from "./protocol.ts";

const MAX_COMPLAINT = 4096;

/** A started program: its output, and how it ends. */
export type Tool = {
  readonly output: ReadableStream<Uint8Array>;
  /** Its exit code, and the end of its error output. */
  ended(): Promise<{ readonly exitCode: number; readonly complaint: string }>;
  kill(): void;
};

let running: Subprocess | undefined;

export function killTool(): void {
  running?.kill("SIGKILL");
}

/**
 * Starts a program, without a shell. Its environment is that of this process, without variables of ffmpeg, which could make it write files.
 * @param input its input; empty if absent
 */
export async function startTool(
  command: readonly string[],
  send: Send,
  input?: Uint8Array,
): Promise<Tool> {
  const child = Bun.spawn([...command], {
    cwd: "/",
    stdin: input === undefined ? "ignore" : input,
    stdout: "pipe",
    stderr: "pipe",
  });
  running = child;
  await send({ kind: "tool", pid: child.pid });
  const complaint = endOf(child.stderr);
  return {
    output: child.stdout,
    ended: async () => {
      const exitCode = await child.exited;
      running = undefined;
      await send({ kind: "tool", pid: undefined });
      return { exitCode, complaint: await complaint };
    },
    kill: () => child.kill("SIGKILL"),
  };
}

async function endOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stream) {
    text = (text + decoder.decode(piece, { stream: true })).slice(-MAX_COMPLAINT);
  }
  return text.trim().replace(/[^ -~\n]/g, "?");
}
