import type { EmbedText } from "../remember.ts";

/** The vectors of some texts in their order, or why one has none. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly (Float32Array | Error)[]>;

/** Texts and UTF-16 units in one request: few enough to be answered soon, enough to share its way. */
const MAX_TEXTS = 64;
const MAX_UNITS = 32_768;
/** Requests at a time. */
const MAX_OPEN = 2;

type Waiting = {
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: unknown) => void;
};

/** Gathers texts that wait at the same moment into requests. */
export function gathering(embed: EmbedTexts): EmbedText {
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
      // After the calls of this moment, so that they go together.
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
