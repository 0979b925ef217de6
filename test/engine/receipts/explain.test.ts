import { describe, expect, test } from "bun:test";
import type { KeptReceipt } from "../../../src/domain/records/receipt.ts";
import type { CandidatePath } from "../../../src/domain/records/retrieval-record.ts";
import type { Adjustment } from "../../../src/domain/records/score.ts";
import type { ReceiptMaterial } from "../../../src/engine/receipts/api.ts";
import { type BuiltReceipt, buildReceipt } from "../../../src/engine/receipts/build.ts";
import { receiptChecksum, receiptText } from "../../../src/engine/receipts/codec.ts";
import { explainReceipt, reasonWords, scoreReasons } from "../../../src/engine/receipts/explain.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import { at } from "../../contract/samples.ts";
import { WEIGHTS } from "../retrieve/pool.ts";
import {
  ADAPTIVE_FUSION,
  aReceipt,
  aRetrieval,
  OPEN_FILTER,
  RELATIVE_FUSION,
  SURROUNDINGS,
} from "./retrievals.ts";

function kept(built: BuiltReceipt): KeptReceipt {
  const text = receiptText(built.receipt);
  return { ...built, text, checksum: receiptChecksum(text), createdAt: at(0) };
}

function explained(more: (material: ReceiptMaterial) => Partial<ReceiptMaterial> = () => ({})) {
  const material = aRetrieval({ seed: 8, found: 4, neighbours: 2, packed: 3 });
  return explainReceipt(kept(buildReceipt({ ...material, ...more(material) }, SURROUNDINGS)));
}

const NODE = asUuid("01900000-0000-7000-8000-00000000000a");
const OTHER = asUuid("01900000-0000-7000-8000-00000000000b");

describe("an explanation", () => {
  test("names every candidate once", () => {
    const strange = [1, 2, 3].map((digit) => asUuid(`01900000-0000-7000-8000-00000000000${digit}`));
    const explanation = explained(() => ({
      excluded: [
        {
          nodeId: strange[0]!,
          reason: "epistemic_filtered:hypothetical",
          compositeScore: undefined,
        },
        {
          nodeId: strange[1]!,
          reason: "result_limit",
          compositeScore: 0.2,
          semanticRelevance: 0.1,
        },
        { nodeId: strange[2]!, reason: "node_type_filtered:task", compositeScore: undefined },
      ],
    }));
    expect(explanation.inContext.map(({ place, rank }) => [place, rank])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(explanation.notInContext.map(({ stage, rank }) => [stage, rank])).toEqual([
      ["packing", 4],
      ["packing", 5],
      ["packing", 6],
      ["selection", undefined],
      ["filter", undefined],
      ["filter", undefined],
    ]);
    const ids = [...explanation.inContext, ...explanation.notInContext].map(({ nodeId }) => nodeId);
    expect(new Set(ids).size).toBe(9);
  });

  test("tells once what was left out twice, and not what came back another way", () => {
    const reason = "epistemic_filtered:hypothetical";
    const explanation = explained(({ results }) => ({
      excluded: [NODE, NODE, results[0]!.node.id].map((nodeId) => ({
        nodeId,
        reason,
        compositeScore: undefined,
      })),
    }));
    const filtered = explanation.notInContext.filter(({ stage }) => stage === "filter");
    expect(filtered.map(({ nodeId, code }) => [nodeId, code])).toEqual([[NODE, reason]]);
  });

  test("tells the filters of the request in plain words", () => {
    const { filters } = explained(() => ({
      filter: {
        ...OPEN_FILTER,
        scopes: ["personal", "project"],
        excludeNodeTypes: ["task"],
        sourceTypes: [],
        knowledgeAt: at(0),
        timeFrom: at(1),
        timeTo: at(2),
        eventTimeFrom: at(3),
        eventTimeTo: at(4),
      },
      retrievalMode: "explicit",
    }));
    expect(filters).toEqual([
      "only of scope personal, project",
      "only what was still valid after 2026-01-01T00:00:01.000000Z",
      "only what was valid by 2026-01-01T00:00:02.000000Z",
      "as of 2026-01-01T00:00:00.000000Z",
      "only what happened at 2026-01-01T00:00:03.000000Z or later",
      "only what happened at 2026-01-01T00:00:04.000000Z or earlier",
      "no memory of type task",
      "from no source at all",
      "also what is hypothetical, conditional, hardly sure or kept beyond its time",
    ]);
  });

  test("tells the limits of the request", () => {
    const { filters } = explained(({ metadata }) => ({
      metadata: { ...metadata, minScore: 0.25, resultLimit: 6, maxPerSource: 1, maxPerEvidence: 2 },
    }));
    expect(filters).toEqual([
      "a relevance of at least 0.25",
      "at most 6 results",
      "at most 1 result of one source with one text",
      "at most 2 results of one source",
    ]);
  });

  test("tells what each search found and which failed", () => {
    const { searches, notes } = explained(({ metadata }) => ({
      metadata: {
        ...metadata,
        candidatesGenerated: { GRAPH: 0, VECTOR: 0, LEXICAL: 4, PINNED: 0 },
        backendFailures: { VECTOR: "embedding_mismatch" },
        embeddingMismatch: true,
        reranker: "timeout",
        reformulation: "failed",
      },
    }));
    expect(searches).toContainEqual({ name: "VECTOR", found: 0, failure: "embedding_mismatch" });
    expect(searches).toContainEqual({ name: "LEXICAL", found: 4, failure: undefined });
    expect(notes).toEqual([
      "The stored vectors are of another model, so they were not searched.",
      "The reranker was too slow and was left out.",
      "Rewording the question failed.",
    ]);
  });

  test("says that a floor was not applied", () => {
    const { notes } = explained(({ metadata }) => ({
      results: [],
      bundle: { ...aRetrieval({ seed: 1, found: 0, neighbours: 0 }).bundle },
      metadata: { ...metadata, minScore: 0.5, minScoreSkipped: true },
    }));
    expect(notes).toEqual([
      "The least relevance was not applied: without the vector search none is known.",
    ]);
  });

  test("tells why a result was not packed", () => {
    const { notInContext } = explained(({ bundle, results }) => ({
      bundle: {
        ...bundle,
        blankIds: [results[3]!.node.id],
        folded: new Map([[results[4]!.node.id, results[0]!.node.id]]),
      },
    }));
    expect(notInContext.map(({ code }) => code)).toEqual(["blank_text", "folded", "token_budget"]);
    expect(notInContext.map(({ reason }) => reason.text)).toEqual([
      "has no text",
      "says nothing beyond memory",
      expect.stringMatching(
        /^did not fit beside what came before it: \d+ of 3996 tokens are used$/,
      ),
    ]);
    expect(notInContext[1]!.reason.memory).toBe(explained().inContext[0]!.nodeId);
  });
});

describe("a reason to leave something out", () => {
  const { receipt } = aReceipt({ seed: 1, found: 1, neighbours: 0 });
  const limited = {
    ...receipt,
    minScore: 0.3,
    resultLimit: 5,
    execution: {
      ...receipt.execution,
      parameters: { ...receipt.execution.parameters, maxPerSource: 1, maxPerEvidence: 2 },
    },
  };
  const scored = { nodeId: NODE, reason: "", score: 0.2, semanticRelevance: 0.123456 };

  test.each([
    ["below_threshold", "its relevance of 0.1235 is below 0.3"],
    ["source_limit", "the same text of the same source is among the results once already"],
    ["evidence_limit", "its source is among the results 2 times already"],
    ["result_limit", "no more than 5 results were asked for, and others are better"],
    [
      "one_sided",
      "it is contested or outdated, and the memory on the other side is not among the results",
    ],
    ["node_type_filtered:note", "memories of type note were not wanted"],
    ["source_type_filtered:tool_output", "memories from tool_output were not wanted"],
    ["lifecycle_filtered:superseded", "it is superseded"],
    ["epistemic_filtered:hypothetical", "it is hypothetical, which only the explicit mode shows"],
    ["retention_filtered:expired", "it was to be kept for a time that is over"],
    ["condition_filtered:unknown", "it holds under a condition that is not known to be true"],
    ["condition_filtered:expired", "it holds under a condition that is expired"],
    [
      "unverified_below_threshold:0.20<=0.30",
      "it is unverified, and its confidence of 0.20 is below 0.30",
    ],
    ["something_new:x", "something_new:x"],
  ])("%s reads: %s", (code, words) => {
    expect(reasonWords(code, limited, scored)).toBe(words);
  });

  test("compares scores where they are weighted", () => {
    const weighted = { ...limited, scoring: WEIGHTS };
    const item = { ...scored, semanticRelevance: undefined };
    expect(reasonWords("below_threshold", weighted, item)).toBe("its score of 0.2 is below 0.3");
  });
});

describe("a reason for a score", () => {
  const provenanceOf = (built: BuiltReceipt) => [...built.receipt.scoreProvenance.values()][0]!;
  const ranked = provenanceOf(aReceipt({ seed: 1, found: 3, neighbours: 0 }));
  const texts = (
    provenance: typeof ranked,
    paths: readonly CandidatePath[],
    nodeId: Uuid = provenance.baseNodeId,
  ) => scoreReasons({ nodeId }, provenance, paths).map(({ text }) => text);

  const SIGNALS = { ...ranked.trace, semanticSimilarity: 0.71, lexicalRelevance: 0.5 };
  const PLAIN = {
    kind: "rrf" as const,
    semanticRank: 3,
    lexicalRank: undefined,
    epistemicFactor: 1,
    nodeTypeFactor: 1,
    temporalFactor: 1,
    recencyBoostFactor: undefined,
    tieBreak: 5e-12,
  };

  test("is the rank in each search that found it", () => {
    const both = { ...ranked, trace: SIGNALS, fusion: { ...PLAIN, lexicalRank: 2 } };
    expect(texts(both, ["VECTOR", "LEXICAL"])).toEqual([
      "vector search: rank 3 (cosine 0.71)",
      "word search: rank 2 (relative BM25 0.5)",
    ]);
    expect(texts({ ...both, fusion: PLAIN }, ["VECTOR"])).toEqual([
      "vector search: rank 3 (cosine 0.71)",
    ]);
  });

  test("tells a search that found it from one that it was only compared with", () => {
    const both = { ...ranked, trace: SIGNALS, fusion: { ...PLAIN, lexicalRank: 2 } };
    expect(texts(both, ["LEXICAL"])[0]).toBe(
      "compared with the vector search: rank 3 (cosine 0.71)",
    );
  });

  test("is the share of the best under relative fusion", () => {
    const relative = provenanceOf(
      aReceipt({ seed: 1, found: 3, neighbours: 0, weights: RELATIVE_FUSION }),
    );
    const fusion = { ...PLAIN, kind: "relative" as const, semantic: 0.9, lexical: 0.25 };
    expect(texts({ ...relative, trace: SIGNALS, fusion }, ["VECTOR", "LEXICAL"])).toEqual([
      "vector search: 0.9 of the best (cosine 0.71)",
      "word search: 0.25 of the best (relative BM25 0.5)",
    ]);
  });

  test("says under adaptive fusion how much the words count", () => {
    const adaptive = provenanceOf(
      aReceipt({ seed: 1, found: 3, neighbours: 0, weights: ADAPTIVE_FUSION }),
    );
    const fusion = {
      ...PLAIN,
      kind: "adaptive" as const,
      coverage: 0.125,
      certainty: 0,
      semantic: 0.9,
      lexical: 0.25,
    };
    // A quarter of the coverage that counts in full leaves a quarter of 0.4 beside 0.6.
    expect(texts({ ...adaptive, trace: SIGNALS, fusion }, ["VECTOR", "LEXICAL"])).toEqual([
      "vector search: 0.9 of the best (cosine 0.71)",
      "word search: 0.25 of the best (relative BM25 0.5)",
      "the best hit of the word search explains 0.125 of the question, so words count 0.1429 of the score",
    ]);
    const certain = { ...fusion, certainty: 0.8 };
    // 0.8 of 0.4 for the words beside 0.6, of which 0.8 of three quarters are lost.
    expect(texts({ ...adaptive, trace: SIGNALS, fusion: certain }, ["VECTOR"]).at(-1)).toBe(
      "the best hit of the word search explains 0.125 of the question and its words point to a few memories (certainty 0.8), so words count 0.5714 of the score",
    );
  });

  test("is each summand of a weighted score", () => {
    const weighted = {
      ...provenanceOf(aReceipt({ seed: 1, found: 3, neighbours: 0, weights: WEIGHTS })),
      trace: {
        ...SIGNALS,
        graphProximity: 0,
        recencyFactor: 0.5,
        salience: 0,
        confidence: 0.8,
        epistemicWeight: 0.9,
        temporalAffinity: 0.4,
        nodeTypeBoost: 1.15,
      },
    };
    expect(texts(weighted, ["VECTOR"])).toEqual([
      "cosine 0.71, weighed 0.3: 0.213",
      "relative BM25 0.5, weighed 0.15: 0.075",
      "recency 0.5, weighed 0.1: 0.05",
      "confidence 0.8, weighed 0.15: 0.12",
      "times 0.9 for how it is known",
      "plus 0.06 for fitting the time of the question",
      "times 1.15 for its type",
    ]);
    const faint = { ...weighted.trace, semanticSimilarity: 0.1, lexicalRelevance: 0.1 };
    expect(texts({ ...weighted, trace: faint }, ["VECTOR"]).at(-1)).toBe(
      "no more than 0.2: cosine and words together stay below 0.35",
    );
  });

  test("is the way through the graph, and a claim of its own", () => {
    const near = {
      ...ranked,
      trace: { ...SIGNALS, graphProximity: 0.7 },
      fusion: { ...PLAIN, semanticRank: undefined },
    };
    expect(texts(near, ["GRAPH", "PINNED"])).toEqual([
      "found in the graph, two steps from a name in the question",
      "it is pinned, of full salience from the start or an open task, which always is a candidate",
    ]);
  });

  test("is each factor that lowered it", () => {
    const fusion = {
      ...PLAIN,
      semanticRank: undefined,
      epistemicFactor: 0.78,
      nodeTypeFactor: 0.87,
      temporalFactor: 0.95,
      recencyBoostFactor: 0.8,
      speakerFactor: 0.9,
    };
    expect(texts({ ...ranked, trace: SIGNALS, fusion }, [])).toEqual([
      "times 0.78: it is less certain than others",
      "times 0.87: its type counts less",
      "times 0.95: others fit the time of the question better",
      "times 0.8: the question is about the present, and others are newer",
      "times 0.9: somebody other than the question names said it",
    ]);
  });

  const steps: readonly { readonly step: Partial<Adjustment>; readonly says: string }[] = [
    {
      step: { kind: "neural_blend", coefficient: 0.3, neuralScore: 0.81 },
      says: "the reranker gave 0.81, and the former score counts 0.3",
    },
    {
      step: { kind: "neural_rank_assignment", coefficient: 0.9 },
      says: "the reranker decided its place, and so its score of 0.9",
    },
    {
      step: { kind: "current_update", coefficient: 1.3 },
      says: "times 1.3: the newest memory, and it speaks of a change",
    },
    {
      step: { kind: "session_decay", coefficient: 0.6, sourceNodeId: OTHER },
      says: "neighbour in the conversation, with 0.6 of the score of memory",
    },
    {
      step: { kind: "episode_decay", coefficient: 0.95 },
      says: "of a conversation that fits as a whole, with 0.95 of the score of another memory",
    },
    {
      step: { kind: "evidence_projection", coefficient: 1, sourceNodeId: OTHER },
      says: "stands for what was made of it, with 1 of the score of memory",
    },
    {
      step: { kind: "evidence_augmentation", coefficient: 0.99, sourceNodeId: OTHER },
      says: "source of what was found, with 0.99 of the score of memory",
    },
  ];

  test.each([...steps])("is the adjustment: $says", ({ step, says }) => {
    const full = {
      coefficient: 1,
      neuralScore: undefined,
      sourceNodeId: undefined,
      ...step,
    } as Adjustment;
    const reasons = scoreReasons({ nodeId: NODE }, { ...ranked, adjustments: [full] }, []);
    expect(reasons).toEqual([{ text: says, memory: full.sourceNodeId }]);
  });

  test("of a neighbour does not repeat the ranks of what brought it", () => {
    expect(texts(ranked, ["SESSION_CONTEXT"], NODE)).toEqual([]);
    expect(texts(ranked, ["VECTOR", "LEXICAL", "SESSION_CONTEXT"], NODE)).toEqual([
      "found by the vector search and the word search too, with a lower score of its own",
    ]);
  });
});
