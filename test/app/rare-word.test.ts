import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom, sentence } from "../../scripts/bench/sentences.ts";
import { MemoryEngine } from "../../src/app/memory-engine.ts";

let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "svc-rare-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const MEMORIES = 80;
const SEED = 15;

test.each([["english"], ["multilingual"]])(
  "a word that one of 80 memories has finds that memory first, whatever the vectors of the %s model say",
  async (model) => {
    const random = createRandom(SEED);
    const memories = Array.from({ length: MEMORIES }, (_, serial) => {
      const word = `w${serial.toString(36)}q${Math.floor(random() * 36 ** 4).toString(36)}z`;
      // Every eighth memory is five times as long as the others.
      const sentences = Array.from({ length: serial % 8 === 0 ? 5 : 1 }, () =>
        sentence(random, serial),
      );
      return { word, content: [sentences[0], word, ...sentences.slice(1)].join(" ") };
    });
    const engine = await MemoryEngine.create({
      pack_path: join(place, "memory.pack"),
      embedding: { model_name: model },
      // Made-up sentences are alike, so that one may pass for an update of another.
      newer_first: false,
    });
    await engine.ingestFastMany({
      userId: "anna",
      items: memories.map(({ content }, serial) => ({
        content,
        // Half of them are turns of a conversation, whose index entries have words of their neighbours.
        ...(serial < MEMORIES / 2 ? { sessionId: "talk" } : {}),
      })),
    });
    for (let pending = MEMORIES; pending > 0; ) {
      ({ pending } = await engine.processPending({ userId: "anna" }));
    }
    const later: string[] = [];
    for (const { word, content } of memories.filter((_, serial) => serial % 3 === 0)) {
      const { results } = await engine.retrieve({ userId: "anna", query: word });
      if (results[0]?.node.content !== content) later.push(content);
    }
    await engine.close();
    expect(later).toEqual([]);
  },
  600_000,
);
