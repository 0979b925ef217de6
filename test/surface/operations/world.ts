/** Memories of an owner and what belongs to them, of every kind that an operation can be about. */
import { checksummed } from "../../../src/domain/checksummed.ts";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { anAdmission, anAuditRecord, anEvent, at } from "../../contract/samples.ts";
import { amount, fact, put } from "../../engine/aggregate/claims-world.ts";
import type { OpenedEngine } from "../../engine/engines.ts";
import { rememberConditional } from "../../engine/lifecycle/memories.ts";
import { runRaw } from "../../engine/retrieve/pipeline-world.ts";

const NOON = asInstant("2026-03-18T12:00:00.000000Z");

/** Whose world it is; the word is in its texts and must reach nobody else. */
export type Owner = {
  readonly userId: string;
  readonly word: string;
  readonly citation: string;
};

export const ADA: Owner = {
  ...{ userId: "ada", word: "Zx9private", citation: "01900000-0000-7000-8000-00000000c17a" },
};
export const BOB: Owner = {
  ...{ userId: "bob", word: "Qy8hidden", citation: "01900000-0000-7000-8000-00000000b0b0" },
};

export type World = Awaited<ReturnType<typeof settle>>;

export async function settle({ engine, store, pack }: OpenedEngine, owner: Owner = ADA) {
  const { userId, word, citation } = owner;
  const stored = async (content: string, given: Partial<StoreInput> = {}) => {
    const input = { userId, sessionId: word, nodeType: "fact", content, ...given } as const;
    const { nodeId, eventId } = await engine.storeWithReceipt(input);
    return { node: nodeId, event: eventId };
  };
  const drinks = (object: string) => ({
    metadata: { assertion: { subject: word, predicate: "drinks", object, polarity: "positive" } },
  });
  const text = `${word}: Ada drinks green tea`;
  const tea = await stored(text, drinks("tea"));
  const coffee = await stored(`${word}: Ada drinks coffee`, drinks("coffee"));
  const [oslo, rome] = [await stored("Ada lives in Oslo"), await stored("Ada lives in Rome")];
  await engine.supersede(oslo.node, rome.node);
  const [white, blue] = [await stored("the hall is white"), await stored("the hall is blue")];
  await engine.contradict(white.node, blue.node);
  const gone = await stored("nobody needs this");
  await engine.archive(gone.node);
  const conditional = await rememberConditional(engine, { userId });
  for (const price of ["5.00", "2.50"]) {
    const claim = ["I", "spent", `$${price}`] as const;
    await put(store, [fact(claim, { userId, scope: "project" }, amount(price, "$", `$${price}`))]);
  }
  const { metadata } = await engine.retrieve({ userId, query: "green tea" });
  const request = metadata.requestId;
  await engine.recordAnswerCitations(
    { requestId: request, answerId: word, citationId: citation, citedNodeIds: [tea.node] },
    userId,
  );
  const soon = await stored("soon forgotten");
  const ids = { userId, ids: [soon.node] };
  const { confirm } = await engine.forget(ids);
  const { forgetId } = await engine.forget({ ...ids, mode: "erase", confirm });
  const source = new TextEncoder().encode(
    `[{"id":"1","memory":"${word}: from a file","created_at":"2026-01-02T03:04:05Z"}]`,
  );
  const { importId: imported } = await engine.importSource({ userId, source });
  const seen = anEvent({ userId, content: `${word}: a picture`, timestamp: NOON });
  const bytes = new TextEncoder().encode(word);
  const picture = `frames/of-${userId}.jpg`;
  const blob = { key: picture, mediaType: "image/jpeg", bytes, event: seen.id };
  await store.admit(anAdmission([seen], { blobs: [blob] }));
  const event = await engine.getEvent(tea.event);
  if (event !== undefined) await recordExtraction(store, event, word);
  runRaw(
    pack,
    `INSERT INTO jobs (event_key, kind, owner, status, attempts, last_error, updated_at)
     SELECT key, 'extraction', owner, 'pending', 2, 'RateLimitError', ?2 FROM events WHERE id = ?1`,
    tea.event,
    at(7),
  );
  await engine.ingestFast({ userId, content: `${word}: Ada waits` });
  return {
    ...{ tea, coffee, oslo, rome, white, blue, gone, request, text, picture, word, citation },
    ...{ conditional: conditional.id, forgotten: forgetId ?? "", imported },
  };
}

async function recordExtraction(store: Store, event: MemoryEvent, name: string): Promise<void> {
  const record = {
    ...{ schema_version: 1, grounding_policy: "speech_act_v14", event_id: event.id },
    ...{ user_id: event.userId, scope: event.scope, content_hash: event.contentHash },
    ...{ provider: "openai", model: "openai/gpt-4o-mini", created_at: at(5) },
    result: { entities: [{ name }] },
  };
  const operation = anAuditRecord({
    id: uuidV5(asUuid(event.id), "svc:validated-extraction:v1"),
    ...{ opType: "EXTRACTION_VALIDATED", targetId: event.id, actorId: "extraction" },
    payload: checksummed(record),
  });
  await store.admit(anAdmission([], { auditRecords: [operation] }));
}
