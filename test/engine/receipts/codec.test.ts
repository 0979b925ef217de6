import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_TYPES, SCOPES } from "../../../src/domain/enums.ts";
import { type RetrievalReceipt, receiptForm } from "../../../src/domain/records/receipt.ts";
import { isReceiptWhole } from "../../../src/engine/receipt-check.ts";
import type { BuiltReceipt } from "../../../src/engine/receipts/build.ts";
import {
  decodeReceipt,
  encodeReceipt,
  receiptChecksum,
  receiptText,
} from "../../../src/engine/receipts/codec.ts";
import { receiptProblems } from "../../../src/engine/receipts/validate.ts";
import { FormError } from "../../../src/lib/form.ts";
import { WEIGHTS } from "../retrieve/pool.ts";
import { ADAPTIVE_FUSION, aReceipt, RELATIVE_FUSION } from "./retrievals.ts";

/** Accepts canonical JSON alone. */
function parseReceipt(canonical: string): RetrievalReceipt {
  const receipt = receiptForm.read(JSON.parse(canonical), "receipt");
  if (receiptText(receipt) !== canonical) throw new FormError("receipt: is not canonical");
  return receipt;
}

function stored(built: BuiltReceipt) {
  const text = receiptText(built.receipt);
  return { ...built, text, checksum: receiptChecksum(text) };
}

describe("the stored form", () => {
  test.each([
    { query: "" },
    { weights: RELATIVE_FUSION, query: 'Naïve "quotes" \u2028 😀\n\\' },
    { weights: ADAPTIVE_FUSION, query: "\ufeffwhen?" },
    { weights: WEIGHTS, query: "x".repeat(300) },
  ])("gives a receipt back, text and record: $query", (shape) => {
    const built = aReceipt({ seed: 5, found: 9, neighbours: 4, packed: 6, ...shape });
    expect(receiptProblems(built)).toEqual([]);
    const one = stored(built);
    expect(decodeReceipt(encodeReceipt(one))).toEqual(one);
    expect(parseReceipt(one.text)).toEqual(one.receipt);
  });

  test("refuses bytes of which any was changed, and bytes that end early", () => {
    const bytes = encodeReceipt(stored(aReceipt({ seed: 3, found: 6, neighbours: 4 })));
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      expect(() => decodeReceipt(changed)).toThrow(RangeError);
    }
    for (const length of [0, 1, 40, bytes.length - 1]) {
      expect(() => decodeReceipt(bytes.slice(0, length))).toThrow(RangeError);
    }
  });

  test.each([
    {},
    { client: "Käfer 🐞".repeat(20) },
    { client: "two\nlines", timingMs: 2 ** 32 - 1 },
    { timingMs: 0 },
  ])("keeps what is known of the client and the time: %o", (given) => {
    const { receipt, record } = aReceipt({ seed: 3, found: 1, neighbours: 0 });
    const one = stored({ receipt, record: { ...record, ...given } });
    expect(decodeReceipt(encodeReceipt(one))).toEqual(one);
  });

  test("refuses an encoding that it does not know, by its number", () => {
    const bytes = encodeReceipt(stored(aReceipt({ seed: 3, found: 1, neighbours: 0 })));
    bytes[0] = 2;
    expect(() => decodeReceipt(bytes)).toThrow("encoding 2 is not known");
  });

  test("is whole only if its scores and its checksum are right", () => {
    const one = stored(aReceipt({ seed: 3, found: 6, neighbours: 4 }));
    const [first, ...others] = one.receipt.candidates;
    const candidates = [{ ...first!, score: first!.score + 0.5 }, ...others];
    const wrong = stored({ ...one, receipt: { ...one.receipt, candidates } });
    expect(isReceiptWhole(encodeReceipt(one))).toBeTrue();
    expect(isReceiptWhole(encodeReceipt(wrong))).toBeFalse();
    expect(isReceiptWhole(encodeReceipt({ ...one, checksum: "0".repeat(64) }))).toBeFalse();
  });

  // Receipts are kept for a year or longer, so that what was written once has to be read by every later program.
  test.each([
    ["of encoding 1", "receipt-1"],
    ["with a memory that a newer one makes outdated", "receipt-newer-first"],
  ])("%s is read as it was written", (_, name) => {
    const folder = join(import.meta.dir, "../../golden");
    const bytes = Uint8Array.fromBase64(readFileSync(join(folder, `${name}.base64`), "utf8"));
    const { receipt, record, checksum } = decodeReceipt(bytes);
    const golden: { readonly receipt: string; readonly record: unknown } = JSON.parse(
      readFileSync(join(folder, `${name}.json`), "utf8"),
    );
    expect(receiptText(receipt)).toBe(golden.receipt);
    expect(JSON.parse(JSON.stringify(record))).toEqual(golden.record);
    expect(receiptChecksum(golden.receipt)).toBe(checksum);
    expect(receiptProblems({ receipt, record })).toEqual([]);
  });
});

test("a stored receipt takes at most 130 bytes for each memory that was found, and 90 for each neighbour", () => {
  const size = (shape: { readonly found: number; readonly neighbours: number }): number =>
    encodeReceipt(stored(aReceipt({ seed: 7, ...shape }))).length;
  const base = size({ found: 100, neighbours: 0 });
  expect((size({ found: 200, neighbours: 0 }) - base) / 100).toBeLessThanOrEqual(130);
  expect((size({ found: 100, neighbours: 100 }) - base) / 100).toBeLessThanOrEqual(90);
});

type Keyed = { readonly [key: string]: Keyed } & readonly Keyed[];

/** The canonical text of a receipt, read as plain JSON. */
function plain(shape: Partial<Parameters<typeof aReceipt>[0]> = {}): Keyed {
  return JSON.parse(receiptText(aReceipt({ seed: 1, found: 4, neighbours: 2, ...shape }).receipt));
}

const keys = (value: Keyed | undefined): readonly string[] => Object.keys(value ?? {});
const words = (list: string): readonly string[] => list.trim().split(/\s+/);

describe("canonical JSON", () => {
  const SUMMANDS = `w_semantic w_lexical w_graph w_recency w_salience w_confidence w_epistemic w_paths
    recency_lambda temporal_boost node_type_boost relevance_floor current_update_multiplier`;
  test.each([
    { name: "rank", weights: undefined, more: "fusion rrf_k rrf_recency_boost rrf_tie_break" },
    {
      name: "relative",
      weights: RELATIVE_FUSION,
      more: "fusion relative_semantic_share rrf_recency_boost rrf_tie_break",
    },
    {
      name: "adaptive",
      weights: ADAPTIVE_FUSION,
      more: `fusion adaptive_semantic_share adaptive_full_coverage rrf_recency_boost
        rrf_tie_break`,
    },
    { name: "weighted", weights: WEIGHTS, more: "" },
  ])("has the scoring settings that $name fusion reads", ({ weights, more }) => {
    expect(keys(plain(weights && { weights })["scoring"])).toEqual(words(`${SUMMANDS} ${more}`));
  });

  test("has the record of each score under the id of its candidate, in rank order", () => {
    const receipt = plain();
    const ids = (receipt["candidates"] ?? []).map((candidate) => String(candidate["node_id"]));
    expect(keys(receipt["score_provenance"])).toEqual(ids);
    const record = receipt["score_provenance"]?.[ids[0] ?? ""];
    expect(keys(record)).toEqual(
      words("formula_version base_node_id trace weights adjustments rank_fusion"),
    );
    expect(keys(record?.["rank_fusion"])).toEqual(
      words(`semantic_rank lexical_rank epistemic_factor node_type_factor temporal_factor recency_boost_factor
        tie_break`),
    );
    const relative = plain({ weights: RELATIVE_FUSION });
    const share = Object.values(relative["score_provenance"] ?? {})[0];
    expect(keys(share)).toEqual(
      words("formula_version base_node_id trace weights adjustments relative_fusion"),
    );
    expect(keys(share?.["relative_fusion"]).slice(0, 2)).toEqual(["semantic", "lexical"]);
    const adaptive = plain({ weights: ADAPTIVE_FUSION });
    const adapted = Object.values(adaptive["score_provenance"] ?? {})[0];
    expect(keys(adapted).at(-1)).toBe("adaptive_fusion");
    expect(keys(adapted?.["adaptive_fusion"]).slice(0, 4)).toEqual([
      ...words("coverage certainty semantic lexical"),
    ]);
  });

  test("writes instants with six digits and Z, ids in lower case, and null for what is absent", () => {
    const receipt: { readonly [key: string]: unknown } = plain();
    expect(receipt["reference_time"]).toBe("2026-03-18T12:00:00.123456Z");
    expect(receipt["time_from"]).toBeNull();
    expect(String(receipt["request_id"])).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("has no blanks and the shortest numbers", () => {
    const text = receiptText(aReceipt({ seed: 1, found: 1, neighbours: 0, query: "q" }).receipt);
    expect(text.replace(/"[^"]*"/g, "")).not.toMatch(/\s/);
    expect(text).toContain('"w_lexical":0.15,"w_graph":0.2,');
    expect(text).toContain('"w_paths":0,');
  });

  test("sums up to the SHA-256 of its UTF-8 text", () => {
    const text = receiptText(
      aReceipt({ seed: 2, found: 3, neighbours: 0, query: "Zoë 😀" }).receipt,
    );
    expect(receiptChecksum(text)).toBe(createHash("sha256").update(text, "utf8").digest("hex"));
  });
});

describe("a text that is not canonical", () => {
  const text = receiptText(aReceipt({ seed: 1, found: 2, neighbours: 1 }).receipt);
  const without = (pattern: RegExp, put = ""): string => {
    expect(text).toMatch(pattern);
    return text.replace(pattern, put);
  };

  test.each([
    { name: "an unknown key", changed: () => without(/^\{/, '{"x":1,'), says: "receipt.x" },
    {
      name: "a missing key",
      changed: () => without(/"scopes":null,/),
      says: "receipt.scopes: is missing",
    },
    {
      name: "a key out of place",
      changed: () => without(/("result_limit":null),("retrieval_mode":"default")/, "$2,$1"),
      says: "not canonical",
    },
    {
      name: "a number with a zero too many",
      changed: () => without(/"w_lexical":0.15/, '"w_lexical":0.150'),
      says: "not canonical",
    },
    {
      name: "a blank",
      changed: () => without(/,"query":/, ', "query":'),
      says: "not canonical",
    },
    {
      name: "a member of another kind",
      changed: () => without(/"token_budget":4096/, '"token_budget":"4096"'),
      says: "receipt.packing.token_budget: a string instead of a whole number from 0",
    },
    {
      name: "a value of no set",
      changed: () => without(/"context_format":"reader"/, '"context_format":"html"'),
      says: "receipt.packing.context_format: a string instead of one of auditable, compact, reader",
    },
    {
      name: "an id in capitals",
      changed: () =>
        without(
          /"request_id":"([0-9a-f-]+)"/,
          '"request_id":"01A00000-0000-7000-8000-00000000000A"',
        ),
      says: "receipt.request_id",
    },
    {
      name: "an instant of another form",
      changed: () => without(/"time_from":null/, '"time_from":"2026-03-18T12:00:00Z"'),
      says: "receipt.time_from: a string instead of an instant",
    },
    {
      name: "a floor that was not skipped, said aloud",
      changed: () => without(/"min_score":null,/, '"min_score":null,"min_score_skipped":false,'),
      says: "receipt.min_score_skipped",
    },
    {
      name: "a setting of another fusion",
      changed: () => without(/"rrf_k":60,/, '"rrf_k":60,"relative_semantic_share":0.6,'),
      says: "receipt.scoring: relativeSemanticShare is of another fusion",
    },
    { name: "no object", changed: () => "[]", says: "a list instead of an object" },
  ])("with $name is refused by its place", ({ changed, says }) => {
    expect(() => parseReceipt(changed())).toThrow(FormError);
    expect(() => parseReceipt(changed())).toThrow(says);
  });
});

test("a number that JSON does not have cannot be written", () => {
  const { receipt } = aReceipt({ seed: 1, found: 1, neighbours: 0 });
  expect(() => receiptText({ ...receipt, minScore: Number.NaN })).toThrow(
    "NaN is not a JSON number",
  );
  const packing = { ...receipt.packing, vectorK: -1 };
  expect(() => receiptText({ ...receipt, packing })).toThrow("-1 is not a whole number from 0");
});

test("a receipt has every scope and node type of the program", () => {
  const { receipt } = aReceipt({ seed: 1, found: 1, neighbours: 0 });
  const everything = { ...receipt, scopes: SCOPES };
  expect(parseReceipt(receiptText(everything)).scopes).toEqual(SCOPES);
  const parameters = { ...receipt.execution.parameters, excludeNodeTypes: NODE_TYPES };
  const given = { ...receipt, execution: { ...receipt.execution, parameters } };
  expect(parseReceipt(receiptText(given)).execution.parameters.excludeNodeTypes).toEqual(
    NODE_TYPES,
  );
});
