import { chain } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { useQuery } from "../../data/query.ts";

/** What a memory replaced, the latest first, and what replaced it, the next first. */
export type Chain = { readonly before: readonly Node[]; readonly after: readonly Node[] };

export function useChain(id: string): Chain {
  const { data } = useQuery(`chain ${id}`, async () => {
    const read = async (direction: "forward" | "backward"): Promise<readonly Node[]> =>
      (await answered(chain({ path: { node_id: id }, query: { direction } }))).nodes;
    const [before, after] = await Promise.all([read("backward"), read("forward")]);
    return { before, after };
  });
  return data ?? { before: [], after: [] };
}
