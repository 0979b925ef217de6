import { parseUserId } from "../../domain/arguments.ts";
import { PLAN_ASSUMPTIONS, planQuestion } from "../../domain/quantity-question.ts";
import type { QuantityPlan, TextAggregation } from "../../domain/records/aggregation.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { QuantityQuestionInput } from "./api.ts";
import { parseQuantityQuery, parseQuestion } from "./parse-query.ts";
import { sumQuantities } from "./quantities.ts";

/**
 * Answers a plain question about an amount with the sum that it asks for; an unsupported question is answered without a scan.
 * Otherwise like `aggregateQuantities`.
 * @throws SvcError invalid_argument; the reason of the signal once it is aborted
 */
export async function aggregateFromText(
  deps: Pick<EngineDeps<Graph>, "store" | "settings">,
  input: QuantityQuestionInput,
): Promise<TextAggregation> {
  const question = parseQuestion(input);
  const userId = parseUserId(input.userId);
  const plan = planOf(question, userId);
  const aggregation =
    plan.query && (await sumQuantities(deps, plan.query, { userId, signal: input.signal }));
  return { schemaVersion: 1, plan, aggregation };
}

function planOf(question: string, userId: string): QuantityPlan {
  const plan = planQuestion(question);
  const { status, reason, action } = plan;
  const understood = { schemaVersion: 1, question, status, reason, action } as const;
  if (plan.status === "unsupported") return { ...understood, query: undefined, assumptions: [] };
  const { subject, predicatePrefixes, units } = plan;
  const query = parseQuantityQuery({ userId, subjects: [subject], predicatePrefixes, units });
  return { ...understood, query, assumptions: PLAN_ASSUMPTIONS };
}
