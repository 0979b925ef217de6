/** A pack with some memories of three owners, for requests to be about. */
import type { MemoryEngine } from "../../../../src/engine/memory-engine.ts";
import { FILE } from "../../operations/calls.ts";
import type { FuzzAnswer } from "./judge.ts";
import type { Known } from "./values.ts";

const SECRET = "zebra-canary-4711";

/** An owner whose name no identifier would have. */
const ODD_OWNER = "Ünï 🦊 /..?#%zz'\"";

/** Identifiers of one kind that requests are made of. */
const MAX_KNOWN = 60;

export type World = {
  readonly known: Known;
  /** Remembers the memory that a store made, so that later requests are about it, too. */
  learn(answer: FuzzAnswer): void;
  /** Contests two new memories: requests may have retired all that were contested. */
  contest(): Promise<void>;
};

/** Forgets something of an owner. @returns the id of that */
async function forgotten(engine: MemoryEngine, userId: string): Promise<string> {
  const { nodeId } = await engine.storeWithReceipt({ userId, content: "Soon forgotten." });
  const { confirm } = await engine.forget({ userId, ids: [nodeId] });
  const answer = await engine.forget({ userId, ids: [nodeId], mode: "erase", confirm });
  return answer.forgetId ?? "";
}

/** Fills an empty pack. */
export async function settle(engine: MemoryEngine): Promise<World> {
  const nodes: string[] = [];
  const events: string[] = [];
  const stored = async (userId: string, content: string, metadata?: Record<string, string>) => {
    const { eventId, nodeId } = await engine.storeWithReceipt({
      userId,
      content,
      nodeType: "fact",
      metadata,
      ...(metadata?.["condition"] !== undefined && { epistemicType: "conditional" }),
    });
    nodes.push(nodeId);
    events.push(eventId);
    return nodeId;
  };
  const lives = (object: string) =>
    stored("ada", `Ada lives in ${object}`, { subject: "Ada", predicate: "lives in", object });

  const tea = await stored("ada", "Ada drinks green tea in the harbour");
  for (let at = 1; at <= 3; at += 1) await engine.reinforce(tea);
  await engine.supersede(await lives("Oslo"), await lives("Bergen"));
  const winners = [await lives("Rome"), await lives("Kyiv"), await lives("Bern")];
  const losers = [await lives("Lima"), await lives("Cork"), await lives("Pisa")];
  for (const [at, winner] of winners.entries()) await engine.contradict(winner, losers[at] ?? "");
  const conditional = [
    await stored("ada", "the kayak may leave the harbour", { condition: "the wind is below 5" }),
    await stored("ada", "the red kayak may leave", { condition: "it rains" }),
  ];
  for (let at = 1; at <= 6; at += 1) await stored("ada", `Ada paid ${at}.50 euros for tea`);
  await stored(ODD_OWNER, "an odd owner has a memory, too");
  const hides = (where: string) =>
    stored("bob", `Bob hides the ${SECRET} in the ${where}`, {
      subject: "Bob",
      predicate: "hides",
      object: SECRET,
    });
  await engine.supersede(await hides("kitchen"), await hides("harbour"));
  events.push(await engine.ingestFast({ userId: "ada", content: "Ada waits for the tea" }));

  const requests: string[] = [];
  for (const [userId, query] of [
    ["ada", "tea in the harbour"],
    ["bob", "what is hidden"],
  ] as const) {
    requests.push((await engine.retrieve({ userId, query })).metadata.requestId);
  }
  const citations = await Promise.all(
    ["ada", "bob"].map((userId, at) =>
      engine.recordAnswerCitations({ requestId: requests[at] ?? "", answerId: "a" }, userId),
    ),
  );
  const forgettings = [await forgotten(engine, "ada"), await forgotten(engine, "bob")];
  const imports: string[] = [];
  for (const userId of ["ada", "bob"]) {
    const source = new TextEncoder().encode(FILE);
    imports.push((await engine.importSource({ userId, source })).importId ?? "");
  }
  const page = await engine.getProvenance(tea, { operationLimit: 1 });
  const known: Known = {
    owners: ["ada", "ada", "ada", "bob", ODD_OWNER],
    nodes,
    conditional,
    winners,
    losers,
    events,
    requests,
    citations: citations.map(({ citationId }) => citationId),
    cursors: [page?.nextOperationCursor ?? "there is no second page"],
    forgettings,
    imports,
  };
  return {
    known,
    contest: async () => {
      const [winner, loser] = [await lives("Graz"), await lives("Linz")];
      await engine.contradict(winner, loser);
      winners.push(winner);
      losers.push(loser);
    },
    learn: ({ status, text }) => {
      if (status !== 200 || !text.includes('"node_id"')) return;
      const { node_id: nodeId, event_id: eventId } = JSON.parse(text);
      for (const [list, id] of [
        [nodes, nodeId],
        [events, eventId],
      ] as const) {
        if (typeof id !== "string") continue;
        list.push(id);
        if (list.length > MAX_KNOWN) list.splice(list.length / 2, 1);
      }
    },
  };
}
