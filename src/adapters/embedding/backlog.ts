import type { EmbedText } from "./remember.ts";

/** A model in a thread. */
export type ModelThread = {
  /** The vector of one text. Starts the thread if there is none. @throws SvcError `embedding_failed`. */
  embed(text: string): Promise<Float32Array>;
  /** Texts without an answer. */
  busy(): number;
  /** Once those of now have theirs. */
  idle(): Promise<unknown>;
  /** Waits for pending calls, then ends the thread. */
  close(): Promise<void>;
};

export type BacklogOptions = {
  /** The thread of calls. It takes a text of the backlog only when it has nothing else to do. */
  readonly main: ModelThread;
  readonly start: () => ModelThread;
  /** Threads that the backlog may have now, 1 or more. */
  readonly threads: () => number;
  /** Milliseconds without a text after which its threads end. Default 10 seconds. */
  readonly lingerMs?: number | undefined;
};

/** Texts after which a backlog gets threads of its own: loading a model takes as long as a hundred. */
const LONG = 128;
/** Times that a short backlog waits for the thread of calls before it gets one of its own. */
const WAITS = 8;
/** Texts that a thread has at once, so that it never waits for the next one. */
const AT_ONCE = 2;
const LINGER_MS = 10_000;
/** Milliseconds for which a number of threads holds: a laptop may be unplugged meanwhile. */
const HOLDS_MS = 60_000;

type Waiting = {
  readonly text: string;
  readonly resolve: (vector: Promise<Float32Array>) => void;
};

/**
 * Texts that nobody waits for, in order. A short backlog is done by the thread of calls, one text at a time; a long one gets threads that
 * give way to all others, and end with it.
 */
export function createBacklog({ main, start, threads, lingerMs = LINGER_MS }: BacklogOptions) {
  const queue: Waiting[] = [];
  const own: ModelThread[] = [];
  const running = new Set<Promise<unknown>>();
  const counted = { texts: 0, threads: 1, at: Number.NEGATIVE_INFINITY };
  let isReady = false;
  let leaving: NodeJS.Timeout | undefined;

  const wanted = (): number => {
    if (performance.now() - counted.at > HOLDS_MS) {
      Object.assign(counted, { threads: threads(), at: performance.now() });
    }
    return counted.threads;
  };
  const free = (): ModelThread | undefined => {
    while (counted.texts >= LONG && own.length < wanted()) own.push(start());
    const next = own.slice(0, wanted()).find((thread) => thread.busy() < AT_ONCE);
    return next ?? (isReady || main.busy() > 0 ? undefined : main);
  };
  const feed = (): void => {
    for (;;) {
      const thread = queue.length === 0 ? undefined : free();
      const next = thread && queue.shift();
      if (thread === undefined || next === undefined) break;
      counted.texts += 1;
      const vector = thread.embed(next.text);
      next.resolve(vector);
      const done = vector
        .then(
          () => {
            isReady ||= thread !== main;
          },
          () => {},
        )
        .finally(() => {
          running.delete(done);
          feed();
          if (running.size === 0) leaving = setTimeout(() => void end(), lingerMs).unref();
        });
      running.add(done);
    }
    if (queue.length === 0 || running.size > 0) return;
    // Calls that never leave their thread idle hold a backlog up for a moment only.
    counted.texts += LONG / WAITS;
    void main.idle().then(feed);
  };
  const end = async (): Promise<void> => {
    clearTimeout(leaving);
    const ending = own.splice(0);
    isReady = false;
    counted.texts = 0;
    counted.at = Number.NEGATIVE_INFINITY;
    await Promise.all(ending.map((thread) => thread.close()));
  };

  const embed: EmbedText = (text) => {
    clearTimeout(leaving);
    const { promise, resolve } = Promise.withResolvers<Float32Array>();
    queue.push({ text, resolve });
    feed();
    return promise;
  };
  return {
    embed,
    /** Finishes what waits. */
    close: async (): Promise<void> => {
      while (running.size + queue.length > 0)
        await (running.size > 0 ? Promise.all(running) : main.idle());
      await end();
    },
  };
}
