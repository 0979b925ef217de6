import { Option } from "commander";
import { SCOPES, type Scope } from "../../../domain/enums.ts";
import { invalid, SvcError } from "../../../domain/errors.ts";
import { LIMITS } from "../../../domain/limits.ts";
import {
  ALIAS_STATUSES,
  type AliasStatus,
  type ReviewDecision,
} from "../../../domain/records/alias-proposal.ts";
import type { ReviewedAlias } from "../../../engine/aliases/api.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { reviewedAliasView, reviewResultView } from "../../contract/aliases/wire.ts";
import type { CliContext } from "../context.ts";
import { findAmong, type MemoryOptions, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { shortened, table } from "../output.ts";
import { choiceOption, countOption, PACK, packCommand } from "../pack-command.ts";

/** Characters of a name in the list. */
const SHOWN_CHARS = 40;
const EXAMPLES = `
Examples:
  svc aliases ./memory.pack                                     what waits for a decision
  svc aliases ./memory.pack ID --accept
  svc aliases ./memory.pack ID --reject --reason "mother and daughter"
  svc aliases ./memory.pack --status rejected

svc organize proposes them. A decision is final; the two memories stay two.`;

type AliasesOptions = MemoryOptions & {
  readonly status: AliasStatus | "all";
  readonly scope?: Scope;
  readonly limit: number;
  readonly accept?: true;
  readonly reject?: true;
  readonly reviewer?: string;
  readonly reason?: string;
};

/** `svc aliases`: names that may mean the same, and what is decided about them. */
export const aliasesCommand = packCommand(
  {
    name: "aliases",
    description: "list names that may mean the same, and decide about them",
    arguments: [
      PACK,
      ["[id]", "the proposal to decide about: its id, or a start or end that no other one has"],
    ],
    options: [
      ownerOption(),
      new Option("--status <status>", "only proposals of this status")
        .choices([...ALIAS_STATUSES, "all"])
        .default("pending"),
      choiceOption("--scope <scope>", "only memories of this scope", SCOPES),
      countOption(
        "--limit <count>",
        "maximum number of proposals to show",
        [1, LIMITS.aliasProposalsMax],
        20,
      ),
      new Option("--accept", "both names mean the same"),
      new Option("--reject", "they do not; needs --reason").conflicts("accept"),
      new Option("--reviewer <name>", "who decides (default: the owner)"),
      new Option("--reason <text>", "why"),
    ],
    examples: EXAMPLES,
  },
  (context, path: string, id: string | undefined, options: AliasesOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const decision = decisionOf(options);
      if (id === undefined && decision === undefined) return list(context, engine, userId, options);
      if (id === undefined) throw invalid("id", "is needed: the proposal to decide about");
      if (decision === undefined)
        throw invalid("--accept", "or --reject is needed with a proposal");
      await review(context, engine, { id, userId, decision, options });
    }),
);

function decisionOf({ accept, reject }: AliasesOptions): ReviewDecision | undefined {
  if (accept === true) return "accepted";
  return reject === true ? "rejected" : undefined;
}

async function list(
  { output }: CliContext,
  engine: MemoryEngine,
  userId: string,
  { status: wanted, scope, limit, format }: AliasesOptions,
): Promise<void> {
  const status = wanted === "all" ? undefined : wanted;
  const proposals = await engine.listAliasProposals({ userId, scope, status, limit });
  if (format === "json") {
    output.json(proposals.map(reviewedAliasView.json));
    return;
  }
  for (const line of proposalTable(proposals)) output.line(line);
}

function proposalTable(proposals: readonly ReviewedAlias[]): readonly string[] {
  const rows = proposals.map(({ status, proposal }) => [
    proposal.operationId,
    status,
    proposal.aliasType,
    proposal.score.toFixed(2),
    shortened(proposal.leftBefore.content, SHOWN_CHARS),
    shortened(proposal.rightBefore.content, SHOWN_CHARS),
  ]);
  return table(["ID", "STATUS", "TYPE", "SCORE", "ONE", "OTHER"], rows);
}

/** @throws SvcError invalid_argument; not_found */
async function findProposal(engine: MemoryEngine, userId: string, given: string): Promise<string> {
  const proposals = await engine.listAliasProposals({ userId, limit: LIMITS.aliasProposalsMax });
  const ids = proposals.map(({ proposal }) => proposal.operationId);
  const id = findAmong(ids, given, "a proposal");
  if (id !== undefined) return id;
  throw new SvcError("not_found", `there is no proposal ${given} here; svc aliases shows them`, {
    kind: "alias_proposal",
    id: given,
  });
}

async function review(
  { output }: CliContext,
  engine: MemoryEngine,
  given: {
    readonly id: string;
    readonly userId: string;
    readonly decision: ReviewDecision;
    readonly options: AliasesOptions;
  },
): Promise<void> {
  const { id, userId, decision, options } = given;
  const { reviewer: reviewerId = userId, reason, format } = options;
  if (decision === "rejected" && reason === undefined)
    throw invalid("--reason", "is needed with --reject");
  const proposalId = await findProposal(engine, userId, id);
  const result = await engine.reviewAliasProposal(proposalId, {
    userId,
    decision,
    reviewerId,
    reason,
  });
  if (format === "json") output.json(reviewResultView.json(result));
  else output.line(result.applied ? `Recorded: ${decision}` : `Was recorded before: ${decision}`);
}
