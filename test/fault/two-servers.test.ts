/**
 * Two servers on one database, with many clients, one server killed with SIGKILL in the middle. The suite runs some seconds of what
 * `bun scripts/bench/two-servers.ts` runs for a minute.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endAllServers } from "../../scripts/bench/server.ts";
import { complaintsOf, runTwoServers } from "../../scripts/bench/two-servers.ts";
import { leftOut } from "../left-out.ts";
import { databaseUrl, dropDatabase, makeDatabase, NO_POSTGRES } from "../postgres/databases.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-two-servers-"));
});
afterAll(async () => {
  await endAllServers();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(NO_POSTGRES !== undefined)(
  `a server that is killed loses nothing that was acknowledged, and the other one fails no call${leftOut(NO_POSTGRES)}`,
  async () => {
    const name = await makeDatabase();
    try {
      const result = await runTwoServers({
        url: databaseUrl(name),
        folder,
        clients: 8,
        seconds: 4,
      });

      expect(complaintsOf(result)).toEqual([]);
      expect(result.acknowledged).toBeGreaterThan(0);
      expect(result.killed.known.size).toBeGreaterThan(0);
      expect(result.other.known.size).toBeGreaterThan(0);
    } finally {
      await endAllServers();
      await dropDatabase(name);
    }
  },
  240_000,
);
