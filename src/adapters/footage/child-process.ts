import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Subprocess } from "bun";
import { EMBEDDED } from "../native/embedded.ts";
import { unpack } from "../native/extract.ts";
import {
  type ChildAnswer,
  type ChildBounds,
  type ChildRequest,
  type Packet,
  packetHead,
  Refusal,
  type RefusalCode,
  readPackets,
} from "./protocol.ts";

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

/**
 * The script of the child process: from source the module, in the executable a bundle of it, unpacked and verified.
 * @throws SvcError storage_failed if it cannot be unpacked
 */
function childPath(): string {
  const bundle = EMBEDDED["footage-child"];
  return bundle === undefined
    ? fileURLToPath(new URL("./child.ts", import.meta.url))
    : unpack(bundle);
}

/** Bytes of a page of memory where `/proc` counts in pages. */
const PAGE_BYTES = 4096;
const KIB = 1024;

/**
 * Bytes of memory that processes occupy together; a process that has ended occupies none. Undefined: this system has no way to ask that
 * costs little.
 */
async function memoryOf(pids: readonly number[]): Promise<number | undefined> {
  switch (process.platform) {
    case "linux":
      return pids.reduce((sum, pid) => sum + residentPages(pid) * PAGE_BYTES, 0);
    case "darwin": {
      const child = Bun.spawn(["/bin/ps", "-o", "rss=", "-p", pids.join(",")], {
        cwd: "/",
        env: {},
        stderr: "ignore",
      });
      const text = await new Response(child.stdout).text();
      return text.split("\n").reduce((sum, line) => sum + Number(line) * KIB, 0);
    }
    default:
      return undefined;
  }
}

function residentPages(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
  } catch {
    // It has ended.
    return 0;
  }
}
