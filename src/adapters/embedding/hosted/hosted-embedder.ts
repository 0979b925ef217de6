import { SvcError } from "../../../domain/errors.ts";
import type { Embedder } from "../../../ports/models.ts";
import { identityOf } from "../local-embedder.ts";
import { noUse, remembering } from "../remember.ts";
import { gathering } from "./batches.ts";
import { createRequests, RequestFailure, type RequestOptions } from "./requests.ts";

/** Settings of {@link createHostedEmbedder}. */
export type HostedEmbedderOptions = RequestOptions & {
  /** Texts are cut to four bytes for each. Another value gives another identity, as for local models. */
  readonly maxTokens?: number | undefined;
  /** Milliseconds for one answer, retries included. */
  readonly timeoutMs: number;
  /** Milliseconds without a request after one that failed. Default 30 seconds. */
  readonly restMs?: number | undefined;
  /** Is told why vectors are missing, at most once for each rest. Contains neither key nor text. */
  readonly warn?: ((message: string) => void) | undefined;
};

const DEFAULT_MAX_TOKENS = 256;
const BYTES_PER_TOKEN = 4;
/** A person waits for the answer to a question, which can be given by words. */
const QUESTION_MS = 10_000;
const REST_MS = 30_000;

/**
 * An embedder that asks a server with the OpenAI protocol, to which texts are sent. Texts that wait at the same moment share a
 * request. After a failure nothing is sent for a while: calls then fail at once, so that stores and questions do not each wait
 * for a server that is down. Nothing is sent before the first call.
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

/** Sends texts together, or each alone if the server refuses them: one that it refuses does not take its neighbours with it. */
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

/** The beginning of a text, up to that many bytes of UTF-8 and without half a character. */
function firstBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
