import { SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Caller } from "../contract/core/caller.ts";
import type { ToolAnswer } from "../contract/core/operation.ts";
import { tellNothingUnder, tellSeveral } from "../contract/store/owner-text.ts";
import type { ToolDescription } from "./tool-descriptions.ts";

/** The caller on a connection. */
type Served = {
  readonly boundUserId: string | undefined;
  readonly isPersonal?: boolean | undefined;
};

/** The owner on whose behalf a tool runs. The first write to an unused pack records the person as its owner. */
export async function callerOf(
  { needsOwner, annotations }: Pick<ToolDescription, "needsOwner" | "annotations">,
  engine: MemoryEngine,
  served: Served,
): Promise<Caller> {
  const { boundUserId } = served;
  if (!needsOwner || !isOpen(served)) return { boundUserId };
  const owner = annotations.readOnlyHint ? engine.packOwner() : engine.claimPack();
  return { boundUserId, defaultUserId: await owner };
}

/** The answer; if it is empty because only other owners have memories, also their names. */
export async function withOtherOwners(
  answer: ToolAnswer,
  engine: MemoryEngine,
  served: Served,
): Promise<ToolAnswer> {
  const { nothingOf, structured, text } = answer;
  if (nothingOf === undefined || !isOpen(served)) return answer;
  const { nodeCount } = await engine.stats(nothingOf);
  if (nodeCount > 0) return answer;
  const others = await engine.ownersWithMemories();
  if (others.length === 0) return answer;
  const hint = tellNothingUnder(nothingOf, others);
  return { ...answer, structured: { ...structured, hint }, text: `${text}\n${hint}` };
}

/** What to add to the refusal of a call without an owner if the pack has several. */
export async function adviceOnOwner(
  error: unknown,
  engine: MemoryEngine,
  served: Served,
): Promise<string> {
  if (!isOpen(served) || !(error instanceof SvcError)) return "";
  if (error.code !== "invalid_argument" || error.data["field"] !== "user_id") return "";
  const owners = await engine.ownersWithMemories().catch(() => []);
  if (owners.length < 2) return "";
  return `. ${tellSeveral(owners)}. Name one; the user settles it permanently with: svc owner use`;
}

function isOpen({ boundUserId, isPersonal }: Served): boolean {
  return boundUserId === undefined && isPersonal === true;
}
