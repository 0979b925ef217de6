/** Names of owners, conversations and speakers that look alike. Real engines and packs, through HTTP and settings. */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "../../src/app/open-engine.ts";
import { loadConfig } from "../../src/config/load.ts";
import { wordEmbedder } from "../engine/engines.ts";
import { useApps } from "./http/engine-app.ts";

const { open } = useApps();
const folder = mkdtempSync(join(tmpdir(), "svc-names-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NFC = "josé";
const NFD = "jose\u0301";
const FORMS = [NFC, NFD, ` ${NFC}`, `${NFD}\u00a0`, `${NFD}\n`];

test("one owner, conversation and speaker are found under every form of their name", async () => {
  const { ask, engine } = await open();
  for (const [index, name] of FORMS.entries()) {
    const body = { user_id: name, session_id: name, speaker: name.trim(), content: `tea ${index}` };
    expect((await ask("/v1/ingest", { body })).status).toBe(200);
  }
  expect(await engine.listOwners()).toMatchObject([{ userId: NFC, memories: FORMS.length }]);
  for (const name of FORMS) {
    const encoded = encodeURIComponent(name);
    const events = await ask(`/v1/events?user_id=${encoded}&session_id=${encoded}`);
    expect(events.json["count"]).toBe(FORMS.length);
    const found = await ask("/v1/retrieve", { body: { user_id: name, query: "tea" } });
    expect(found.json["results"]).toHaveLength(FORMS.length);
  }
  const nodes = await engine.queryNodes({ userId: NFC });
  expect(new Set(nodes.map(({ metadata }) => metadata?.["svc_speaker_v1"]))).toEqual(
    new Set([NFC]),
  );
});

test("a key of an owner in one form opens the memories of the other, and nobody else's", async () => {
  const { ask, engine } = await open({ userKeys: { [NFD]: "key" } });
  await engine.store({ userId: NFC, content: "tea" });
  await engine.store({ userId: "jose", content: "coffee" });
  for (const user_id of [undefined, NFC, NFD]) {
    const { json } = await ask("/v1/retrieve", {
      key: "key",
      body: { user_id, query: "tea coffee" },
    });
    expect(json["results"]).toMatchObject([{ content: "tea" }]);
  }
  const other = await ask("/v1/retrieve", { key: "key", body: { user_id: "jose", query: "x" } });
  expect(other.status).toBe(403);
  expect((await ask("/v1/caller", { key: "key" })).json["user_id"]).toBe(NFC);
  for (const name of FORMS) expect((await engine.stats(name)).nodeCount).toBe(1);
  const { requestId } = (await engine.retrieve({ userId: NFC, query: "tea" })).metadata;
  for (const name of FORMS) {
    expect(await engine.getRetrievalReceipt(requestId, name)).toBeDefined();
    expect(await engine.explain(requestId, name)).toBeDefined();
  }
});

/** A pack with a memory of each owner, as an earlier version kept their names. */
async function packOf(name: string, ...owners: readonly string[]) {
  const path = join(folder, `${name}.pack`);
  const { config } = loadConfig({ environment: { SVC_PACK_PATH: path }, file: null });
  const openIt = () => openEngine(config, { embedder: wordEmbedder() });
  const first = await openIt();
  for (const index of owners.keys()) {
    await first.store({ userId: `plain${index}`, content: `tea ${index}` });
  }
  await first.close();
  rename(path, Object.fromEntries(owners.map((owner, index) => [`plain${index}`, owner])));
  return { openIt, path };
}

function rename(path: string, names: Readonly<Record<string, string>>): void {
  const database = new Database(path);
  const triggers = database
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'owners'",
    )
    .all();
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`);
  for (const [from, into] of Object.entries(names)) {
    database.run("UPDATE owners SET user_id = ? WHERE user_id = ?", [into, from]);
  }
  for (const { sql } of triggers) database.run(sql);
  database.close();
}

test("an owner whose name was stored in another form is found under every form, and is one", async () => {
  const former = `Rene\u0301e `;
  const { openIt, path } = await packOf("former", former);
  const second = await openIt();
  for (const userId of [former, "Renée", "Rene\u0301e", " Renée"]) {
    expect(await second.queryNodes({ userId })).toMatchObject([{ content: "tea 0" }]);
  }
  await second.store({ userId: "Renée", content: "more tea" });
  expect(await second.listOwners()).toMatchObject([{ userId: former, memories: 2 }]);
  await second.moveOwner({ from: former, into: "Renée", isJoin: false, actorId: "test" });
  for (const userId of [former, "Renée"]) {
    expect(await second.queryNodes({ userId })).toHaveLength(2);
  }
  expect(await second.listOwners()).toMatchObject([{ userId: "Renée", memories: 2 }]);
  // Another program may rename it while this one runs.
  rename(path, { Renée: former });
  await second.close();
  const third = await openIt();
  expect(await third.queryNodes({ userId: "Renée" })).toHaveLength(2);
  rename(path, { [former]: "Renée" });
  expect(await third.queryNodes({ userId: "Renée" })).toHaveLength(2);
  await third.close();
});

test.each([
  ["Zoe\u0308", "Zoë"],
  [" alice", "alice"],
])("two stored owners of one form stay two, each under its own name: %j and %j", async (a, b) => {
  const { openIt } = await packOf(`two-${b}`, a, b);
  const engine = await openIt();
  expect(await engine.queryNodes({ userId: a })).toMatchObject([{ content: "tea 0" }]);
  expect(await engine.queryNodes({ userId: b })).toMatchObject([{ content: "tea 1" }]);
  expect(await engine.queryNodes({ userId: `${b} ` })).toMatchObject([{ content: "tea 1" }]);
  await engine.close();
});

test("a former name in one open pack is nobody's in another", async () => {
  const [one, other] = [await packOf("one", "Zoe\u0308"), await packOf("other", "Zoë")];
  const [second, first] = [await other.openIt(), await one.openIt()];
  expect(await second.queryNodes({ userId: "Zoë" })).toMatchObject([{ userId: "Zoë" }]);
  await second.close();
  expect(await first.queryNodes({ userId: "Zoë" })).toMatchObject([{ userId: "Zoe\u0308" }]);
  await first.close();
});
