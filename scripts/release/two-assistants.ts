/**
 * Run by the program itself (`BUN_BE_BUN=1 svc two-assistants.ts <pack>`): starts it as two assistants do, and prints whether the
 * second one was served by the process of the first, and went on by itself when that one ended. Under Wine a program that is
 * not of Windows cannot hold the other end of its pipes.
 */
const WAIT_MS = 100_000;
const pack = process.argv[2] ?? "";

function line(id: number | undefined, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method, params })}\n`;
}

function call(id: number, name: string, values: object): string {
  return line(id, "tools/call", { name, arguments: values });
}

const GREETING = [
  line(1, "initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "try-out", version: "1" },
  }),
  line(undefined, "notifications/initialized", {}),
].join("");

class Assistant {
  readonly #process;
  #heard = "";

  constructor() {
    const { BUN_BE_BUN: _, ...env } = process.env;
    this.#process = Bun.spawn([process.execPath, "mcp", "--db-path", pack], {
      env,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    void this.#listen();
    this.#say(GREETING);
  }

  /** @returns the line of the answer */
  async ask(id: number, name: string, values: object): Promise<string> {
    this.#say(call(id, name, values));
    const start = performance.now();
    while (performance.now() - start < WAIT_MS) {
      const found = this.#heard.split("\n").find((text) => text.includes(`"id":${id}`));
      if (found !== undefined) return found;
      await Bun.sleep(20);
    }
    throw new Error(`no answer to ${name}`);
  }

  async end(): Promise<void> {
    this.#process.stdin.end();
    await this.#process.exited;
  }

  #say(text: string): void {
    this.#process.stdin.write(text);
    this.#process.stdin.flush();
  }

  async #listen(): Promise<void> {
    for await (const chunk of this.#process.stdout) this.#heard += new TextDecoder().decode(chunk);
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};
const first = new Assistant();
const loading = await timed(() =>
  first.ask(2, "memory_store", { content: "The tram leaves at nine" }),
);
const second = new Assistant();
const served = await timed(() =>
  second.ask(2, "memory_store", { content: "The bus leaves at ten" }),
);
await first.end();
const answer = await second.ask(3, "memory_retrieve", { query: "when does the tram go?" });
await second.end();
// Loading the model takes several times as long as everything else.
const isShared = served < loading / 2;
console.log(JSON.stringify({ shared: isShared, after: answer.includes("The tram leaves") }));
process.exit(0);
