import { providerAddress, statusInWords } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import type { HostedModel } from "../../domain/hosted-models.ts";
import { isJsonObject } from "../../lib/json.ts";
import { pause, untilAborted } from "../../lib/pause.ts";
import type { Embedder } from "../../ports/models.ts";
import { boundedText, Oversized, reach, throughProxy } from "../network/reach.ts";
import { identityOf } from "./local-embedder.ts";
import { type EmbedText, noUse, remembering, unitLength } from "./remember.ts";

export type HostedEmbedderOptions = RequestOptions & {
  /** Texts are cut to four bytes per token. Another value changes the identity, as for local models. */
  readonly maxTokens?: number | undefined;
  /** Milliseconds for one answer, retries included. */
  readonly timeoutMs: number;
  /** Milliseconds without a request after a failure. Default 30 seconds. */
  readonly restMs?: number | undefined;
  /** Receives why vectors are missing, at most once per pause; neither key nor text. */
  readonly warn?: ((message: string) => void) | undefined;
};

const DEFAULT_MAX_TOKENS = 256;
const BYTES_PER_TOKEN = 4;
/** A person waits for the answer to a question, which word search can still give. */
const QUESTION_MS = 10_000;
const REST_MS = 30_000;

/**
 * An embedder that sends texts to a server with the OpenAI protocol. Texts waiting at the same time share a request. After a failure, calls
 * fail at once for a while, so that stores and questions do not each wait for a server that is down. Nothing is sent before the first call.
 */
export function createHostedEmbedder(options: HostedEmbedderOptions): Embedder {
  const { model, timeoutMs, maxTokens = DEFAULT_MAX_TOKENS, restMs = REST_MS } = options;
  const ask = createRequests(options);
  const closing = new AbortController();
  let failed: { readonly error: RequestFailure; readonly until: number } | undefined;

  const send = async (texts: readonly string[], limitMs: number) => {
    if (failed !== undefined && performance.now() < failed.until) throw failed.error;
    try {
      const vectors = await ask(texts, { timeoutMs: limitMs, signal: closing.signal });
      failed = undefined;
      return vectors;
    } catch (error) {
      if (error instanceof RequestFailure && !error.refusesTexts) {
        const isTold = failed !== undefined && performance.now() < failed.until;
        failed = { error, until: performance.now() + restMs };
        if (!isTold) options.warn?.(`memories are found by words only for now: ${error.message}`);
      }
      throw error;
    }
  };

  const sendAll = (texts: readonly string[]) => send(texts, timeoutMs);
  const embedQuestion = async (text: string): Promise<Float32Array> => {
    const limitMs = Math.min(timeoutMs, QUESTION_MS);
    const [vector] = await send([model.questionPrefix + text], limitMs);
    if (vector === undefined) throw new RangeError("a question without a vector");
    return vector;
  };
  const cut = (text: string) => firstBytes(text, maxTokens * BYTES_PER_TOKEN);
  const isClosed = () => closing.signal.aborted;
  const use = noUse();
  const gathered = gathering((texts) => oneByOne(sendAll, texts));
  const documents = remembering(
    (text) => orFailed(gathered(model.documentPrefix + cut(text))),
    isClosed,
    use,
  );
  const questions = remembering((text) => orFailed(embedQuestion(cut(text))), isClosed, use);

  return {
    identity: identityOf(model, maxTokens),
    maxTokens,
    embedDocument: documents.embed,
    embedQuery: questions.embed,
    forget: (of) => {
      documents.forget(of);
      questions.forget(of);
    },
    use: () => ({ ...use }),
    close: async () => {
      closing.abort(new SvcError("engine_closed", "the embedder was closed"));
    },
  };
}

/** @throws SvcError embedding_failed, engine_closed */
async function orFailed(vector: Promise<Float32Array>): Promise<Float32Array> {
  try {
    return await vector;
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const message = error instanceof RequestFailure ? error.message : "a text has no vector";
    throw new SvcError("embedding_failed", message);
  }
}

/** Sends texts together, or each alone if the server rejects them, so that one bad text does not fail the others. */
async function oneByOne(
  send: (texts: readonly string[]) => Promise<readonly Float32Array[]>,
  texts: readonly string[],
): Promise<readonly (Float32Array | Error)[]> {
  try {
    return await send(texts);
  } catch (error) {
    if (texts.length === 1 || !isRefusal(error)) throw error;
  }
  const results: (Float32Array | Error)[] = [];
  for (const text of texts) {
    try {
      results.push(...(await send([text])));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      results.push(error);
    }
  }
  return results;
}

function isRefusal(error: unknown): error is RequestFailure {
  return error instanceof RequestFailure && error.refusesTexts;
}

/** The beginning of a text, up to this many bytes of UTF-8 and without half a character. */
function firstBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** The vectors of some texts in order, or why one has none. */
type EmbedTexts = (texts: readonly string[]) => Promise<readonly (Float32Array | Error)[]>;

/** Texts and UTF-16 units per request: few enough for a quick answer, enough to share a round trip. */
const MAX_TEXTS = 64;
const MAX_UNITS = 32_768;
const MAX_OPEN = 2;

type Waiting = {
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: unknown) => void;
};

/** Batches texts that wait at the same time into requests. */
function gathering(embed: EmbedTexts): EmbedText {
  const waiting: Waiting[] = [];
  let open = 0;

  const send = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const vectors = await embed(batch.map(({ text }) => text));
      for (const [at, { resolve, reject }] of batch.entries()) {
        const vector = vectors[at];
        if (vector instanceof Float32Array) resolve(vector);
        else reject(vector ?? new RangeError("a text without a vector"));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const pump = (): void => {
    while (open < MAX_OPEN && waiting.length > 0) {
      open += 1;
      void send(takeBatch(waiting)).finally(() => {
        open -= 1;
        pump();
      });
    }
  };

  return (text) =>
    new Promise((resolve, reject) => {
      waiting.push({ text, resolve, reject });
      // After the current calls, so that they go together.
      if (waiting.length === 1) queueMicrotask(() => queueMicrotask(pump));
    });
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  let units = 0;
  let count = 0;
  for (const { text } of waiting) {
    units += text.length;
    if (count === MAX_TEXTS || (count > 0 && units > MAX_UNITS)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

type RequestOptions = {
  readonly model: HostedModel;
  /** Default: the provider's own address. */
  readonly baseUrl?: string | undefined;
  /** If undefined, `openai` rejects every call without using the network, unless `baseUrl` names another server. */
  readonly apiKey?: string | undefined;
  /** Milliseconds before the first retry, doubled before the next. Default 500. */
  readonly pauseMs?: number | undefined;
};

type AskVectors = (
  texts: readonly string[],
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<readonly Float32Array[]>;

/** Why there are no vectors: a message for a person, without key and text. */
class RequestFailure extends Error {
  /** Whether the server rejected the texts themselves, such as one too long for the model. */
  readonly refusesTexts: boolean;

  constructor(message: string, refusesTexts = false) {
    super(message);
    this.refusesTexts = refusesTexts;
  }
}

const RETRIES = 2;
const RETRIED = [408, 409, 429];
const REFUSES_TEXTS = [400, 413, 422];
const PAUSE_MS = 500;

/**
 * Requests to one model. The time limit of each covers retries after lost connections and status 408, 409, 429 and 5xx. Answers are limited
 * to the size of the vectors. Rejects with `RequestFailure`, or the reason of the signal.
 */
function createRequests(options: RequestOptions): AskVectors {
  const { model, apiKey } = options;
  const { provider, name, dimension } = model;
  const address = providerAddress(provider, options.baseUrl);
  const whose = `${provider} (${name})${throughProxy(address)}`;
  const isKeyless = apiKey === undefined && options.baseUrl === undefined && provider === "openai";

  const attempt = async (texts: readonly string[], signal: AbortSignal): Promise<Answer> => {
    const body = {
      model: name,
      input: texts.map((text) => text.toWellFormed()),
      encoding_format: "float",
      ...(model.isShortened ? { dimensions: dimension } : {}),
    };
    const response = await reach(`${address}/embeddings`, {
      method: "POST",
      // The key is for this address.
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "accept-encoding": "identity",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal,
    });
    const { status, headers } = response;
    return {
      status,
      headers,
      text: await boundedText(response, boundsOf(texts.length, dimension)),
    };
  };

  return async (texts, { timeoutMs, signal }) => {
    if (isKeyless) {
      throw new RequestFailure(`${whose} needs a key: set embedding.api_key, or OPENAI_API_KEY`);
    }
    const deadline = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, deadline]);
    try {
      const answer = await untilGood(
        () => untilAborted(attempt(texts, either), either),
        options.pauseMs ?? PAUSE_MS,
        either,
      );
      return readVectors(answer, texts.length, dimension);
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) {
        throw new RequestFailure(`${whose} did not answer within ${timeoutMs / 1000} seconds`);
      }
      if (!(error instanceof RequestFailure)) throw error;
      throw new RequestFailure(`${whose} ${error.message}`, error.refusesTexts);
    }
  };
}

/** A server's answer. The text is empty unless the status is 200. */
type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** The text of the first successful answer. @throws RequestFailure after the last retry */
async function untilGood(
  attempt: () => Promise<Answer>,
  pauseMs: number,
  signal: AbortSignal,
): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    const answer = await attempt().catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof Oversized) {
        throw new RequestFailure("answered with far more than vectors");
      }
      // The connection failed. The network's own error may name the address, with credentials in it.
      return undefined;
    });
    if (answer?.status === 200) return answer.text;
    const isRetried =
      answer === undefined || answer.status >= 500 || RETRIED.includes(answer.status);
    if (tries === RETRIES || !isRetried) throw refusalOf(answer?.status);
    await pause(waitBefore(answer, pauseMs * 2 ** tries), signal);
  }
}

function refusalOf(status: number | undefined): RequestFailure {
  if (status === undefined) {
    return new RequestFailure("cannot be reached: check the network and the address");
  }
  if (!REFUSES_TEXTS.includes(status)) return new RequestFailure(statusInWords(status));
  const message = `refused the request (status ${status}): embedding.max_tokens may be more than the model reads, or the model none for embeddings`;
  return new RequestFailure(message, true);
}

/** Milliseconds before a retry: as the server says, or the given time. */
function waitBefore(answer: Answer | undefined, milliseconds: number): number {
  const seconds = Number(answer?.headers.get("retry-after") ?? Number.NaN);
  const wait = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : milliseconds;
  return Math.min(wait, MAX_WAIT_MS);
}

/** Longer than any time limit, but not too long for a timer. */
const MAX_WAIT_MS = 3_600_000;

/** Bytes of a JSON number with comma and blanks; and of the rest of an answer. */
const BYTES_PER_NUMBER = 40;
const FRAME_BYTES = 64 * 1024;
/** Nesting levels of one vector, and of all. */
const OPENINGS_PER_VECTOR = 8;
const FRAME_OPENINGS = 64;

function boundsOf(count: number, dimension: number) {
  return {
    bytes: FRAME_BYTES + count * dimension * BYTES_PER_NUMBER,
    openings: FRAME_OPENINGS + count * OPENINGS_PER_VECTOR,
  };
}

/**
 * The vectors of an OpenAI-protocol answer, in the order of the texts, with length 1.
 * @throws RequestFailure if their number or dimension is wrong, or a number is not finite; without any content
 */
function readVectors(text: string, count: number, dimension: number): Float32Array[] {
  const entries = entriesOf(text);
  if (entries.length !== count) {
    throw new RequestFailure(`answered with ${entries.length} vectors for ${count} texts`);
  }
  const vectors: Float32Array[] = [];
  for (const [at, entry] of entries.entries()) {
    const { index, embedding } = isJsonObject(entry) ? entry : {};
    const place = typeof index === "number" ? index : at;
    if (!(place in entries) || vectors[place] !== undefined) {
      throw new RequestFailure("answered with vectors whose order is not clear");
    }
    vectors[place] = toVector(embedding, dimension);
  }
  return vectors;
}

function entriesOf(text: string): readonly unknown[] {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new RequestFailure("answered with no JSON: is the address right?");
  }
  const data = isJsonObject(answer) ? answer["data"] : undefined;
  if (Array.isArray(data)) return data;
  throw new RequestFailure("answered without vectors: is it a model for embeddings?");
}

function toVector(values: unknown, dimension: number): Float32Array {
  if (!Array.isArray(values)) throw new RequestFailure("answered with something else than vectors");
  if (values.length !== dimension) {
    const message = `answered with vectors of ${values.length} numbers instead of ${dimension}: set embedding.dimension to what the model has`;
    throw new RequestFailure(message);
  }
  if (!values.every((value) => typeof value === "number" && Number.isFinite(value))) {
    throw new RequestFailure("answered with a vector that is not made of finite numbers");
  }
  try {
    return unitLength(Float32Array.from(values));
  } catch {
    throw new RequestFailure("answered with a vector that has no direction");
  }
}
