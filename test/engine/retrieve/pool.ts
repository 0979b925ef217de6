import type { MemoryNode } from "../../../src/domain/node.ts";
import type { ResultCandidate } from "../../../src/engine/results.ts";
import type { Candidate } from "../../../src/engine/retrieve/merge.ts";
import { aNode, anEvent } from "../../contract/samples.ts";

/** A candidate of the searches; a signal that is given puts it on that search's list. */
export function aCandidate(
  key: number,
  signals: { readonly semantic?: number; readonly lexical?: number },
  given: Partial<MemoryNode> = {},
): Candidate {
  return {
    key,
    node: aNode(anEvent(), given),
    paths: [
      ...(signals.semantic === undefined ? [] : (["VECTOR"] as const)),
      ...(signals.lexical === undefined ? [] : (["LEXICAL"] as const)),
    ],
    semantic: signals.semantic,
    lexical: signals.lexical,
  };
}

/** A scored candidate that both searches found. */
export function aResult(
  key: number,
  compositeScore: number,
  given: Partial<MemoryNode> = {},
  more: Partial<ResultCandidate> = {},
): ResultCandidate {
  return {
    key,
    node: aNode(anEvent(), given),
    compositeScore,
    pathScore: 2 / 3,
    paths: ["VECTOR", "LEXICAL"],
    semanticRelevance: 0.5,
    trace: undefined,
    ...more,
  };
}
