/** A pack is compacted, or moved into another file, while messages wait for extraction and the organizer is half-way: the work goes on there. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { dirname, join } from "node:path";
import { startServer, svcCommand } from "../../scripts/bench/server.ts";
import { refusal } from "../adapters/language-model/provider-server.ts";
import {
  type ScriptedProvider,
  startScripted,
} from "../adapters/language-model/scripted-provider.ts";
import { directoryPack, filePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { onPack } from "../contract/sqlite-seed.ts";
import { until } from "../until.ts";
import { usePlace } from "./place.ts";

setDefaultTimeout(180_000);

type Json = Readonly<Record<string, unknown>>;

const place = usePlace("waiting-work");
let isAway = true;
const provider: ScriptedProvider = startScripted({
  rules: [{ when: /./, reply: () => (isAway ? refusal(503) : undefined) }],
});
afterAll(() => provider.stop());

const environment = {
  ...place.environment(),
  SVC_EXTRACTION__PROVIDER: "openai",
  SVC_EXTRACTION__BASE_URL: `${provider.url}/v1`,
  SVC_EXTRACTION__API_KEY: "sk-albatross",
  SVC_EXTRACTION__MAX_RETRIES: "0",
  SVC_ORGANIZER__OPPORTUNISTIC_ENABLED: "false",
};
const WHEN = { valid_from: "2026-03-01T08:00:00Z", event_time: "2026-03-01T08:00:00Z" };

async function serve(pack: string) {
  const server = await startServer({ pack, environment });
  const ask = async (path: string, body?: object): Promise<Json> => {
    const response = await fetch(server.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify({ user_id: "ada", ...body }) }),
    });
    // SAFETY: every answer is an object.
    return (await response.json()) as Json;
  };
  return { ...server, ask };
}
type Serving = Awaited<ReturnType<typeof serve>>;

const parcel = (gate: number) => ({ content: `The parcel is at gate ${gate}`, ...WHEN });
const modified = (answer: Json, job: string) =>
  Number(Object(Object(answer["per_job"])[job])["nodes_modified"]);

/** Leaves messages without extraction, texts without an index entry, duplicates, and two names of one thing. @returns the messages */
async function leaveWork({ ask, end }: Serving): Promise<readonly string[]> {
  isAway = true;
  const session = { session_id: "s", first_person_owner: true };
  const events: string[] = [];
  for (const city of ["Lisbon", "Porto", "Faro"]) {
    const message = { content: `I live in ${city}.`, ...session };
    const given = { ...message, wait_for_extraction: city === "Lisbon" };
    events.push(String((await ask("/v1/ingest", given))["event_id"]));
  }
  await ask("/v1/store", parcel(1));
  await ask("/v1/store", parcel(1));
  for (const content of ["JS", "JavaScript"]) {
    await ask("/v1/store", { content, node_type: "entity" });
  }
  const first = await ask("/v1/organize", { jobs: ["deduplicate", "alias_resolve"] });
  expect([modified(first, "deduplicate"), modified(first, "alias_resolve")]).toEqual([1, 1]);
  // What the run saw is behind it; these come later, and the last of them without an index entry.
  await ask("/v1/store", parcel(1));
  const items = Array.from({ length: 60 }, (_, at) => ({ content: `Anna saw ${at} swans` }));
  await ask("/v1/ingest/fast", { items });
  await end("SIGKILL");
  return events;
}

/** The work that lies in a pack: what it is about, how far it has come, and when it goes on. */
const workIn = (pack: SqlitePack) =>
  onPack(pack, (database) =>
    database
      .query(
        `SELECT subject, kind, owner, lane, status, attempts, generation, due, last_error, payload FROM work
         ORDER BY kind, owner, subject`,
      )
      .all(),
  );

const run = (...args: readonly string[]): void => {
  const { PATH } = process.env;
  const env = { ...environment, PATH, SVC_ENCRYPTION_ENABLED: "false" };
  const done = Bun.spawnSync([...svcCommand(), ...args], { env });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
};

const MOVES: readonly {
  readonly name: string;
  readonly isDirectory: boolean;
  /** @returns the pack afterwards */
  readonly move: (pack: string) => string;
}[] = [
  {
    name: "compact of a file",
    isDirectory: false,
    move: (pack) => {
      run("compact", pack);
      return pack;
    },
  },
  {
    name: "migrate",
    isDirectory: true,
    move: (pack) => {
      const moved = join(dirname(pack), "moved", "memory.pack");
      run("migrate", pack, moved);
      return moved;
    },
  },
];

describe.each(MOVES)("$name", ({ name, isDirectory, move }) => {
  test("keeps the work that waits, and it goes on", async () => {
    const folder = dirname(place.packIn(name.replaceAll(" ", "-")));
    const before = isDirectory ? directoryPack(folder) : filePack(folder);
    const path = join(folder, isDirectory ? "memory.db" : "memory.pack");
    const events = await leaveWork(await serve(path));
    const waiting = workIn(before);
    expect(waiting.length).toBeGreaterThan(events.length);

    const moved = move(path);

    expect(workIn(moved === path ? before : filePack(dirname(moved)))).toEqual(waiting);
    isAway = false;
    const { ask, end } = await serve(moved);
    // The first of them was to be tried again after some seconds.
    await ask(`/v1/events/${events[0]}/retry-extraction`, {});
    const extracted = await ask("/v1/extractions/process", { budget_ms: 60_000 });
    expect(extracted).toEqual({ processed: 3, pending: 0, failed: 0 });
    for (const id of events) {
      const { result } = await ask(`/v1/events/${id}/extraction?user_id=ada`);
      expect(result).toMatchObject({ facts: [{ predicate: "live_in" }] });
    }
    // The opening may be at it already.
    await until(async () => {
      const { pending, failed } = await ask("/v1/materializations/process", { budget_ms: 60_000 });
      return pending === 0 && failed === 0;
    });
    const found = await ask("/v1/retrieve", { query: "Anna saw 59 swans" });
    expect(JSON.stringify(found["results"])).toContain("Anna saw 59 swans");
    // Only what came after the former run is looked at.
    const again = await ask("/v1/organize", { jobs: ["deduplicate", "alias_resolve"] });
    expect([modified(again, "deduplicate"), modified(again, "alias_resolve")]).toEqual([1, 0]);
    await end("SIGTERM");
  });
});
