import { Worker } from "node:worker_threads";
import { DEFAULT_MODEL, type EmbeddingModel } from "../../domain/embedding-models.ts";
import { SvcError } from "../../domain/errors.ts";
import type { Embedder, EmbeddingIdentity } from "../../ports/models.ts";
import { cacheDir } from "../native/cache-dir.ts";
import { createSharedSession, type SharedSession } from "../native/onnxruntime.ts";
import { createWorkerCalls, type FailedCall } from "../native/worker-calls.ts";
import { createBacklog, type ModelThread } from "./backlog.ts";
import { bulkThreads } from "./cores.ts";
import { noUse, remembering } from "./remember.ts";
import { workerUrl } from "./worker-url.ts";

type LocalEmbedderOptions = {
  /** Default: the first of the table. */
  readonly model?: EmbeddingModel | undefined;
  /** Threads within one run of the model. Default 1. */
  readonly threads?: number | undefined;
  /** Length limit in tokens, 2 to 512. Default 256. Another value gives different vectors, and so a different identity. */
  readonly maxTokens?: number | undefined;
  /** Folder that holds the model below its name. Default: the files shipped with the program. */
  readonly modelRoot?: string | undefined;
  readonly spawn?: (() => Worker) | undefined;
  /** Threads for texts that nobody waits for. Default: as many as the machine has to spare. */
  readonly bulkThreads?: number | undefined;
  /** As in `createBacklog`. */
  readonly lingerMs?: number | undefined;
};

// Enough for a turn; a text twice as long takes more than twice the time.
const DEFAULT_MAX_TOKENS = 256;

/** Identifies the vectors of a model with this length limit. */
export function identityOf(
  model: Pick<EmbeddingModel, "name" | "recipe" | "dimension">,
  maxTokens: number = DEFAULT_MAX_TOKENS,
): EmbeddingIdentity {
  const { name, recipe, dimension } = model;
  const version = maxTokens === DEFAULT_MAX_TOKENS ? recipe : `${recipe}-t${maxTokens}`;
  return { model: name, version, dimension };
}

/**
 * An embedder that runs a model of the table on this machine, without network.
 *
 * The model is loaded on the first call, in its own thread. Texts are embedded strictly one at a time; the latest 512 questions and 512
 * documents are cached per owner, and concurrent calls of one owner with equal texts share one computation. Returned arrays belong to the
 * caller.
 */
export function createLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  const {
    model = DEFAULT_MODEL,
    threads = 1,
    maxTokens = DEFAULT_MAX_TOKENS,
    modelRoot,
    spawn = startWorker,
    lingerMs,
  } = options;
  const tokens = Math.min(maxTokens, model.other?.maxTokens ?? maxTokens);
  const setup = { model, threads, modelRoot, maxTokens: tokens, shared: createSharedSession() };
  const thread = createModelThread(setup, spawn);
  const backlog = createBacklog({
    main: thread,
    start: () => createModelThread({ ...setup, givesWay: true }, spawn),
    threads: () => bulkThreads(options.bulkThreads),
    lingerMs,
  });
  let closing: Promise<void> | undefined;
  const isClosed = () => closing !== undefined;
  const use = noUse();
  const after = (prefix: string, embed = thread.embed) =>
    remembering((text) => embed(prefix + text), isClosed, use);
  const documents = after(model.documentPrefix);
  const questions = after(model.questionPrefix);
  const later = after(model.documentPrefix, backlog.embed);

  return {
    identity: identityOf(model, maxTokens),
    maxTokens: tokens,
    embedDocument: documents.embed,
    embedQuery: questions.embed,
    // Nobody asks for such a vector again.
    embedLater: (text) => later.embed(text),
    forget: (of) => {
      documents.forget(of);
      questions.forget(of);
    },
    use: () => ({ ...use }),
    close: () => {
      closing ??= backlog.close().then(thread.close);
      return closing;
    },
  };
}

type Call = Omit<Embed, "id">;
type Answer = Exclude<FromWorker, FailedCall>;

/** Starts the model's worker. It keeps the process alive only while it has work. */
export function startWorker(): Worker {
  return new Worker(workerUrl());
}

/** A thread for the model that starts on the first call and again after a crash. */
function createModelThread(
  setup: Omit<Start, "kind" | "cacheDir">,
  spawn: () => Worker,
): ModelThread {
  const settled = new Set<Promise<unknown>>();
  const start = (): Start => ({ kind: "start", cacheDir: cacheDir(), ...setup });
  const calls = createWorkerCalls<Call, Answer>({ spawn, start, failed });
  return {
    embed: (text) => {
      const answer = calls.call({ kind: "embed", text });
      const done = answer.then(noop, noop).finally(() => settled.delete(done));
      settled.add(done);
      return answer.then(({ vector }) => vector);
    },
    busy: () => settled.size,
    idle: () => Promise.all(settled),
    close: async () => {
      await Promise.all(settled);
      await calls.end(failed("the model was closed"));
    },
  };
}

function failed(reason: string, cause?: unknown): SvcError {
  return new SvcError("embedding_failed", `${reason}; the call may be repeated`, {}, { cause });
}

function noop(): void {}

export type Start = {
  readonly kind: "start";
  readonly cacheDir: string;
  readonly model: EmbeddingModel;
  readonly threads: number;
  readonly maxTokens: number;
  /** The threads of one embedder have one model. */
  readonly shared: SharedSession;
  /** Whether other threads run before this one. */
  readonly givesWay?: boolean | undefined;
  /** Folder with the model's files; absent: the ones shipped with the program. */
  readonly modelRoot?: string | undefined;
};
export type Embed = { readonly kind: "embed"; readonly id: number; readonly text: string };

/** The worker's answer to each `embed`. `reason` never contains the text. */
export type FromWorker =
  | { readonly kind: "vector"; readonly id: number; readonly vector: Float32Array }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string };
