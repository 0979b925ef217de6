import { expect } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { OrganizeInput } from "../../../src/engine/organize/api.ts";
import type { EngineSettings } from "../../../src/engine/settings.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import type { LanguageModel, ModelRequest } from "../../../src/ports/models.ts";
import { DEFAULT_SETTINGS, type OpenedEngine } from "../engines.ts";

/** Settings with which whole memories are quoted. */
export const EXTRACTIVE: EngineSettings["organizer"] = {
  ...DEFAULT_SETTINGS.organizer,
  extractiveSummaries: true,
};

/** Runs one job of the organizer. */
export async function runJob({ engine }: OpenedEngine, job: string, input: OrganizeInput = {}) {
  const { perJob, jobsSkipped } = await engine.organize({ jobs: [job], ...input });
  expect(jobsSkipped).toEqual([]);
  const done = perJob[job];
  if (done === undefined) throw new Error(`${job} did not run`);
  const { nodesProcessed, nodesModified, errors, details } = done;
  return { nodesProcessed, nodesModified, errors, details };
}

/** The active summaries of everybody, oldest first. */
export async function summariesOf({ engine }: OpenedEngine): Promise<readonly MemoryNode[]> {
  return engine.queryNodes({ nodeType: "summary", oldestFirst: true, limit: 1000 });
}

/** A language model that answers as it is told, and remembers what it was asked. */
export function scriptedModel(
  answer: (records: readonly { source: number; content: string }[]) => JsonObject,
): LanguageModel & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    provider: "test",
    model: "scripted",
    asked,
    answer: async (request) => {
      asked.push(request);
      return answer(JSON.parse(request.prompt));
    },
  };
}
