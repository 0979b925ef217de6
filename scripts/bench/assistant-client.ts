import { mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { cleanEnvironment, svcCommand } from "./server.ts";

export type AssistantOptions = {
  /** Absolute path of the pack. */
  readonly pack: string;
  /** Further arguments of `svc mcp`. */
  readonly args?: readonly string[] | undefined;
  /** Variables on top of this process's environment without its `SVC_` settings. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Default: the folder of the pack. */
  readonly folder?: string | undefined;
  /** Default: {@link svcCommand}. */
  readonly command?: readonly string[] | undefined;
  /** Whether nothing is read before `listen` is called. */
  readonly isDeaf?: boolean | undefined;
};

/** What a tool answered, and whether the call failed. */
export type Answer = {
  readonly isError: boolean;
  readonly value: Readonly<Record<string, unknown>>;
};

type Message = {
  readonly id?: string | number;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
};

const running = new Set<Bun.Subprocess>();

/** Ends every assistant that is still running, for the end of a run that failed half-way. */
export async function endAllAssistants(): Promise<void> {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map(({ exited }) => exited));
}

/** `svc mcp` in a process of its own, spoken to line by line. */
export class AssistantProcess {
  readonly child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  /** Every message that came, in order. */
  readonly heard: Message[] = [];
  readonly #reader: {
    read(): Promise<{ value?: Uint8Array | undefined; done: boolean }>;
    cancel(): Promise<void>;
  };
  readonly #stderr: Promise<string>;
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  constructor(options: AssistantOptions) {
    const { pack, args = [], folder = dirname(pack), command = svcCommand() } = options;
    mkdirSync(folder, { recursive: true });
    this.child = Bun.spawn([...command, "mcp", "--db-path", pack, ...args], {
      cwd: folder,
      env: { ...cleanEnvironment(), ...options.environment },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    running.add(this.child);
    this.child.exited.finally(() => running.delete(this.child));
    this.#reader = this.child.stdout.getReader();
    this.#stderr = new Response(this.child.stderr).text();
    if (options.isDeaf !== true) this.listen();
  }

  /** Reads what it says, from now on. */
  listen(): void {
    this.#read().catch(() => undefined);
  }

  get pid(): number {
    return this.child.pid;
  }

  /** Everything that it printed for people. Once it has ended. */
  async stderr(): Promise<string> {
    return await this.#stderr;
  }

  /** Closes the end of the pipe on which answers come. */
  async deafen(): Promise<void> {
    await this.#reader.cancel();
  }

  /** To a process that has ended, nothing: who waits for an answer is told. @param message JSON-RPC without its version, or a line as it is */
  say(message: object | string): void {
    const text =
      typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#send(`${text}\n`).catch(() => undefined);
  }

  /** The first message that fits, as soon as it is there. @throws Error when the process ends before */
  async hears(fits: (message: Message) => boolean, limitMs = 60_000): Promise<Message> {
    const end = performance.now() + limitMs;
    for (;;) {
      const found = this.heard.find(fits);
      if (found !== undefined) return found;
      const left = end - performance.now();
      if (this.#isOver || left <= 0) {
        throw new Error(this.#isOver ? "it ended without an answer" : "it does not answer");
      }
      await this.#change(left);
    }
  }

  /** Sends a request and waits for what is said to it. */
  async ask(id: string | number, method: string, params: object = {}): Promise<Message> {
    this.say({ id, method, params });
    return await this.hears((message) => message.id === id && message.method === undefined);
  }

  /** As every client begins. */
  async open(): Promise<this> {
    await this.ask("open", "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "assistant", version: "1.0.0" },
    });
    this.say({ method: "notifications/initialized" });
    return this;
  }

  async call(id: string | number, name: string, args: object): Promise<Message> {
    return await this.ask(id, "tools/call", { name, arguments: args });
  }

  /** Closes stdin, as a client does that leaves. @returns the exit code, or the name of the signal that ended it */
  async leave(): Promise<number | string> {
    await this.child.stdin.end();
    return await this.ended();
  }

  async ended(): Promise<number | string> {
    await this.child.exited;
    return this.child.signalCode ?? this.child.exitCode ?? "unknown";
  }

  async #send(text: string): Promise<void> {
    await this.child.stdin.write(text);
    await this.child.stdin.flush();
  }

  async #read(): Promise<void> {
    let text = "";
    const decoder = new TextDecoder();
    for (;;) {
      const { value: chunk, done } = await this.#reader.read();
      if (done) break;
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      this.heard.push(...lines.map((line) => JSON.parse(line)));
      this.#wake();
    }
    this.#isOver = true;
    this.#wake();
  }

  #change(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** The official client on a process of its own. */
export type Assistant = {
  readonly client: Client;
  readonly process: AssistantProcess;
  call(tool: string, args: object): Promise<Answer>;
  /** @returns the exit code of the process, or the signal that ended it */
  leave(): Promise<number | string>;
};

/** Starts an assistant; it is connected when this returns. */
export async function startAssistant(options: AssistantOptions): Promise<Assistant> {
  const process = new AssistantProcess(options);
  const client = new Client({ name: "assistant", version: "1.0.0" });
  let taken = 0;
  const transport: Parameters<Client["connect"]>[0] = {
    start: async () => {
      const pump = async (): Promise<void> => {
        for (;;) {
          await process.hears(() => process.heard.length > taken, 600_000);
          // SAFETY: the client checks what it is given.
          for (const message of process.heard.slice(taken)) transport.onmessage?.(message as never);
          taken = process.heard.length;
        }
      };
      pump().catch(() => transport.onclose?.());
    },
    send: async (message) => process.say(JSON.stringify(message)),
    close: async () => {
      await process.child.stdin.end();
    },
  };
  await client.connect(transport);
  return {
    client,
    process,
    call: async (name, args) => {
      const result = await client.callTool({ name, arguments: { ...args } });
      // SAFETY: every tool answers with an object; a failure of the protocol has none.
      const value = (result.structuredContent ?? {}) as Answer["value"];
      return { isError: result.isError === true || "error" in value, value };
    },
    leave: async () => {
      await client.close();
      return await process.ended();
    },
  };
}

/** Whether a process has a file open; undefined where the system does not tell. */
export function hasOpen(pid: number, path: string): boolean | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((name) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${name}`) === path;
      } catch {
        return false;
      }
    });
  } catch {
    return undefined;
  }
}
