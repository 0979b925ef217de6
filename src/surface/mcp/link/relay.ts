import type { Readable, Writable } from "node:stream";
import { BYE } from "./host.ts";
import { OPEN_CALLS_MAX } from "./limits.ts";
import { LineReader, lineOf } from "./lines.ts";
import { PendingCalls, type Repeatable } from "./pending-calls.ts";
import { type Silence, watchSilence } from "./silence.ts";

/** Milliseconds to wait for running calls after the client has closed its end. */
const DRAIN_MS = 10_000;
/** Total characters of those calls. */
const OPEN_CHARACTERS_MAX = 32 * 1024 * 1024;
/** Maximum bytes of an answer. Nothing that a server of this program sends comes close. */
const ANSWER_MAX = 256 * 1024 * 1024;

/** A server that receives messages, one per line. */
export type Backend = {
  readonly input: Writable;
  readonly output: Readable;
  /** Whether it is another process, which may be stopped while the connection stays open. */
  readonly isOther: boolean;
  readonly repeatable: Repeatable;
};

export type RelayDeps = {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly backend: Backend;
  /** Finds a server to replace one that has gone. */
  readonly rejoin: () => Promise<Backend>;
  /** Ends the session just as the client's leaving does. */
  readonly stop?: AbortSignal | undefined;
  /** Reports to a person what is wrong with the client. */
  readonly warn?: ((message: string) => void) | undefined;
  /** Milliseconds of silence after which a server with unanswered calls counts as gone. */
  readonly silenceMs?: number | undefined;
};

/**
 * Passes messages between a client and a server that may change. When the server goes away, the next one is told how the
 * connection began, and gets the repeatable calls again; for every other running call the client is told that its outcome is
 * unknown. Neither side can make this process hold more than a bounded amount.
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
  readonly #silence: Silence;
  /** Undefined while looking for one. */
  #backend: Backend | undefined;
  /** Whether the server accepts messages. Otherwise they wait. */
  #isTaking = false;
  #waiting: string[] = [];
  #isInputFull = false;
  #isClientSlow = false;
  #clientHasLeft = false;
  #isEnding = false;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
    this.#silence = watchSilence({
      forMs: deps.silenceMs,
      isDue: () => this.#backend?.isOther === true && !this.#pending.isEmpty && !this.#isClientSlow,
      ask: (line) => {
        if (this.#isTaking) this.#backend?.input.write(`${line}\n`);
      },
      giveUp: () => this.#backend && this.#lost(this.#backend),
    });
  }

  async run(): Promise<void> {
    const { stdin, stdout, backend, stop } = this.#deps;
    const leave = (): void => this.#leave();
    stdout.on("drain", () => this.#clientReads());
    // The client has gone, and nobody is left to read an answer.
    stdout.on("error", () => this.#ended.resolve());
    stdin.on("data", (chunk: Uint8Array) => this.#read(chunk));
    stdin.on("end", leave).on("close", leave).on("error", leave);
    stop?.addEventListener("abort", leave, { once: true });
    this.#attach(backend);
    this.#flow();
    if (stdin.destroyed || stdin.readableEnded || stop?.aborted) leave();
    try {
      await this.#ended.promise;
    } finally {
      this.#silence.end();
      stop?.removeEventListener("abort", leave);
      stdin.destroy();
      if (this.#backend !== undefined) release(this.#backend);
    }
  }

  #read(chunk: Uint8Array): void {
    try {
      for (const line of this.#fromClient.read(chunk)) this.#keep(line);
    } catch (error) {
      // The rest of the stream cannot be split into messages.
      this.#deps.warn?.(`protocol: ${error instanceof Error ? error.message : String(error)}`);
      this.#leave();
    }
    this.#flow();
  }

  #keep(line: string): void {
    if (line.trim() !== "") this.#waiting.push(line);
  }

  /** Passes on what is waiting, as far as possible, and reads from the client if nothing is. */
  #flow(): void {
    const { stdin } = this.#deps;
    while (this.#waiting.length > 0 && this.#hasRoom) {
      const line = this.#waiting.shift();
      const backend = this.#backend;
      if (line === undefined || backend === undefined) break;
      const passed = this.#pending.toServer(line, backend.repeatable);
      if (passed !== undefined) this.#write(backend, passed);
    }
    if (!this.#pending.isEmpty) this.#silence.watch();
    if (this.#clientHasLeft) this.#endWhenDone();
    else if (this.#waiting.length > 0 || !this.#hasRoom) stdin.pause();
    else stdin.resume();
  }

  get #hasRoom(): boolean {
    return (
      this.#isTaking &&
      !this.#isInputFull &&
      !this.#isClientSlow &&
      this.#pending.count < OPEN_CALLS_MAX &&
      this.#pending.characters < OPEN_CHARACTERS_MAX
    );
  }

  #write({ input }: Backend, line: string): void {
    if (input.write(`${line}\n`) || this.#isInputFull) return;
    this.#isInputFull = true;
    const goOn = (): void => {
      input.off("drain", goOn).off("close", goOn);
      this.#isInputFull = false;
      this.#flow();
    };
    input.on("drain", goOn).on("close", goOn);
  }

  #attach(backend: Backend): void {
    const { input, output } = backend;
    this.#backend = backend;
    this.#isTaking = true;
    const lines = new LineReader(ANSWER_MAX);
    const over = (): void => this.#lost(backend);
    output.on("data", (chunk: Uint8Array) => {
      this.#silence.heard();
      try {
        for (const line of lines.read(chunk)) this.#heard(line, backend);
      } catch {
        over();
      }
      this.#flow();
    });
    output.on("end", over).on("close", over).on("error", over);
    input.on("error", over);
    if (output.destroyed || output.readableEnded) queueMicrotask(over);
    else if (!this.#isClientSlow) output.resume();
  }

  #heard(line: string, backend: Backend): void {
    if (this.#backend !== backend) return;
    if (line === BYE) {
      // Messages from the client are now for the next server.
      this.#isTaking = false;
      backend.input.end();
    } else if (this.#pending.isForClient(line)) this.#tell(line);
  }

  #tell(line: string): void {
    if (this.#deps.stdout.write(`${line}\n`)) return;
    this.#isClientSlow = true;
    this.#backend?.output.pause();
  }

  #clientReads(): void {
    this.#isClientSlow = false;
    this.#backend?.output.resume();
    this.#flow();
  }

  #lost(backend: Backend): void {
    if (this.#backend !== backend) return;
    this.#backend = undefined;
    this.#isTaking = false;
    release(backend);
    if (this.#clientHasLeft && this.#isDone) {
      this.#ended.resolve();
      return;
    }
    const { repeat, fail } = this.#pending.afterLoss();
    for (const line of fail) this.#tell(line);
    this.#flow();
    this.#deps.rejoin().then(
      (next) => this.#goOn(next, repeat),
      (error: unknown) => this.#ended.reject(error),
    );
  }

  #goOn(next: Backend, repeat: readonly string[]): void {
    this.#attach(next);
    for (const line of repeat) this.#write(next, line);
    // Waiting messages come after all repeated ones.
    this.#flow();
  }

  get #isDone(): boolean {
    return this.#pending.isEmpty && this.#waiting.length === 0 && !this.#isClientSlow;
  }

  #leave(): void {
    if (this.#clientHasLeft) return;
    this.#clientHasLeft = true;
    this.#deps.stdin.pause();
    this.#keep(lineOf(this.#fromClient.rest()));
    setTimeout(() => this.#ended.resolve(), DRAIN_MS).unref();
    this.#flow();
  }

  #endWhenDone(): void {
    if (!this.#clientHasLeft || !this.#isDone || this.#isEnding) return;
    this.#isEnding = true;
    const backend = this.#backend;
    if (backend === undefined) this.#ended.resolve();
    // A server of this process must finish. For another process it is enough that it has received everything.
    else backend.input.end(() => backend.isOther && this.#ended.resolve());
  }
}

/** Ends a connection, and discards what is still sent on it, so that nobody waits. */
function release({ input, output, isOther }: Backend): void {
  if (isOther) input.destroy();
  else input.end();
  output.resume();
}
