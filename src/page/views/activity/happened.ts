import { parseUuid } from "../../../lib/uuid.ts";
import { getNodes, listOperations, listRetrievals } from "../../client/sdk.gen.ts";
import type { Node, OperationRecord, RetrievalPage } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { place } from "../../data/place.ts";
import { type Joined, joined } from "./joined.ts";

/** Of each kind that is read at once. */
const PAGE = 200;

export const KINDS = ["all", "questions", "changes", "failures"] as const;

/** Which of what happened is shown; all of it stands in the address. */
export type Wanted = {
  readonly kind: (typeof KINDS)[number];
  /** A program or an actor. */
  readonly who: string | undefined;
  /** Only what happened before this moment. */
  readonly until: string | undefined;
};

type Question = RetrievalPage["retrievals"][number];
type Change = { readonly record: OperationRecord; readonly node: Node | undefined };

export type Entry = {
  readonly id: string;
  readonly at: string;
  /** Null where nobody said so. */
  readonly who: string | null;
} & ({ readonly question: Question } | { readonly change: Change });

/** What happened. */
export type Happened = Joined<Entry>;

export function wanted(): Wanted {
  const { query } = place.value;
  const kind = KINDS.find((one) => one === query.get("show")) ?? "all";
  return {
    kind,
    who: query.get("who") ?? undefined,
    until: query.get("until") ?? undefined,
  };
}

/** Reads questions and changes, and joins them as far back as both have been read. */
export async function readHappened(of: Wanted, user_id: string): Promise<Happened> {
  const { kind, who, until } = of;
  const common = { user_id, limit: PAGE, ...(until === undefined ? {} : { time_to: until }) };
  const [questions, changes] = await Promise.all([
    kind === "changes"
      ? NOTHING
      : answered(
          listRetrievals({
            query: {
              ...common,
              ...(who === undefined ? {} : { client: who }),
              ...(kind === "failures" ? { failed: true } : {}),
            },
          }),
        ),
    kind === "questions" || kind === "failures"
      ? NOTHING
      : answered(
          listOperations({ query: { ...common, ...(who === undefined ? {} : { actor: who }) } }),
        ),
  ]);
  const nodes = await nodesOf(changes.operations, user_id);
  const asked = questions.retrievals.map(
    (question): Entry => ({
      id: question.request_id,
      at: question.created_at,
      who: question.client,
      question,
    }),
  );
  const changed = changes.operations.map(
    (record): Entry => ({
      id: record.id,
      at: record.created_at,
      who: record.actor_id,
      change: { record, node: nodes.get(record.target_id) },
    }),
  );
  return joined<Entry>([
    { entries: asked, hasMore: questions.has_more },
    { entries: changed, hasMore: changes.has_more },
  ]);
}

const NOTHING = { retrievals: [], operations: [], has_more: false } as const;

async function nodesOf(
  operations: readonly OperationRecord[],
  user_id: string,
): Promise<ReadonlyMap<string, Node>> {
  const ids = new Set(operations.map(({ target_id }) => target_id));
  const node_ids = [...ids].filter((id) => parseUuid(id) !== undefined);
  if (node_ids.length === 0) return new Map();
  const { nodes } = await answered(getNodes({ body: { node_ids, user_id } }));
  return new Map(nodes.map((node) => [node.id, node]));
}

/** What a change has made of its memory, as far as the log says. */
export function outcomeOf({ payload }: OperationRecord): {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isReleased: boolean;
} {
  const { before, after } = parsed(payload["record"]);
  const { pinned } = Object(after);
  return { before: stateOf(before), after: stateOf(after), isReleased: pinned === false };
}

function parsed(record: unknown): { readonly before?: unknown; readonly after?: unknown } {
  try {
    return Object(typeof record === "string" ? JSON.parse(record) : record);
  } catch {
    return {};
  }
}

function stateOf(node: unknown): string | undefined {
  const { lifecycleState } = Object(node);
  return typeof lifecycleState === "string" ? lifecycleState : undefined;
}
