import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalEntailment } from "../../../src/adapters/rerank/local-entailment.ts";
import { verifyBundle, verifyClaim } from "../../../src/engine/verify/claims.ts";
import { writeTinyModel } from "../../adapters/rerank/tiny-model.ts";
import { aBundle } from "./bundles.ts";
import { CLAIM_SETTINGS, evidenceOf } from "./models.ts";

const place = mkdtempSync(join(tmpdir(), "svc-entailment-"));
const entailment = createLocalEntailment({ model: writeTinyModel("entailment", place) });
const deps = { entailment, settings: CLAIM_SETTINGS };

afterAll(async () => {
  await entailment.close();
  rmSync(place, { recursive: true, force: true });
});

test.each([
  { evidence: ["Bob drinks coffee", "Ann likes tea"], status: "supported", of: ["e2"] },
  { evidence: ["Ann never likes tea"], status: "refuted", of: ["e1"] },
  { evidence: ["Ann likes tea", "Ann never likes tea"], status: "contested", of: ["e1", "e2"] },
  { evidence: ["Bob drinks coffee"], status: "insufficient", of: [] },
  { evidence: ["Ann", "likes tea"], status: "supported", of: ["e1", "e2"] },
  { evidence: ["Does Ann like tea? Ann likes tea"], status: "supported", of: ["e1"] },
])("a real model finds 'Ann likes tea' $status by $evidence", async ({ evidence, status, of }) => {
  const result = await verifyClaim(deps, "Ann likes tea", evidenceOf(evidence));
  const { supportingGroup, refutingGroup } = result;
  const named = [...(supportingGroup?.references ?? []), ...(refutingGroup?.references ?? [])];
  expect(`${result.status} ${named.join()}`).toBe(`${status} ${of.join()}`);
  expect(result.resolvedRevision).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test("a real model reads the records of a context", async () => {
  const bundle = aBundle([
    { content: "The key lies under the flower pot" },
    { content: "Bob moved" },
  ]);
  const result = await verifyBundle(deps, "The key lies under the pot", bundle);
  expect(result.status).toBe("supported");
  expect(result.supportingGroup?.references).toEqual(["m1"]);
  expect(result.supportingBasis).toBe("model_entailment");
});
