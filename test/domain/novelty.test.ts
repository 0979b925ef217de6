import { describe, expect, test } from "bun:test";
import { withNovelty } from "../../src/domain/novelty.ts";
import { aNode, anEvent, freshId } from "../contract/samples.ts";

const RULES = {
  highThreshold: 0.7,
  lowThreshold: 0.3,
  salienceBoost: 0.15,
  saliencePenalty: 0.1,
};

describe("novelty", () => {
  test.each([
    { name: "a memory like no other", similarity: 0.1, salience: 0.65, novelty: 0.9 },
    { name: "one at the upper threshold", similarity: 0.25, salience: 0.65, novelty: 0.75 },
    { name: "one between the thresholds", similarity: 0.5, salience: 0.5, novelty: 0.5 },
    { name: "one at the lower threshold", similarity: 0.75, salience: 0.4, novelty: 0.25 },
    { name: "a repeated one", similarity: 1, salience: 0.4, novelty: 0 },
    { name: "the opposite of another", similarity: -0.5, salience: 0.65, novelty: 1 },
    { name: "one of many digits", similarity: 0.123456, salience: 0.65, novelty: 0.8765 },
  ])("of $name decides the salience", ({ similarity, salience, novelty }) => {
    const nodeId = freshId();
    const rules = { ...RULES, highThreshold: 0.75, lowThreshold: 0.25 };

    const node = withNovelty(aNode(anEvent()), { nodeId, similarity }, rules);

    expect(node.salience).toBeCloseTo(salience, 12);
    expect(node.salienceBase).toBe(node.salience);
    expect(node.metadata).toEqual({
      novelty_score: novelty,
      max_similarity: Number(similarity.toFixed(4)),
      nearest_node_id: nodeId,
    });
  });

  test("is 1 where there is nothing else, and keeps the caller's metadata", () => {
    const before = aNode(anEvent(), { metadata: { topic: "tea" } });

    const after = withNovelty(before, undefined, RULES);

    expect(after).toEqual({
      ...before,
      salience: 0.65,
      salienceBase: 0.65,
      metadata: { topic: "tea", novelty_score: 1, max_similarity: 0, nearest_node_id: null },
    });
  });

  test("keeps the salience within 0 and 1", () => {
    const strong = { ...RULES, salienceBoost: 0.5, saliencePenalty: 0.5 };
    const id = freshId();
    const high = aNode(anEvent(), { salienceBase: 0.9 });
    const low = aNode(anEvent(), { salienceBase: 0.1 });

    expect(withNovelty(high, undefined, strong).salience).toBe(1);
    expect(withNovelty(low, { nodeId: id, similarity: 1 }, strong).salience).toBe(0);
  });
});
