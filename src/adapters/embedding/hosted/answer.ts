import { unitLength } from "../unit-length.ts";

/** What an answer has to hold. */
export type Expected = { readonly count: number; readonly dimension: number };

/** An answer that does not hold what was asked for. The message says what is wrong with it and contains nothing of it. */
export class UnfitAnswerError extends Error {}

/** A number as JSON, with a comma and blanks. */
const BYTES_PER_NUMBER = 40;
/** Everything else in an answer. */
const FRAME_BYTES = 64 * 1024;

/** Bytes that an answer may have. */
export function answerLimit({ count, dimension }: Expected): number {
  return FRAME_BYTES + count * dimension * BYTES_PER_NUMBER;
}

/** Lists and objects around one vector, and around all. */
const OPENINGS_PER_VECTOR = 8;
const FRAME_OPENINGS = 64;

/** Lists and objects that an answer may have. */
export function openingsLimit({ count }: Pick<Expected, "count">): number {
  return FRAME_OPENINGS + count * OPENINGS_PER_VECTOR;
}

/**
 * The vectors of an answer in the form of the OpenAI protocol, in the order of the texts, with length 1.
 * @throws UnfitAnswerError if they are not as many as asked for, of another dimension, or no finite numbers
 */
export function readVectors(text: string, { count, dimension }: Expected): Float32Array[] {
  const entries = entriesOf(text);
  if (entries.length !== count) {
    throw new UnfitAnswerError(`answered with ${entries.length} vectors for ${count} texts`);
  }
  const vectors: Float32Array[] = [];
  for (const [at, entry] of entries.entries()) {
    const index = indexOf(entry) ?? at;
    if (index >= count || vectors[index] !== undefined) {
      throw new UnfitAnswerError("answered with vectors whose order is not clear");
    }
    vectors[index] = toVector(entry, dimension);
  }
  return vectors;
}

function entriesOf(text: string): readonly unknown[] {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new UnfitAnswerError("answered with no JSON: is the address right?");
  }
  if (typeof answer === "object" && answer !== null && "data" in answer) {
    if (Array.isArray(answer.data)) return answer.data;
  }
  throw new UnfitAnswerError("answered without vectors: is it a model for embeddings?");
}

function indexOf(entry: unknown): number | undefined {
  if (typeof entry !== "object" || entry === null || !("index" in entry)) return undefined;
  const { index } = entry;
  return typeof index === "number" && Number.isInteger(index) && index >= 0 ? index : undefined;
}

function toVector(entry: unknown, dimension: number): Float32Array {
  const values =
    typeof entry === "object" && entry !== null && "embedding" in entry ? entry.embedding : null;
  if (!Array.isArray(values))
    throw new UnfitAnswerError("answered with something else than vectors");
  if (values.length !== dimension) {
    throw new UnfitAnswerError(
      `answered with vectors of ${values.length} numbers instead of ${dimension}: set embedding.dimension to what the model has`,
    );
  }
  if (!values.every((value) => typeof value === "number" && Number.isFinite(value))) {
    throw new UnfitAnswerError("answered with a vector that is not made of finite numbers");
  }
  try {
    return unitLength(Float32Array.from(values));
  } catch {
    throw new UnfitAnswerError("answered with a vector that has no direction");
  }
}
