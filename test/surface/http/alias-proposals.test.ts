import { expect, test } from "bun:test";
import { KEYS, type OpenedApp, useApps } from "./engine-app.ts";

const { open } = useApps();

type Item = {
  readonly status: string;
  readonly proposal: {
    readonly operation_id: string;
    readonly left_before: { readonly id: string; readonly content: string };
  };
  readonly review: object | null;
};

/** Two entities of ada that may be one, as the organizer proposes them. */
async function proposed({ ask }: OpenedApp) {
  for (const content of ["Anna Maria Sofia Keller", "Anna Maria Sofia Elisabeth Keller"]) {
    await ask("/v1/store", { body: { content, user_id: "ada", node_type: "entity" } });
  }
  await ask("/v1/organize", { body: { jobs: ["alias_resolve"], budget_ms: 60_000 } });
  const [item] = await list(ask);
  if (item === undefined) throw new Error("nothing was proposed");
  const path = `/v1/alias-proposals/${item.proposal.operation_id}/review`;
  return { item, path };
}

async function list(ask: OpenedApp["ask"], query = ""): Promise<readonly Item[]> {
  const { status, json } = await ask(`/v1/alias-proposals${query}`);
  expect(status).toBe(200);
  // SAFETY: the answer is a list, as the document says.
  return json as unknown as readonly Item[];
}

test("a proposal is listed, accepted and listed with its review", async () => {
  const app = await open();
  const { ask } = app;
  const { item, path } = await proposed(app);
  expect(item).toMatchObject({
    status: "pending",
    review: null,
    proposal: { alias_type: "semantic", left_before: { content: "Anna Maria Sofia Keller" } },
  });

  const body = { decision: "accepted", reviewer_id: "ada", user_id: "ada" };
  const first = await ask(path, { body });

  expect(first).toMatchObject({
    status: 200,
    json: { proposal_operation_id: item.proposal.operation_id, applied: true },
  });
  expect((await ask(path, { body })).json["applied"]).toBe(false);
  const [reviewed] = await list(ask, "?status=accepted&user_id=ada&limit=1");
  expect(reviewed?.review).toMatchObject({
    decision: "accepted",
    reviewer_id: "ada",
    reason: null,
  });
  expect(await list(ask, "?status=pending")).toEqual([]);
  expect((await ask(path, { body: { ...body, reviewer_id: "bob" } })).status).toBe(409);
});

test("of a memory that has changed since is stale", async () => {
  const app = await open();
  const { item, path } = await proposed(app);
  await app.ask(`/v1/nodes/${item.proposal.left_before.id}/promote`, { method: "PUT" });

  const { status, json } = await app.ask(path, {
    body: { decision: "accepted", reviewer_id: "ada" },
  });

  expect([status, json["code"]]).toEqual([409, "stale_proposal"]);
});

test.each<[string, object, number]>([
  ["a rejection without a reason", { decision: "rejected", reviewer_id: "ada" }, 422],
  ["another decision", { decision: "maybe", reviewer_id: "ada" }, 422],
  ["a blank reviewer", { decision: "accepted", reviewer_id: " " }, 422],
  ["an unknown key", { decision: "accepted", reviewer_id: "ada", force: true }, 422],
  ["no decision", { reviewer_id: "ada" }, 422],
])("%s is refused", async (_, body, status) => {
  const app = await open();
  const { path } = await proposed(app);

  expect((await app.ask(path, { body })).status).toBe(status);
  expect((await list(app.ask))[0]?.status).toBe("pending");
});

test("another owner sees no proposal and cannot review it", async () => {
  const app = await open(KEYS);
  const ada = (path: string, options = {}) => app.ask(path, { key: "key-a", ...options });
  for (const content of ["Anna Maria Sofia Keller", "Anna Maria Sofia Elisabeth Keller"]) {
    await ada("/v1/store", { body: { content, node_type: "entity" } });
  }
  await ada("/v1/organize", { body: { jobs: ["alias_resolve"], budget_ms: 60_000 } });
  const { json } = await ada("/v1/alias-proposals");
  // SAFETY: the answer is a list, as the document says.
  const [item] = json as unknown as readonly Item[];

  const path = `/v1/alias-proposals/${item?.proposal.operation_id}/review`;
  const body = { decision: "accepted", reviewer_id: "bob" };
  expect((await app.ask("/v1/alias-proposals", { key: "key-b" })).json).toEqual([] as never);
  expect((await app.ask(path, { key: "key-b", body })).status).toBe(404);
});
