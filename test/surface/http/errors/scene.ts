/** Memories and an answer for refused requests to be about, and the shapes of such requests. */
import { rememberConditional } from "../../../engine/lifecycle/memories.ts";
import type { Asked, OpenedApp } from "../engine-app.ts";

/** A memory of ada, its event, a conditional one, two that contradict each other, one that was replaced, and an answer. */
export async function settle({ ask, engine }: OpenedApp) {
  const stored = async (content: string) => {
    const { json } = await ask("/v1/store", { body: { content, user_id: "ada" } });
    return { node: String(json["node_id"]), event: String(json["event_id"]) };
  };
  const tea = await stored("Ada drinks tea");
  const [old, fresh] = [await stored("Ada lives in Oslo"), await stored("Ada lives in Rome")];
  const [right, wrong] = [await stored("the hall is white"), await stored("the hall is blue")];
  const gone = await stored("nobody needs this");
  await engine.supersede(old.node, fresh.node);
  await engine.contradict(right.node, wrong.node);
  await engine.archive(gone.node);
  const conditional = await rememberConditional(engine);
  const { metadata } = await engine.retrieve({ userId: "ada", query: "what does Ada drink" });
  return {
    tea,
    old,
    fresh,
    right,
    wrong,
    gone,
    conditional: conditional.id,
    request: metadata.requestId,
  };
}
export type World = Awaited<ReturnType<typeof settle>>;

/** A request that is refused, and the text that says why. */
export type Case = {
  readonly name: string;
  readonly ask: (world: World) => readonly [string, Asked?];
  readonly detail: string | RegExp;
};

export const store = (given: object) => (): readonly [string, Asked] => [
  "/v1/store",
  { body: { content: "tea", user_id: "ada", ...given } },
];
export const get = (path: string) => (): readonly [string] => [path];
export const post = (path: string, body: unknown) => (): readonly [string, Asked] => [
  path,
  { body },
];
export const put = (path: string, body?: unknown, key?: string): readonly [string, Asked] => [
  `/v1/nodes/${path}`,
  {
    method: "PUT",
    ...(body !== undefined && { body }),
    ...(key !== undefined && { headers: { "idempotency-key": key } }),
  },
];
