import type { Step } from "./steps.ts";

/** How a step ended. */
export type Outcome = {
  readonly ok: boolean;
  readonly seconds: number;
  /** Both streams of the command as one text, or the findings of an inspection. */
  readonly output: string;
  /** Undefined for an inspection, and for a command that was killed. */
  readonly exitCode: number | undefined;
};

/**
 * Runs one step to its end or to its time limit; never rejects.
 * @param onOutput receives the command's output as it appears.
 */
export async function runStep(
  step: Step,
  root: string,
  onOutput: (text: string) => void = () => {},
): Promise<Outcome> {
  const started = performance.now();
  const result = await attempt(step, root, onOutput);
  return { ...result, seconds: (performance.now() - started) / 1000 };
}

async function attempt(
  step: Step,
  root: string,
  onOutput: (text: string) => void,
): Promise<Omit<Outcome, "seconds">> {
  try {
    if ("command" in step) return await runCommand(step, step.command, root, onOutput);
    const findings = step.inspect();
    return { ok: findings.length === 0, output: findings.join("\n"), exitCode: undefined };
  } catch (error) {
    return { ok: false, output: String(error), exitCode: undefined };
  }
}

async function runCommand(
  step: Step,
  command: readonly string[],
  root: string,
  onOutput: (text: string) => void,
): Promise<Omit<Outcome, "seconds">> {
  const child = Bun.spawn([...command], {
    cwd: root,
    env: { ...environment(), ...step.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: step.limitMinutes * 60_000,
    killSignal: "SIGKILL",
  });
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      const text = decoder.decode(chunk, { stream: true });
      output += text;
      onOutput(text);
    }
  };
  const streams = Promise.all([collect(child.stdout), collect(child.stderr)]);
  await child.exited;
  // A grandchild that outlives the command may hold the pipes open; its output is not waited for.
  await Promise.race([streams, Bun.sleep(2_000)]);
  if (child.signalCode !== null) {
    const reason = `${step.name}: ended by ${child.signalCode} (the limit is ${step.limitMinutes} minutes)`;
    return { ok: false, output: `${output}\n${reason}`, exitCode: undefined };
  }
  return { ok: child.exitCode === 0, output, exitCode: child.exitCode ?? undefined };
}

/** The environment of every step: no colours, no prompts, and the full report of `bun test`. */
function environment(): Record<string, string | undefined> {
  // Bun prints failures only, and no summary, when it believes that a program reads along.
  const { AGENT: _agent, CLAUDECODE: _claude, FORCE_COLOR: _colour, ...rest } = process.env;
  return { ...rest, CI: "true", NO_COLOR: "1" };
}
