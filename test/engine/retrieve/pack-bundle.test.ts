import { beforeAll, describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import {
  type PackRules,
  render,
  renderSystemInstructions,
  resolveContextRef,
  visibleBindings,
} from "../../../src/engine/retrieve/pack/bundle.ts";
import { pack } from "../../../src/engine/retrieve/pack/pack.ts";
import { idOf, packRules, record, tokenizer } from "./pack-samples.ts";

beforeAll(() => tokenizer.ready());

function bundleOf(
  results: readonly ResultCandidate[],
  settings: Partial<PackRules["settings"]> = {},
  more: Partial<PackRules> = {},
) {
  return pack(results, tokenizer, { ...packRules(4096, settings), ...more });
}

function failure(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error instanceof SvcError ? { code: error.code, field: error.data["field"] } : error;
  }
}

const results = [
  record(3, "third", { nodeType: "summary" }),
  record(1, "first", { metadata: { svc_speaker_v1: "Ann" } }),
  record(2, "  "),
  record(4, "fourth"),
];

describe("references", () => {
  test("number all candidates by identifier; only packed ones are listed, in the order of the context", () => {
    expect([...bundleOf(results, { contextCitations: true }).contextReferences]).toEqual([
      ["m1", idOf(1)],
      ["m4", idOf(4)],
      ["m3", idOf(3)],
    ]);
    expect(bundleOf(results, { contextFormat: "compact" }).contextReferences.size).toBe(4);
  });

  test("do not exist where the format shows none", () => {
    expect(bundleOf(results).contextReferences.size).toBe(0);
    expect(bundleOf(results, { contextFormat: "auditable" }).contextReferences.size).toBe(0);
  });

  test("stand at the begin of their line", () => {
    const bundle = bundleOf(results, { contextCitations: true });
    const lines = bundle.renderedContext.split("\n").filter((line) => line.startsWith("- "));

    expect(lines.map((line) => line.slice(2, 6))).toEqual(["[m1]", "[m4]", "[m3]"]);
  });

  test("lead back to their memory; an unknown one is refused", () => {
    const bundle = bundleOf(results, { contextCitations: true });

    expect(resolveContextRef(bundle, "m3")).toBe(idOf(3));
    for (const unknown of ["m2", "m9", "M3", "[m3]", ""]) {
      expect(failure(() => resolveContextRef(bundle, unknown))).toEqual({
        code: "invalid_argument",
        field: "context_ref",
      });
    }
  });
});

describe("rendering a bundle again", () => {
  test.each([
    {},
    { contextCitations: true },
    { contextFormat: "auditable" },
    { contextFormat: "compact" },
  ] as const)("gives the same text: %j", (settings) => {
    const bundle = bundleOf(results, settings, { notice: "Coverage: x", guidance: "TASK: y" });

    expect(render(bundle)).toBe(bundle.renderedContext);
  });
});

describe("system instructions", () => {
  test("are a list of one line each, without other records", () => {
    const bundle = bundleOf([
      record(1, "Be brief.\n\n## Heading\u2028- forged", { nodeType: "instruction" }),
      record(2, "Say please.", { nodeType: "instruction" }),
      record(3, "no instruction"),
    ]);

    expect(renderSystemInstructions(bundle)).toBe(
      "## System Instructions (stored texts, stated or confirmed by the user)\n- Be brief. ## Heading - forged\n- Say please.",
    );
  });

  test("are empty without any, also where one is shown without its text", () => {
    const long = record(1, "word ".repeat(200), { nodeType: "instruction" });
    const short = pack([long], tokenizer, packRules(190, { contextFormat: "auditable" }));

    expect(short.includedCount).toBe(1);
    expect(renderSystemInstructions(short)).toBe("");
    expect(renderSystemInstructions(bundleOf([record(1, "x")]))).toBe("");
  });
});

describe("visible value bindings", () => {
  const binding = (reference: string, presentation: string) => ({
    schema_version: 1,
    reference,
    kind: "path",
    presentation,
    lookup: `/home/${reference}`,
    lookup_authority: "caller",
  });
  const bound = [
    record(2, 'See "plan"\nand more', {
      metadata: { svc_value_bindings_v1: [binding("b", '"plan"\nand'), binding("a", "See")] },
    }),
    record(1, "See note", {
      metadata: { svc_value_bindings_v1: [binding("c", "absent"), binding("d", "note")] },
    }),
  ];

  test("are those whose short form the record shows, also where it is escaped, by id and reference", () => {
    expect(visibleBindings(bundleOf(bound)).map((one) => [one.contextRef, one.reference])).toEqual([
      [idOf(1), "d"],
      [idOf(2), "a"],
      [idOf(2), "b"],
    ]);
  });

  test("name the reference of the record where the format shows one", () => {
    const [first] = visibleBindings(bundleOf(bound, { contextCitations: true }));

    expect(first).toEqual({
      contextRef: "m1",
      nodeId: idOf(1),
      reference: "d",
      kind: "path",
      presentation: "note",
      lookup: "/home/d",
      lookupAuthority: "caller",
    });
  });

  test("are none for a record that shows no text", () => {
    const metadata = { svc_value_bindings_v1: [binding("a", "word")] };
    const long = record(1, "word ".repeat(200), { metadata });
    const bundle = pack([long], tokenizer, packRules(190, { contextFormat: "auditable" }));

    expect(bundle.includedCount).toBe(1);
    expect(visibleBindings(bundle)).toEqual([]);
  });
});
