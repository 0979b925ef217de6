import { invalid } from "../../domain/errors.ts";
import type {
  ResultCandidate,
  RetrievalResponse,
  RetrieveInput,
} from "../../engine/retrieve/api.ts";

/** A question to several namespaces. */
export type WorkspaceQuestion = Omit<RetrieveInput, "weights"> & {
  /** The weight of each namespace that is asked, above 0: its share of the token budget, and a factor on its scores. */
  readonly namespaces: Readonly<Record<string, number>>;
};

export type WorkspaceResult = {
  readonly namespace: string;
  /** The score in its own pack times the weight of the namespace. */
  readonly score: number;
  readonly candidate: ResultCandidate;
};

export type WorkspaceAnswer = {
  /** Of all namespaces, best first, ties by the order in which these were named; at most `limit`. */
  readonly results: readonly WorkspaceResult[];
  /** What each namespace answered, with its own context, in the order in which they were named. */
  readonly responses: ReadonlyMap<string, RetrievalResponse>;
};

/**
 * Asks every namespace and orders all results by weighted score.
 * @param tokenBudget of the question without one
 * @throws SvcError invalid_argument without a namespace, or for a weight that is not above 0
 */
export async function askNamespaces(
  { namespaces, ...input }: WorkspaceQuestion,
  tokenBudget: number,
  ask: (name: string, input: RetrieveInput) => Promise<RetrievalResponse>,
): Promise<WorkspaceAnswer> {
  const weighted = Object.entries(namespaces);
  if (weighted.length === 0) throw invalid("namespaces", "must name at least one");
  for (const [name, weight] of weighted) {
    if (!(Number.isFinite(weight) && weight > 0)) {
      throw invalid("namespaces", `must have a weight above 0 for ${JSON.stringify(name)}`);
    }
  }
  const whole = weighted.reduce((sum, [, weight]) => sum + weight, 0);
  const budget = input.tokenBudget ?? tokenBudget;
  const answers = await Promise.all(
    weighted.map(async ([name, weight]) => {
      const share = { ...input, tokenBudget: Math.floor((budget * weight) / whole) };
      return [name, weight, await ask(name, share)] as const;
    }),
  );
  const results = answers
    .flatMap(([namespace, weight, { results: own }]) =>
      own.map((candidate) => ({ namespace, candidate, score: candidate.compositeScore * weight })),
    )
    .sort((a, b) => b.score - a.score);
  return {
    results: results.slice(0, input.limit ?? results.length),
    responses: new Map(answers.map(([name, , response]) => [name, response])),
  };
}
