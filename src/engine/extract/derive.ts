import { openChecksummed } from "../../domain/checksummed.ts";
import { SvcError } from "../../domain/errors.ts";
import { planDerivation } from "../../domain/extraction/plan/derivation.ts";
import {
  type DerivationPlan,
  fromPlanPayload,
  planProblem,
} from "../../domain/extraction/plan/derivation-plan.ts";
import { namesToFind } from "../../domain/extraction/plan/entities.ts";
import { valuesToFind } from "../../domain/extraction/plan/updates.ts";
import { type ExtractionResult, resultForm } from "../../domain/extraction/result.ts";
import { turnOf } from "../../domain/extraction/turn.ts";
import { hasText } from "../../domain/search/turns.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ExtractionClaim } from "../../ports/store/extraction-queue.ts";
import type { ExtractDeps, JobOptions } from "./deps.ts";
import { extractTurns } from "./extract-turns.ts";

/** The language of relative dates; expressions of other languages are not read. */
const DATE_LANGUAGES = ["en"];

/**
 * Brings a claimed event as far as it gets: asks, unless that was done before; plans; publishes.
 * @returns the reason code of why it is not published; undefined: it is
 * @throws SvcError (`isTakenOver`), or what store and embedder throw; the signal's reason
 */
export async function derive(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  options: JobOptions,
): Promise<string | undefined> {
  const { store, clock } = deps;
  if (claim.plan !== undefined) {
    const plan = fromPlanPayload(claim.plan.payload);
    const vectors = await vectorsOf(deps, plan, claim.event.userId, options.signal);
    return staleness(await store.publishPlan(claim, { plan, vectors, at: clock.now() }));
  }
  const extracted =
    claim.record === undefined
      ? await extractTurns(deps, claim, options)
      : { record: claim.record };
  if ("failure" in extracted) return extracted.failure;
  const result = resultOf(extracted.record);
  const plan = await planFor(deps, claim, result);
  if (typeof plan === "string") return plan;
  const vectors = await vectorsOf(deps, plan, claim.event.userId, options.signal);
  const at = clock.now();
  // Calls that overlap are committed together, in their order: the plan is kept even if it is not carried out.
  const [, stale] = await Promise.all([
    store.savePlan(claim, plan, at),
    store.publishPlan(claim, { plan, vectors, at }),
  ]);
  return staleness(stale);
}

function staleness(stale: { readonly staleId: string } | undefined): string | undefined {
  return stale === undefined ? undefined : "StaleDerivationPlanError";
}

function resultOf({ payload }: AuditRecord): ExtractionResult {
  return resultForm.read(openChecksummed(payload)["result"] ?? null, "result");
}

/** What the result makes of the memories as they are now, or the reason code of why there is no plan. */
async function planFor(
  { store, clock, dates, settings }: ExtractDeps,
  claim: ExtractionClaim,
  result: ExtractionResult,
): Promise<DerivationPlan | string> {
  const { event, revision } = claim;
  const turn = turnOf(event);
  const shownIds = result.claims.flatMap(({ replacesNodeId }) => replacesNodeId ?? []);
  const known = await store.knownMemories({
    event,
    names: namesToFind(result, turn.speaker),
    values: valuesToFind(result),
    shownIds,
  });
  await dates.ready(DATE_LANGUAGES);
  const plan = planDerivation(result, {
    event,
    turn,
    known,
    settings,
    readDates: (text, reference) => dates.read(text, reference, DATE_LANGUAGES),
    revision,
    now: clock.now(),
  });
  if (typeof plan === "string") return "OwnerReferenceChangedError";
  const problem = planProblem(plan);
  if (problem !== undefined) throw new SvcError("internal", `a plan cannot be kept: ${problem}`);
  return plan;
}

/** One for each node of a plan; none for a text that has nothing to embed. */
async function vectorsOf(
  { store, embedder }: ExtractDeps,
  { vectorTexts }: DerivationPlan,
  userId: string,
  signal: AbortSignal,
): Promise<readonly (Float32Array | undefined)[]> {
  if (vectorTexts.length > 0 && !(await store.hasModel(embedder.identity))) {
    throw new SvcError("embedding_mismatch", "the stored vectors are of another model");
  }
  const vectors: (Float32Array | undefined)[] = [];
  for (const text of vectorTexts) {
    signal.throwIfAborted();
    vectors.push(hasText(text) ? await embedder.embedDocument(text, userId) : undefined);
  }
  return vectors;
}
