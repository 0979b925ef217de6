import { resolveContradiction } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { callId, change } from "../../data/changes.ts";
import { answered } from "../../data/http.ts";
import { t } from "../../language/texts.ts";

/** Ends a contradiction: one is kept, the other deprecated. @returns whether it was done */
export async function settle(winner: Node, loser: Node): Promise<boolean> {
  const headers = callId();
  const body = { winner_id: winner.id, loser_id: loser.id };
  return await change(() => answered(resolveContradiction({ body, headers })), t.changes.resolved);
}
