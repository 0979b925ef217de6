import { z } from "zod";
import { ROLES } from "../../src/domain/enums.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";

/** Texts that are admitted in one call. */
const BATCH = 500;

const CONVERSATIONS = z.object({
  conversations: z.array(
    z.object({
      id: z.string(),
      sessions: z.array(
        z.object({
          id: z.string(),
          time: z.string().nullish(),
          turns: z.array(
            z.object({
              id: z.string(),
              role: z.enum(ROLES),
              speaker: z.string().nullish(),
              text: z.string(),
            }),
          ),
        }),
      ),
      questions: z.array(z.object({ question: z.string(), evidence: z.array(z.string()) })),
    }),
  ),
});
export type Conversation = z.infer<typeof CONVERSATIONS>["conversations"][number];

/**
 * Reads a gzipped file of conversations: `{conversations: [{id, sessions: [{id, time, turns: [{id, role, speaker, text}]}],
 * questions: [{question, evidence: [turn id]}]}]}`. None is part of this repository.
 * @param most of them; undefined: all
 */
export async function readConversations(
  path: string,
  most: string | undefined,
): Promise<readonly Conversation[]> {
  const bytes = Bun.gunzipSync(await Bun.file(path).bytes());
  const { conversations } = CONVERSATIONS.parse(JSON.parse(new TextDecoder().decode(bytes)));
  return conversations.slice(0, Number(most ?? conversations.length));
}

/** Admits these sessions, each text as one memory with its `turn_id`, and waits until all can be found. */
export async function remember(
  engine: MemoryEngine,
  { id: userId, sessions }: Pick<Conversation, "id" | "sessions">,
): Promise<void> {
  const items = sessions.flatMap((session) =>
    session.turns.map(({ id, role, speaker, text }) => ({
      content: text,
      role,
      speaker,
      sessionId: session.id,
      eventTime: session.time,
      metadata: { turn_id: id },
    })),
  );
  for (let at = 0; at < items.length; at += BATCH) {
    await engine.ingestFastMany({ userId, items: items.slice(at, at + BATCH) });
  }
  for (let pending = 1; pending > 0; ) {
    const work = await engine.processPending({ userId });
    if (work.failed > 0) throw new Error(`${work.failed} texts could not be indexed`);
    ({ pending } = work);
  }
}
