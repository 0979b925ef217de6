/** Whose memories a command means. */

import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { shownOwners, tellNothingUnder, tellSeveral } from "../contract/store/owner-text.ts";
import type { CliContext } from "./context.ts";

/** Who is meant in a pack of several owners that names none of them: the owner of what came from the command line. */
const FORMER_OWNER = "_cli";

export type OwnerQuestion = {
  /** The value of `--user-id`. */
  readonly given: string | undefined;
  /** The pack, as it was named. */
  readonly path: string;
  /** Whether a memory is to be stored, which makes a pack of nobody a person's. */
  readonly isStoring: boolean;
};

/** The owner that was given, else whom the pack names, else the only one it has. Says on stderr where that is not clear. */
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
    `${owners}. Taken: ${FORMER_OWNER}. To settle it: svc owner use ${shellWord(path)} NAME`,
  );
  return FORMER_OWNER;
}

/** Says under which names there are memories when there are none under this one. */
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

/** Whose a pack is, in words. */
export async function ownerInWords(engine: MemoryEngine): Promise<string> {
  const owner = await engine.packOwner();
  if (owner !== undefined) return `Its owner is ${owner}.`;
  return `It has memories of several owners: ${shownOwners(await engine.ownersWithMemories())}.`;
}
