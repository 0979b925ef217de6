/** A pack with some memories of two owners, for requests to be about. */
import type { MemoryEngine } from "../../../../src/engine/memory-engine.ts";
import type { Known } from "./values.ts";

/** In every memory of bob; nothing that ada asks for may hold it. */
export const SECRET = "zebra-canary-4711";

/** An owner whose name no identifier would have. */
const ODD_OWNER = "Ünï 🦊 /..?#%zz'\"";

export type World = {
  readonly known: Known;
  /** A memory of bob. */
  readonly secretNode: string;
};

/** Fills an empty pack. */
export async function settle(engine: MemoryEngine): Promise<World> {
  const stored = async (userId: string, content: string, metadata?: Record<string, string>) => {
    const conditional = metadata?.["condition"] !== undefined;
    const { eventId, node } = await engine.storeWithReceipt({
      userId,
      content,
      nodeType: "fact",
      metadata,
      ...(conditional && { epistemicType: "conditional" as const }),
    });
    return { node: node.id, event: eventId };
  };
  const claim = (object: string) => ({ subject: "Ada", predicate: "lives in", object });
  const own = [
    await stored("ada", "Ada drinks green tea in the harbour"),
    await stored("ada", "Ada lives in Oslo", claim("Oslo")),
    await stored("ada", "Ada lives in Rome", claim("Rome")),
    await stored("ada", "Ada lives in Lima", claim("Lima")),
    await stored("ada", "Ada lives in Kyiv", claim("Kyiv")),
    await stored("ada", "the kayak may leave the harbour", { condition: "the wind is below 5" }),
    await stored("ada", "the red kayak may leave", { condition: "it rains" }),
    ...(await Promise.all(
      [1, 2, 3, 4, 5, 6].map((at) => stored("ada", `Ada paid ${at}.50 euros for tea`)),
    )),
  ];
  const [tea, oslo, rome, lima] = own;
  if (!tea || !oslo || !rome || !lima) throw new Error("the world is not complete");
  await engine.supersede(oslo.node, rome.node);
  await engine.contradict(rome.node, lima.node);
  const odd = await stored(ODD_OWNER, "an odd owner has a memory, too");
  const secret = await stored("bob", `Bob hides the ${SECRET} in the harbour`, claim(SECRET));
  const pending = await engine.ingestFast({ userId: "ada", content: "Ada waits for the tea" });
  const { metadata } = await engine.retrieve({ userId: "ada", query: "tea in the harbour" });
  const cited = await engine.recordAnswerCitations(
    { requestId: metadata.requestId, answerId: "a", citedNodeIds: [] },
    "ada",
  );
  const theirs = await engine.retrieve({ userId: "bob", query: "what does Bob hide" });
  const page = await engine.getProvenance(rome.node, { operationLimit: 1 });
  return {
    known: {
      owners: ["ada", "ada", "ada", "bob", ODD_OWNER],
      nodes: [...own, odd, secret].map(({ node }) => node),
      events: [...[...own, odd, secret].map(({ event }) => event), pending],
      requests: [metadata.requestId, theirs.metadata.requestId],
      citations: [cited.citationId],
      cursors: [page?.nextOperationCursor ?? "none"],
    },
    secretNode: secret.node,
  };
}
