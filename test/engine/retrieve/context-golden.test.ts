import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { coverageNotice, guidanceFor } from "../../../src/engine/retrieve/pack/bundle.ts";
import { pack } from "../../../src/engine/retrieve/pack/pack.ts";
import { RECORDS } from "../../golden/records.ts";
import { minute, packRules, tokenizer } from "./pack-samples.ts";

beforeAll(() => tokenizer.ready());

const notice = coverageNotice({ isAggregation: true, knowledgeAt: minute("03-18T00:00") });

test.each([
  { name: "reader", settings: { contextFormat: "reader" }, front: false },
  { name: "reader-citations", settings: { contextCitations: true }, front: true },
  { name: "auditable", settings: { contextFormat: "auditable" }, front: true },
  { name: "compact", settings: { contextFormat: "compact" }, front: true },
  { name: "compact-short", settings: { contextFormat: "compact" }, front: false, budget: 372 },
] as const)(
  "the $name context is written as before, byte for byte",
  ({ name, settings, front, ...more }) => {
    const { contextFormat: format = "reader" } = packRules(0, settings).settings;
    const guidance = guidanceFor({
      query: "When did the API move?",
      intent: "temporal",
      isAggregation: false,
      mode: "all",
      format,
      referenceTime: minute("03-18T15:30"),
    });
    const budget = "budget" in more ? more.budget : 4096;
    const bundle = pack(RECORDS, tokenizer, {
      ...packRules(budget, settings),
      ...(front ? { notice, guidance } : {}),
    });

    const golden = readFileSync(
      join(import.meta.dir, "../../golden", `context-${name}.txt`),
      "utf8",
    );
    expect(`${bundle.renderedContext}\n`).toBe(golden);
    expect(bundle.tokensUsed).toBe(tokenizer.count(bundle.renderedContext));
  },
);
