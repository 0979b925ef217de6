import type { Readable, Writable } from "node:stream";
import { BYE } from "./host.ts";
import { LineReader } from "./lines.ts";
import { PendingCalls } from "./pending-calls.ts";

/** Milliseconds for which calls under way are waited for after the client has closed its end. */
const DRAIN_MS = 10_000;

/** A server to which messages go, one a line. */
export type Backend = {
  readonly input: Writable;
  readonly output: Readable;
  /** Tools that may be called again when it is not known whether they were. */
  readonly repeatable: readonly string[];
};

export type RelayDeps = {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly backend: Backend;
  /** A server in the place of one that is gone. */
  readonly rejoin: () => Promise<Backend>;
};

/**
 * Passes messages between a client and a server that may change. When the server goes away, the next one is told how the
 * connection began, and is asked again what may be asked twice; for every other call under way the client
 * learns that its outcome is not known.
 * @returns once the client has left and every call is answered; rejects with what `rejoin` rejected with
 */
export async function relay(deps: RelayDeps): Promise<void> {
  await new Relay(deps).run();
}

class Relay {
  readonly #deps: RelayDeps;
  readonly #pending = new PendingCalls();
  readonly #fromClient = new LineReader();
  readonly #ended = Promise.withResolvers<void>();
  /** Undefined while there is none that takes messages: then they wait. */
  #backend: Backend | undefined;
  #waiting: string[] = [];
  #clientHasLeft = false;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  async run(): Promise<void> {
    const { stdin, backend } = this.#deps;
    this.#attach(backend);
    stdin.on("data", (chunk: Uint8Array) => this.#read(chunk));
    for (const event of ["end", "close", "error"]) stdin.once(event, () => this.#leave());
    await this.#ended.promise;
    stdin.destroy();
  }

  #read(chunk: Uint8Array): void {
    try {
      for (const line of this.#fromClient.read(chunk)) this.#send(line);
    } catch {
      // Longer than any message: nothing that follows can be told apart.
      this.#leave();
    }
  }

  #send(line: string): void {
    if (this.#backend === undefined) {
      this.#waiting.push(line);
      return;
    }
    this.#pending.sent(line);
    if (!this.#backend.input.write(`${line}\n`)) this.#pauseClient(this.#backend.input);
  }

  #pauseClient(input: Writable): void {
    const { stdin } = this.#deps;
    stdin.pause();
    const resume = (): void => {
      stdin.resume();
    };
    input.once("drain", resume).once("close", resume);
  }

  #attach(backend: Backend): void {
    this.#backend = backend;
    const lines = new LineReader();
    let isOver = false;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      this.#lost(backend);
    };
    backend.output.on("data", (chunk: Uint8Array) => {
      for (const line of lines.read(chunk)) this.#heard(line, backend);
    });
    for (const event of ["end", "close", "error"]) backend.output.once(event, over);
    backend.input.on("error", over);
    backend.output.resume();
  }

  #heard(line: string, backend: Backend): void {
    if (line === BYE) {
      // What comes from the client now is the next server's.
      if (this.#backend === backend) this.#backend = undefined;
      backend.input.end();
      return;
    }
    if (this.#pending.isForClient(line)) this.#tell(line, backend.output);
    this.#endWhenDone();
  }

  #tell(line: string, source?: Readable): void {
    const { stdout } = this.#deps;
    if (stdout.write(`${line}\n`) || source === undefined) return;
    source.pause();
    stdout.once("drain", () => source.resume());
  }

  #lost(backend: Backend): void {
    if (this.#backend === backend) this.#backend = undefined;
    backend.input.destroy();
    if (this.#clientHasLeft && this.#isDone) {
      this.#ended.resolve();
      return;
    }
    const { repeat, fail } = this.#pending.afterLoss(backend.repeatable);
    for (const line of fail) this.#tell(line);
    const { rejoin } = this.#deps;
    rejoin().then(
      (next) => {
        this.#attach(next);
        for (const line of this.#pending.opening()) next.input.write(`${line}\n`);
        // What waits came after all that is repeated.
        for (const line of [...repeat, ...this.#waiting.splice(0)]) this.#send(line);
        this.#endWhenDone();
      },
      (error: unknown) => this.#ended.reject(error),
    );
  }

  get #isDone(): boolean {
    return this.#pending.isEmpty && this.#waiting.length === 0;
  }

  #leave(): void {
    if (this.#clientHasLeft) return;
    this.#clientHasLeft = true;
    setTimeout(() => this.#ended.resolve(), DRAIN_MS).unref();
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#clientHasLeft || !this.#isDone) return;
    this.#backend?.input.end();
    if (this.#backend === undefined) this.#ended.resolve();
  }
}
