import { getNodes } from "../client/sdk.gen.ts";
import type { Edge, Node } from "../client/types.gen.ts";
import { answered } from "./http.ts";

const BATCH = 500;

/** In any state; those that are gone are left out. Very long texts take several calls. @throws CallFailure */
export async function readNodes(ids: readonly string[], user_id: string): Promise<readonly Node[]> {
  const found: Node[] = [];
  let waiting: readonly string[] = [...new Set(ids)];
  while (waiting.length > 0) {
    const node_ids = waiting.slice(0, BATCH);
    const { nodes, left_out } = await answered(getNodes({ body: { node_ids, user_id } }));
    found.push(...nodes);
    // Nothing at all would be asked for again without end.
    waiting = [...(nodes.length === 0 ? [] : left_out), ...waiting.slice(BATCH)];
  }
  return found;
}

export function farEnd({ source_id, target_id }: Edge, id: string): string {
  return source_id === id ? target_id : source_id;
}
