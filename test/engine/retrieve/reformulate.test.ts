import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import type { Candidate } from "../../../src/engine/retrieve/candidates.ts";
import {
  alternatives,
  cleanAlternatives,
  mergeMaxSignals,
  mergeNewOnly,
} from "../../../src/engine/retrieve/models.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import type { LanguageModel, ModelRequest } from "../../../src/ports/models.ts";
import { nodeKeys } from "../../node-keys.ts";
import { aCandidate } from "./pool.ts";

const QUERY = "Where does Ann work?";

/** A language model that gives this answer, and keeps what it was asked. */
function answering(answer: () => JsonObject | Promise<JsonObject>) {
  const requests: ModelRequest[] = [];
  const languageModel: LanguageModel = {
    provider: "test",
    model: "test-model",
    answer: async (request) => {
      requests.push(request);
      return answer();
    },
  };
  return { languageModel, requests };
}

const ask = (languageModel: LanguageModel, timeoutMs = 5000, signal?: AbortSignal) => {
  const warnings: string[] = [];
  const deps = {
    languageModel,
    settings: { count: 2, mergePolicy: "new_only" as const, timeoutMs },
    warn: (line: string) => void warnings.push(line),
  };
  return alternatives(deps, QUERY, signal).then((result) => ({ ...result, warnings }));
};

describe("cleanAlternatives", () => {
  test.each([
    { name: "keeps the first ones", proposed: ["a", "b", "c"], kept: ["a", "b"] },
    { name: "drops blank ones", proposed: ["", "  ", "a"], kept: ["a"] },
    {
      name: "drops repeats in another case",
      proposed: ["Ann job", "ann JOB ", "b"],
      kept: ["Ann job", "b"],
    },
    { name: "drops the question", proposed: [" where does ann work? ", "a"], kept: ["a"] },
    { name: "trims", proposed: ["  ann job\n"], kept: ["ann job"] },
    { name: "keeps none of none", proposed: [], kept: [] },
  ])("$name", ({ proposed, kept }) => {
    expect(cleanAlternatives(QUERY, proposed, 2)).toEqual(kept);
  });
});

describe("alternatives", () => {
  test("come from one call that asks for the form and for as many as are wanted", async () => {
    const { languageModel, requests } = answering(() => ({ queries: ["ann employer", "ann job"] }));
    const result = await ask(languageModel);
    expect(result).toEqual({
      queries: ["ann employer", "ann job"],
      outcome: "applied",
      warnings: [],
    });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ timeoutMs: 5000, schemaRetries: 2, temperature: 0 });
    expect(requests[0]?.system).toContain("2 different search queries");
    expect(requests[0]?.system).not.toContain(QUERY);
    expect(requests[0]?.prompt).toContain(JSON.stringify(QUERY));
  });

  test("may be none, which is no failure", async () => {
    const { languageModel } = answering(() => ({ queries: [QUERY, ""] }));
    expect(await ask(languageModel)).toEqual({ queries: [], outcome: "applied", warnings: [] });
  });

  test.each([
    { name: "no list", answer: { queries: "ann" } },
    { name: "a list of other things", answer: { queries: ["ann", 7] } },
    { name: "something else", answer: {} },
  ])("are none when the model gives $name", async ({ answer }) => {
    const { languageModel } = answering(() => answer);
    expect(await ask(languageModel)).toMatchObject({ queries: [], outcome: "failed" });
  });

  test("are none when the model fails, which is said without any text", async () => {
    const { languageModel } = answering(() => {
      throw new SvcError("model_failed", `it said ${QUERY}`);
    });
    expect(await ask(languageModel)).toEqual({
      queries: [],
      outcome: "failed",
      warnings: ["the question was not put in other words (failed: model_failed)"],
    });
  });

  test("are none after the limit, whoever notices it first", async () => {
    const { languageModel: silent } = answering(() => new Promise<never>(() => {}));
    expect(await ask(silent, 30)).toMatchObject({ queries: [], outcome: "timeout" });
    const { languageModel: late } = answering(() => {
      throw new SvcError("model_timeout", "too late");
    });
    expect(await ask(late)).toMatchObject({ queries: [], outcome: "timeout" });
  });

  test("end with the caller's reason when the caller gives up", async () => {
    const { languageModel, requests } = answering(() => ({ queries: [] }));
    const reason = new Error("never mind");
    const ending = await ask(languageModel, 5000, AbortSignal.abort(reason)).catch((e) => e);
    expect(ending).toBe(reason);
    expect(requests).toEqual([]);
  });
});

describe("mergeNewOnly", () => {
  test("appends what the alternatives found besides, once, with its own signals", () => {
    const known = aCandidate(1, { semantic: 0.2 });
    const again = { ...known, semantic: 0.9 };
    const fresh = aCandidate(2, { lexical: 1 });
    const later = { ...fresh, lexical: 0.1 };
    const last = aCandidate(3, { semantic: 0.4 });
    const result = mergeNewOnly(
      [known],
      [
        [again, fresh],
        [later, last],
      ],
    );
    expect(result).toEqual([known, fresh, last]);
    expect(result[0]).toBe(known);
  });
});

describe("mergeMaxSignals", () => {
  const candidatesOf = (result: ReturnType<typeof mergeMaxSignals>): readonly Candidate[] => {
    if ("problem" in result) throw new Error(result.problem);
    return result.candidates;
  };

  test("takes all paths and the largest of each signal", () => {
    const known = aCandidate(1, { semantic: 0.2, lexical: 0.9 });
    const again: Candidate = {
      ...known,
      paths: ["GRAPH"],
      semantic: 0.7,
      lexical: 0.1,
      graph: 0.4,
    };
    expect(candidatesOf(mergeMaxSignals([known], [[again]]))).toEqual([
      { ...known, paths: ["GRAPH", "LEXICAL", "VECTOR"], semantic: 0.7, lexical: 0.9, graph: 0.4 },
    ]);
  });

  test("keeps a signal that only one of them has", () => {
    const known = aCandidate(1, { semantic: 0.2 });
    const again: Candidate = { ...known, paths: ["LEXICAL"], semantic: undefined, lexical: 0 };
    const [joined] = candidatesOf(mergeMaxSignals([known], [[again]]));
    expect(joined).toMatchObject({ semantic: 0.2, lexical: 0, paths: ["LEXICAL", "VECTOR"] });
  });

  test("appends what is new in the order in which it first occurs", () => {
    const [a, b, c] = [1, 2, 3].map((key) => aCandidate(key, { semantic: 0.1 * key }));
    const keys = candidatesOf(
      mergeMaxSignals(
        [a!],
        [
          [c!, a!],
          [b!, c!],
        ],
      ),
    ).map(({ key }) => key);
    expect(keys).toEqual(nodeKeys(1, 3, 2));
  });

  test("refuses two states of one memory", () => {
    const known = aCandidate(1, {});
    const changed = { ...known, node: { ...known.node, confidence: 0.123 } };
    expect(mergeMaxSignals([known], [[changed]])).toEqual({ problem: "node_changed" });
    const copied = { ...known, node: structuredClone(known.node) };
    expect(candidatesOf(mergeMaxSignals([known], [[copied]]))).toHaveLength(1);
  });

  test.each([
    { name: "a cosine", signals: { semantic: Number.NaN } },
    { name: "a lexical score", signals: { lexical: Number.POSITIVE_INFINITY } },
    { name: "a proximity", signals: { graph: Number.NaN } },
  ])("refuses $name that is no finite number", ({ signals }) => {
    const broken = { ...aCandidate(1, {}), ...signals };
    expect(mergeMaxSignals([], [[broken]])).toEqual({ problem: "signal_not_finite" });
  });
});
