import {
  parseFilled,
  parseOptionalMember,
  parseOptionalText,
  parseUserId,
} from "../../domain/arguments.ts";
import { checksummed } from "../../domain/checksummed.ts";
import { erasureConflict, FORGOTTEN } from "../../domain/erasure.ts";
import { invalid } from "../../domain/errors.ts";
import { forgetStatements } from "../../domain/replacement.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ErasureCounts } from "../../ports/store/events.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { EngineDeps } from "../deps.ts";
import { isContested, opponentsOf, settleUnopposed } from "../lifecycle/disputes.ts";
import type { NamedRecords } from "../owners.ts";
import { FORGET_MODES, type ForgetAnswer, type ForgetInput } from "./api.ts";
import { excerptOf, type ForgetPlan, type PlanStore, planForgetting } from "./plan.ts";
import {
  issue,
  NOT_REACHED,
  type ReceiptDeps,
  recordOf,
  toErased,
  toForgetting,
} from "./receipt.ts";

/** Milliseconds that a call waits for other processes; after that a job finishes. */
const SETTLE_MS = 5000;

export type ForgetDeps = ReceiptDeps &
  Pick<EngineDeps<PlanStore & NamedRecords>, "store" | "embedder" | "tokenizer" | "ids">;

export async function forget(deps: ForgetDeps, input: ForgetInput): Promise<ForgetAnswer> {
  const mode = parseOptionalMember(FORGET_MODES, input.mode, "mode") ?? "preview";
  const confirm = parseOptionalText(input.confirm, "confirm");
  if (mode === "erase" && confirm === undefined) {
    throw invalid("confirm", "is needed to erase: the one of the preview");
  }
  if (confirm !== undefined && mode === "erase") {
    const id = forgetIdOf(parseUserId(input.userId), confirm);
    const earlier = await recordOf(deps.store, id, input.userId);
    if (earlier !== undefined) return await inTurn(id, () => repeated(deps, earlier, true));
  }
  const plan = await planForgetting(deps.store, input);
  const isAny = plan.events.length + plan.nodes.length > 0;
  if (mode === "preview") {
    return {
      ...answerOf(deps, plan, await deps.store.reached(plan)),
      confirm: isAny ? plan.confirm : undefined,
    };
  }
  if (plan.confirm !== confirm || !isAny) throw erasureConflict();
  const actorId = input.actorId ?? undefined;
  const actor = actorId === undefined ? plan.userId : parseFilled(actorId, "actor_id");
  return await inTurn(forgetIdOf(plan.userId, confirm), () => erase(deps, plan, actor));
}

/** Forgettings in progress in this process; the promises never reject. */
const underWay = new Map<Uuid, Promise<void>>();

/** Runs calls for one forgetting one after another. */
async function inTurn(id: Uuid, work: () => Promise<ForgetAnswer>): Promise<ForgetAnswer> {
  while (underWay.has(id)) await underWay.get(id);
  const done = Promise.withResolvers<void>();
  underWay.set(id, done.promise);
  try {
    return await work();
  } finally {
    underWay.delete(id);
    done.resolve();
  }
}

function forgetIdOf(userId: string, confirm: string): Uuid {
  return uuidV5("url", JSON.stringify(["svc:forget:v1", userId, confirm]));
}

async function erase(deps: ForgetDeps, plan: ForgetPlan, actorId: string): Promise<ForgetAnswer> {
  const { store, clock } = deps;
  const { userId, confirm, events, nodes } = plan;
  const forgetId = forgetIdOf(userId, confirm);
  const at = clock.now();
  const opponents = await opponentsOf(
    deps,
    plan.nodesGone.map(({ node }) => node).filter(isContested),
  );
  const record = await store.erase({
    ...plan,
    forgetId,
    actorId,
    at,
    kept: plan.kept.map(({ id }) => id),
    recordOf: (counts) => ({
      id: forgetId,
      opType: FORGOTTEN,
      targetId: forgetId,
      payload: checksummed({ user_id: userId, events, nodes, counts: { ...counts } }),
      actorId,
      namespaceId: userId,
      createdAt: at,
    }),
  });
  await settleUnopposed(deps, opponents);
  deps.embedder.forget?.(userId);
  deps.tokenizer.forget?.(userId);
  forgetStatements();
  // A parallel call came first, and makes the receipt.
  if (record.createdAt !== at) return repeated(deps, record, false);
  const stage = (await settle(deps)) ? "physical" : "logical";
  const { counts } = toErased(record);
  const receipt = await issue(deps, { record, stage, plan });
  return { ...answerOf(deps, plan, counts), mode: "erase", forgetId, stage, receipt };
}

/** A job retries after a failure: the erasure itself has succeeded. */
async function settle({ store }: ForgetDeps): Promise<boolean> {
  try {
    return await store.settleErasures(SETTLE_MS);
  } catch {
    return false;
  }
}

/** @param isEnded whether no call is working on it: then a missing receipt is made */
async function repeated(
  deps: ForgetDeps,
  record: AuditRecord,
  isEnded: boolean,
): Promise<ForgetAnswer> {
  const { receiptSha256, ...known } = await toForgetting(deps.store, record);
  const isMade = isEnded && receiptSha256 === undefined;
  const stage = isMade && (await settle(deps)) ? "physical" : known.stage;
  return {
    mode: "erase",
    confirm: undefined,
    forgetId: known.forgetId,
    stage,
    events: [],
    memories: [],
    counts: known.counts,
    stays: [],
    forgottenBefore: known.events,
    notReached: NOT_REACHED[deps.store.backend],
    receipt: isMade ? await issue(deps, { record, stage }) : undefined,
  };
}

function answerOf({ store }: ForgetDeps, plan: ForgetPlan, counts: ErasureCounts): ForgetAnswer {
  return {
    mode: "preview",
    confirm: undefined,
    forgetId: undefined,
    stage: undefined,
    events: plan.eventsGone.map(({ id, sessionId, role, timestamp, content }) => ({
      ...{ id, sessionId, role, timestamp },
      excerpt: excerptOf(content),
    })),
    memories: plan.nodesGone.map(({ node: { id, nodeType, lifecycleState, content }, why }) => ({
      ...{ id, nodeType, lifecycleState, why },
      excerpt: excerptOf(content),
    })),
    counts,
    stays: plan.stays,
    forgottenBefore: plan.forgottenBefore,
    notReached: NOT_REACHED[store.backend],
    receipt: undefined,
  };
}
