/** The built program on two databases behind HAProxy, with the settings of docs/scale.md. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endAllServers } from "../../scripts/bench/server.ts";
import { whyNo } from "../../scripts/check/test-programs.ts";
import { leftOut } from "../left-out.ts";
import { cuttable, type Line } from "../postgres/cuttable.ts";
import {
  databaseUrl,
  dropDatabase,
  makeDatabase,
  NO_POSTGRES,
  onServer,
} from "../postgres/databases.ts";
import { type Cluster, startCluster } from "./cluster-places.ts";

setDefaultTimeout(120_000);

const LACKING = NO_POSTGRES ?? whyNo("haproxy");
const PEOPLE = Array.from({ length: 8 }, (_, place) => `Ada ${place} Łąka`);

describe.skipIf(LACKING !== undefined)(`two databases behind HAProxy${leftOut(LACKING)}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-cluster-"));
  const names: string[] = [];
  let line: Line;
  let cluster: Cluster;

  beforeAll(async () => {
    names.push(await makeDatabase(), await makeDatabase());
    const [first = "", second = ""] = names.map(databaseUrl);
    line = await cuttable(Number(new URL(first).port));
    const through = new URL(first);
    through.port = String(line.port);
    cluster = await startCluster(folder, [through.href, second]);
  });
  afterAll(async () => {
    await cluster?.end();
    await endAllServers();
    await line?.cut();
    for (const name of names) await dropDatabase(name);
    rmSync(folder, { recursive: true, force: true });
  });

  async function call(owner: string | undefined, path: string, given?: object) {
    const answer = await fetch(`${cluster.url}/v1/${path}`, {
      headers: {
        "content-type": "application/json",
        ...(owner !== undefined && { "x-owner": encodeURIComponent(owner) }),
      },
      ...(given && { method: "POST", body: JSON.stringify({ user_id: owner, ...given }) }),
    });
    const body: Record<string, unknown> = Object(await answer.json());
    return { status: answer.status, place: answer.headers.get("x-database"), body };
  }

  test("hold each owner's memories in one of them, where they are found again", async () => {
    const places = new Map<string, string | null>();
    for (const owner of PEOPLE) {
      const stored = await call(owner, "store", { content: `${owner} likes green tea.` });
      const found = await call(owner, "retrieve", { query: "Who likes green tea?" });
      expect([stored.status, found.status]).toEqual([200, 200]);
      expect(found.place).toBe(stored.place);
      expect(JSON.stringify(found.body["results"])).toContain(`${owner} likes green tea.`);
      places.set(owner, stored.place);
    }
    for (const [number, name] of names.entries()) {
      const held = await onServer("SELECT user_id FROM owners ORDER BY user_id", name);
      const expected = PEOPLE.filter((owner) => places.get(owner) === String(number));
      expect(expected).not.toBeEmpty();
      expect(held).toEqual(expected.map((owner) => ({ user_id: owner })));
    }
  });

  test("refuse a call that names no owner", async () => {
    const { status, body } = await call(undefined, "nodes");
    expect([status, body["code"]]).toEqual([400, "invalid_argument"]);
  });

  test("serve the owners of the one while the other is away", async () => {
    await line.cut();
    const statuses = new Set<string>();
    for (const owner of PEOPLE) {
      const { status, place, body } = await call(owner, "store", { content: `More of ${owner}.` });
      statuses.add(`${place}: ${status} ${body["code"] ?? "stored"}`);
    }
    expect([...statuses].sort()).toEqual(["0: 503 storage_unavailable", "1: 200 stored"]);
  });
});
