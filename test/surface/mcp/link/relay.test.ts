import { describe, expect, test } from "bun:test";
import { PassThrough, Writable } from "node:stream";
import { LineReader } from "../../../../src/surface/mcp/link/lines.ts";
import {
  type Backend,
  BYE,
  type RelayDeps,
  relay,
} from "../../../../src/surface/mcp/link/relay.ts";

const REPEATABLE = { tools: ["memory_retrieve"], byRequestId: ["memory_ingest_fast_many"] };

type Message = {
  readonly id?: unknown;
  readonly method?: string;
  readonly [name: string]: unknown;
};

/** One end of a stream of messages, read and written by hand. */
class Party {
  readonly heard: Message[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #output: Writable;
  isOver = false;

  constructor(input: PassThrough, output: Writable) {
    const lines = new LineReader();
    this.#output = output;
    input.on("data", (chunk: Buffer) => {
      for (const line of lines.read(chunk)) this.heard.push(JSON.parse(line));
      this.#wake();
    });
    for (const event of ["end", "close"]) {
      input.on(event, () => {
        this.isOver = true;
        this.#wake();
      });
    }
  }

  say(message: object | string): void {
    const text =
      typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#output.write(`${text}\n`);
  }

  /** The messages so far, once there are this many. */
  async hears(count: number): Promise<readonly Message[]> {
    await this.#until(() => this.heard.length >= count);
    return this.heard;
  }

  async isLeft(): Promise<void> {
    await this.#until(() => this.isOver);
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

type Server = Party & {
  readonly backend: Backend;
  readonly input: PassThrough;
  readonly output: PassThrough;
};

function createServer(options: Partial<Backend> = {}): Server {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const backend = { input, output, isOther: true, ...options };
  return Object.assign(new Party(input, output), { backend, input, output });
}

type Setting = {
  readonly servers: readonly Server[];
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly client: Party;
  readonly done: Promise<void>;
};

/** A client and servers, of which each takes the place of the one before. */
function connect(count: number, options: Partial<RelayDeps> = {}): Setting {
  const servers = Array.from({ length: count }, () => createServer());
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const waiting = [...servers];
  const [first] = waiting.splice(0, 1);
  if (first === undefined) throw new Error("a relay has a server");
  const done = relay({
    stdin,
    stdout,
    backend: first.backend,
    repeatable: REPEATABLE,
    rejoin: () => {
      const next = waiting.shift();
      return next === undefined
        ? Promise.reject(new Error("no server is left"))
        : Promise.resolve(next.backend);
    },
    ...options,
  });
  done.catch(() => undefined);
  return { servers, stdin, stdout, client: new Party(stdout, stdin), done };
}

const at = (servers: readonly Server[], index: number): Server => {
  const server = servers[index];
  if (server === undefined) throw new Error(`no server ${index}`);
  return server;
};

const initialize = { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
const retrieve = (id: unknown) => ({
  id,
  method: "tools/call",
  params: { name: "memory_retrieve" },
});
const store = (id: unknown) => ({ id, method: "tools/call", params: { name: "memory_store" } });
const result = (id: unknown) => ({ id, result: {} });

describe("with one server", () => {
  test("messages pass both ways, unchanged", async () => {
    const { servers, client, stdin, done } = connect(1);
    const server = at(servers, 0);
    client.say(initialize);
    expect((await server.hears(1))[0]).toEqual({ jsonrpc: "2.0", ...initialize });
    server.say({ method: "notifications/message", params: { text: "Grüße 👋" } });
    server.say(result(1));
    expect(await client.hears(2)).toMatchObject([{ params: { text: "Grüße 👋" } }, { id: 1 }]);
    stdin.end();
    await done;
  });

  test("the client's leaving ends the connection once all is answered", async () => {
    const { servers, client, stdin, done } = connect(1);
    const server = at(servers, 0);
    client.say(retrieve(1));
    stdin.end();
    await server.hears(1);
    await Bun.sleep(30);
    expect(server.isOver).toBe(false);
    server.say(result(1));
    await server.isLeft();
    await done;
    expect(client.heard).toMatchObject([{ id: 1 }]);
  });

  test("a stop does what the client's leaving does", async () => {
    const stop = new AbortController();
    const { servers, client, done } = connect(1, { stop: stop.signal });
    client.say(retrieve(1));
    await at(servers, 0).hears(1);
    stop.abort();
    at(servers, 0).say(result(1));
    await done;
    expect(client.heard).toHaveLength(1);
  });

  test("a client that has left before anything ends at once", async () => {
    const stdin = new PassThrough();
    stdin.end();
    stdin.resume();
    await Bun.sleep(5);
    const server = createServer();
    const rejoin = () => Promise.reject(new Error("not needed"));
    const { backend } = server;
    await relay({ stdin, stdout: new PassThrough(), backend, repeatable: REPEATABLE, rejoin });
    expect(server.isOver || server.input.destroyed).toBe(true);
  });

  test("a client that closes its reading end ends it", async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, callback) =>
        callback(Object.assign(new Error("EPIPE"), { code: "EPIPE" })),
    });
    const { servers, client, done } = connect(1, { stdout });
    client.say(retrieve(1));
    await at(servers, 0).hears(1);
    at(servers, 0).say(result(1));
    await done;
  });

  test("a message longer than any ends it, and is told", async () => {
    const said: string[] = [];
    const { servers, stdin, done } = connect(1, { warn: (message) => said.push(message) });
    stdin.write(Buffer.alloc(18 * 1024 * 1024, 0x61));
    await done;
    expect(at(servers, 0).heard).toEqual([]);
    expect(said).toEqual(["protocol: a line is longer than 17825792 bytes"]);
  });

  test("a last line without an end is passed on, blank ones are not", async () => {
    const { servers, client, stdin, done } = connect(1);
    const server = at(servers, 0);
    stdin.write("\n \r\n\n");
    stdin.end(JSON.stringify({ jsonrpc: "2.0", ...retrieve(1) }));
    await server.hears(1);
    server.say(result(1));
    await done;
    expect(client.heard).toHaveLength(1);
  });
});

describe("when a server is gone", () => {
  test("the next hears how it began, is asked again what may be, and the client learns of the rest", async () => {
    const { servers, client, stdin, done } = connect(2);
    const [first, second] = [at(servers, 0), at(servers, 1)];
    client.say(initialize);
    await first.hears(1);
    first.say(result(1));
    await client.hears(1);
    client.say({ method: "notifications/initialized" });
    client.say(retrieve(2));
    client.say(store(3));
    await first.hears(4);
    first.output.destroy();
    expect(await second.hears(3)).toMatchObject([
      { method: "initialize", params: initialize.params },
      { method: "notifications/initialized" },
      retrieve(2),
    ]);
    second.say(result(second.heard[0]?.id));
    second.say(result(2));
    expect(await client.hears(3)).toMatchObject([{ id: 1 }, { id: 3, error: {} }, { id: 2 }]);
    stdin.end();
    await done;
    expect(client.heard).toHaveLength(3);
  });

  test("what the client says meanwhile waits for the next, behind what is asked again", async () => {
    const next = createServer();
    const found = Promise.withResolvers<Backend>();
    const { servers, client, stdin, done } = connect(1, { rejoin: () => found.promise });
    client.say(retrieve(1));
    await at(servers, 0).hears(1);
    at(servers, 0).output.destroy();
    await Bun.sleep(5);
    client.say(retrieve(2));
    client.say(retrieve(3));
    await Bun.sleep(20);
    found.resolve(next.backend);
    expect((await next.hears(3)).map(({ id }) => id)).toEqual([1, 2, 3]);
    stdin.end();
    for (const id of [1, 2, 3]) next.say(result(id));
    await done;
    expect(client.heard.map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  test("a goodbye keeps the answers under way, and what follows is the next one's", async () => {
    const { servers, client, stdin, done } = connect(2);
    const [first, second] = [at(servers, 0), at(servers, 1)];
    client.say(store(1));
    await first.hears(1);
    first.say(BYE);
    await first.isLeft();
    client.say(store(2));
    await Bun.sleep(10);
    first.say(result(1));
    expect(await client.hears(1)).toMatchObject([{ id: 1, result: {} }]);
    first.output.end();
    expect((await second.hears(1)).map(({ id }) => id)).toEqual([2]);
    expect(first.heard).toHaveLength(1);
    stdin.end();
    second.say(result(2));
    await done;
    expect(client.heard).toHaveLength(2);
  });

  test("a client that leaves meanwhile still gets the answers to its reads", async () => {
    const { servers, client, stdin, done } = connect(2);
    client.say(retrieve(1));
    await at(servers, 0).hears(1);
    stdin.end();
    await Bun.sleep(5);
    at(servers, 0).output.destroy();
    await at(servers, 1).hears(1);
    at(servers, 1).say(result(1));
    await done;
    expect(client.heard).toMatchObject([{ id: 1, result: {} }]);
  });

  test("for good, it ends with the reason", async () => {
    const { servers, client, done } = connect(1);
    client.say(store(1));
    await at(servers, 0).hears(1);
    at(servers, 0).output.destroy();
    await expect(done).rejects.toThrow("no server is left");
    expect(await client.hears(1)).toMatchObject([{ id: 1, error: {} }]);
  });

  test("an answer of the one that is gone is not passed on after its calls are asked again", async () => {
    const { servers, client, stdin, done } = connect(2);
    const [first, second] = [at(servers, 0), at(servers, 1)];
    client.say(retrieve(1));
    await first.hears(1);
    first.input.destroy(new Error("reset"));
    await second.hears(1);
    first.say(result(1));
    second.say(result(1));
    stdin.end();
    await done;
    expect(client.heard).toHaveLength(1);
  });
});

describe("pressure", () => {
  const big = (id: number) => ({
    id,
    method: "tools/call",
    params: { name: "memory_retrieve", text: "x".repeat(65_536) },
  });

  test("a server that does not read holds the client back, and nothing is lost", async () => {
    const input = new PassThrough({ highWaterMark: 1024 });
    const output = new PassThrough();
    const backend = { input, output, isOther: true };
    const { stdin, client, done } = connect(1, { backend });
    for (let id = 0; id < 100; id += 1) client.say(big(id));
    await Bun.sleep(50);
    expect(input.readableLength + input.writableLength).toBeLessThan(1024 * 1024);
    expect(stdin.isPaused()).toBe(true);
    const server = new Party(input, output);
    for (let id = 0; id < 100; id += 1) {
      expect((await server.hears(id + 1))[id]?.id).toBe(id);
      server.say(result(id));
    }
    stdin.end();
    await done;
    expect(client.heard).toHaveLength(100);
  });

  test("a client that does not read holds the server back", async () => {
    const stdout = new PassThrough({ highWaterMark: 1024 });
    const { servers, stdin, done } = connect(1, { stdout });
    const server = at(servers, 0);
    for (let id = 0; id < 100; id += 1)
      server.say({ method: "notifications/message", params: { id, text: "x".repeat(65_536) } });
    await Bun.sleep(50);
    expect(stdout.readableLength + stdout.writableLength).toBeLessThan(1024 * 1024);
    expect(server.output.isPaused()).toBe(true);
    const client = new Party(stdout, stdin);
    await client.hears(100);
    stdin.end();
    await done;
  });

  test("calls that are not answered are not read for ever", async () => {
    const { servers, stdin, client, done } = connect(1);
    const server = at(servers, 0);
    for (let id = 0; id < 2000; id += 1) {
      client.say(retrieve(id));
      if (id % 50 === 0) await Bun.sleep(0);
    }
    await Bun.sleep(50);
    expect(server.heard.length).toBe(32);
    expect(stdin.isPaused()).toBe(true);
    let answered = 0;
    while (answered < 2000) {
      for (const { id } of (await server.hears(answered + 1)).slice(answered)) {
        server.say(result(id));
        answered += 1;
      }
    }
    stdin.end();
    await done;
    expect(client.heard).toHaveLength(2000);
  });

  test("many writes against pressure leave no listeners behind", async () => {
    const input = new PassThrough({ highWaterMark: 16 });
    const output = new PassThrough();
    const backend = { input, output, isOther: true };
    const { stdin, client, done } = connect(1, { backend });
    stdin.write(
      Array.from(
        { length: 50 },
        (_, id) => `${JSON.stringify({ jsonrpc: "2.0", ...retrieve(id) })}\n`,
      ).join(""),
    );
    await Bun.sleep(10);
    expect(input.listenerCount("drain")).toBeLessThanOrEqual(1);
    const server = new Party(input, output);
    await server.hears(32);
    expect(input.listenerCount("drain")).toBeLessThanOrEqual(1);
    for (let id = 0; id < 50; id += 1) {
      await server.hears(id + 1);
      server.say(result(id));
    }
    await client.hears(50);
    stdin.end();
    await done;
  });
});
