/** The owner that a command is for. */

import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { shownOwners, tellNothingUnder, tellSeveral } from "../contract/core/tool-text.ts";
import type { CliContext } from "./context.ts";
import { packWord } from "./default-pack.ts";

/** The default owner in a pack of several owners without a recorded one: the owner of what came from the command line. */
const FORMER_OWNER = "_cli";

export type OwnerQuestion = {
  /** The value of `--user-id`. */
  readonly given: string | undefined;
  /** The pack, as typed. */
  readonly path: string;
  /** Whether a memory will be stored, which records an owner in an unused pack. */
  readonly isStoring: boolean;
};

/** The given owner, else the one recorded in the pack, else the only one it has. Explains on stderr if that is ambiguous. */
export async function ownerFor(
  { output }: CliContext,
  engine: MemoryEngine,
  { given, path, isStoring }: OwnerQuestion,
): Promise<string> {
  if (given !== undefined) return given;
  const owner = await (isStoring ? engine.claimPack() : engine.packOwner());
  if (owner !== undefined) return owner;
  const owners = tellSeveral(await engine.ownersWithMemories());
  output.note(
    `${owners}. Taken: ${FORMER_OWNER}. To settle it: svc owner use ${packWord(path)} NAME`,
  );
  return FORMER_OWNER;
}

/** If the owner has no memories, names those that have some. */
export async function noteOtherOwners(
  { output }: CliContext,
  engine: MemoryEngine,
  userId: string,
): Promise<void> {
  const { nodeCount } = await engine.stats(userId);
  if (nodeCount > 0) return;
  const others = await engine.ownersWithMemories();
  if (others.length > 0) output.note(tellNothingUnder(userId, others));
}

/** The owner of a pack, in words. */
export async function ownerInWords(engine: MemoryEngine): Promise<string> {
  const owner = await engine.packOwner();
  if (owner !== undefined) return `Its owner is ${owner}.`;
  return `It has memories of several owners: ${shownOwners(await engine.ownersWithMemories())}.`;
}
