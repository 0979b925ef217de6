import { Option } from "commander";
import {
  NODE_TYPES,
  type NodeType,
  ROLES,
  type Role,
  SCOPES,
  type Scope,
} from "../../../domain/enums.ts";
import { invalid } from "../../../domain/errors.ts";
import type { StoreReceipt } from "../../../engine/write/api.ts";
import { parseJson } from "../../../lib/json.ts";
import { age } from "../../contract/core/tool-text.ts";
import { nearView } from "../../contract/store.ts";
import type { CliContext } from "../context.ts";
import { ownerFor, textOf, withEngine } from "../memories.ts";
import {
  choiceOption,
  configFor,
  ownerOption,
  PACK,
  type PackOptions,
  packCommand,
  packWord,
} from "../options.ts";
import { type Format, shortened, table } from "../output.ts";

/** Characters of a near memory. */
const SHOWN_CHARS = 80;

type StoreOptions = PackOptions & {
  readonly userId?: string;
  readonly type?: NodeType;
  readonly scope?: Scope;
  readonly role?: Role;
  readonly speaker?: string;
  readonly eventTime?: string;
  readonly metadata?: string;
  readonly supersedes?: readonly string[];
};

/** `svc store`: stores one memory and waits until it can be found. */
export const storeCommand = packCommand(
  {
    name: "store",
    description: "store one memory",
    arguments: [PACK, ["<text...>", "what to remember; - reads it from stdin"]],
    options: [
      ownerOption(),
      choiceOption("--type <type>", "kind of memory (default: note)", NODE_TYPES),
      choiceOption("--scope <scope>", "where it belongs (default: personal)", SCOPES),
      choiceOption("--role <role>", "who said it (default: user)", ROLES),
      new Option("--speaker <name>", "name of who said it"),
      new Option("--event-time <instant>", "when it happened, ISO 8601 with an offset"),
      new Option("--metadata <json>", "a JSON object to store with it"),
      new Option("--supersedes <id...>", "memories to replace: all of them, or nothing is stored"),
    ],
    examples: `
Examples:
  svc store ./memory.pack "Anna prefers tea to coffee" --type preference
  svc store ./memory.pack "Paid the invoice" --event-time 2026-03-01T10:00:00Z
  svc store ./memory.pack "Anna drinks coffee now" --supersedes 01980000-0000-7000-8000-000000000001
  cat note.txt | svc store ./memory.pack - --user-id anna --metadata '{"source":"diary"}'`,
  },
  async (context, path: string, words: readonly string[], options: StoreOptions) => {
    const metadata = parseMetadata(options.metadata);
    const content = await textOf(words);
    const config = await configFor(context, path, options.encryptionKey);
    await withEngine(context, config, async (engine) => {
      const stopProgress = await context.output.progress("storing");
      try {
        const question = { given: options.userId, path, isStoring: true };
        const owner = await ownerFor(context, engine, question);
        const started = performance.now();
        const receipt = await engine.storeWithReceipt({
          content,
          userId: owner,
          nodeType: options.type,
          scope: options.scope,
          role: options.role,
          speaker: options.speaker,
          eventTime: options.eventTime,
          metadata,
          supersedes: options.supersedes,
        });
        const ms = Math.round(performance.now() - started);
        stopProgress();
        report(context, receipt, ms, path, options.format);
      } finally {
        stopProgress();
      }
    });
  },
);

function report(
  { output }: CliContext,
  receipt: StoreReceipt,
  ms: number,
  path: string,
  format: Format,
): void {
  const { eventId, nodeId, node, processingStatus, near } = receipt;
  if (format === "json") {
    output.json({
      event_id: eventId,
      node_id: nodeId,
      user_id: node.userId,
      node_type: node.nodeType,
      status: processingStatus.status,
      ...(near !== undefined && { near: near.map(nearView.json) }),
    });
    return;
  }
  output.line(`Stored as ${node.nodeType} ${nodeId} (event ${eventId}, ${ms} ms)`);
  for (const line of nearLines(receipt, path)) output.line(line);
}

/** The memories that the new one may replace or repeat. */
function nearLines({ node: fresh, near = [] }: StoreReceipt, path: string): readonly string[] {
  if (near.length === 0) return [];
  const rows = near.map(({ node, similarity, identical }) => [
    node.id,
    identical ? "same text" : similarity.toFixed(2),
    node.lifecycleState,
    age(node.createdAt, fresh.createdAt),
    shortened(node.content, SHOWN_CHARS),
  ]);
  const pack = packWord(path);
  const heading = `Near memories. To retire one: svc archive ${pack} ID; to correct one: svc edit ${pack} ID TEXT`;
  return ["", heading, ...table(["ID", "SIMILARITY", "STATE", "AGE", "CONTENT"], rows)];
}

function parseMetadata(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  const value = jsonOf(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(
      "metadata",
      `${JSON.stringify(text)} is not a JSON object, such as '{"source":"diary"}'`,
    );
  }
  return Object.fromEntries(Object.entries(value));
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
