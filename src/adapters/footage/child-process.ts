import type { Subprocess } from "bun";
import { childPath } from "./child-path.ts";
import { memoryOf } from "./memory-of.ts";
import { type ChildAnswer, type ChildRequest, Refusal, type RefusalCode } from "./messages.ts";
import { type Packet, packetHead, readPackets } from "./packets.ts";

/** What a child may use. */
export type ChildBounds = {
  readonly limitMs: number;
  /** Of it and the program that it starts. */
  readonly memoryBytes: number;
};

/** Variables of the process. A subset of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type AskOptions = ChildBounds & {
  readonly environment: Environment;
  /** Of the refusal if the child fails, takes too long or too much memory. */
  readonly code: RefusalCode;
  readonly signal?: AbortSignal | undefined;
};

/** Milliseconds between two looks at the memory of a child. */
const LOOK_MS = 50;

/** Why nothing was read if a decoder crashed. */
const ENDED = "what decodes it crashed";

/** Variables that a child needs to find its temporary files and, on Windows, to start at all. */
const PASSED_ON = ["TMPDIR", "TEMP", "TMP", "SystemRoot"] as const;

/**
 * Has a child process read a file, and gives its answers as they come.
 * @throws Refusal; the reason of `signal`
 */
export async function* askChild(
  request: ChildRequest,
  body: Uint8Array | undefined,
  options: AskOptions,
): AsyncGenerator<Packet<ChildAnswer>> {
  const { code, signal } = options;
  signal?.throwIfAborted();
  const child = startChild(options.environment);
  const life = watch(child, options);
  try {
    // Its input stays open: the end of it would end the child.
    child.stdin.write(packetHead(request, body?.length ?? 0));
    if (body !== undefined) child.stdin.write(body);
    void Promise.resolve(child.stdin.flush()).catch(() => life.end(new Refusal(code, ENDED)));
    for await (const packet of readPackets<ChildAnswer>(child.stdout)) {
      const { message } = packet;
      if (message.kind === "done") return;
      if (message.kind === "failed") throw new Refusal(message.code, message.reason);
      if (message.kind === "tool") life.toolPid = message.pid;
      else yield packet;
    }
    throw new Refusal(code, ENDED);
  } catch (error) {
    throw (
      life.reason ?? (error instanceof Refusal ? error : new Refusal(code, ENDED, { cause: error }))
    );
  } finally {
    life.stop();
    await child.exited;
  }
}

type Life = {
  toolPid: number | undefined;
  /** Why it was ended. */
  readonly reason: unknown;
  end(reason: unknown): void;
  stop(): void;
};

/** Ends a child that takes too long or too much memory, or that nobody waits for. */
function watch(child: Subprocess, { limitMs, memoryBytes, code, signal }: AskOptions): Life {
  let ending: unknown;
  const kill = (): void => {
    // First what it started, which would not end with it before it writes again.
    if (life.toolPid !== undefined) killProcess(life.toolPid);
    child.kill("SIGKILL");
  };
  const end = (reason: unknown): void => {
    ending ??= reason;
    kill();
  };
  const abort = (): void => end(signal?.reason);
  const timer = setTimeout(
    () => end(new Refusal(code, `reading it took more than ${limitMs / 1000} s`)),
    limitMs,
  );
  const look = setInterval(async () => {
    const pids = life.toolPid === undefined ? [child.pid] : [child.pid, life.toolPid];
    const bytes = await memoryOf(pids);
    if (bytes === undefined || bytes <= memoryBytes) return;
    end(
      new Refusal(code, `reading it took more than ${Math.floor(memoryBytes / 1e6)} MB of memory`),
    );
  }, LOOK_MS);
  signal?.addEventListener("abort", abort, { once: true });
  const life: Life = {
    toolPid: undefined,
    get reason() {
      return ending;
    },
    end,
    stop: () => {
      clearTimeout(timer);
      clearInterval(look);
      signal?.removeEventListener("abort", abort);
      kill();
    },
  };
  return life;
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function startChild(environment: Environment) {
  const env: Record<string, string> = { BUN_BE_BUN: "1", LC_ALL: "C", AV_LOG_FORCE_NOCOLOR: "1" };
  for (const name of PASSED_ON) {
    const value = environment[name];
    if (value !== undefined) env[name] = value;
  }
  return Bun.spawn([process.execPath, "--no-env-file", childPath()], {
    // A bunfig.toml in the working directory could load code into it.
    cwd: "/",
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
}
