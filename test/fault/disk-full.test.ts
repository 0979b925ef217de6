import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "../../scripts/bench/http-client.ts";
import {
  endAllServers,
  type ServerProcess,
  startServer,
  svcCommand,
} from "../../scripts/bench/server.ts";
import { ERROR_MAP } from "../../src/surface/contract/core/error-map.ts";
import { DISK } from "./disk-folder.ts";
import { examine, SOUND } from "./examine.ts";
import { findLost, findUnfindable, Ledger, processAll } from "./ledger.ts";
import { describeOnDisk, openSmallDisk } from "./small-disk.ts";

const DISK_BYTES = 24 * 1024 * 1024;
/** What is left of it when the writing begins. */
const ROOM_BYTES = 512 * 1024;
const SEED = 5;
const WRITES_MAX = 2_000;

const folder = mkdtempSync(join(DISK, "svc-disk-"));
const opened = await openSmallDisk(folder, DISK_BYTES);

afterAll(async () => {
  await endAllServers();
  if (!("reason" in opened)) await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

describeOnDisk("on a full disk", opened, (disk) => {
  const pack = join(folder, "small", "memory.pack");
  const ledger = new Ledger(SEED);
  let server: ServerProcess;
  let client: Client;

  const start = async (): Promise<void> => {
    server = await startServer({
      pack,
      logFile: join(folder, "server.log"),
      command: disk.command(svcCommand()),
    });
    client = createClient(server.url, "disk");
  };

  /** Writes until the server has said three times that it cannot. */
  const writeUntilRefused = async (write: () => Promise<boolean>): Promise<readonly string[]> => {
    const before = ledger.refusals.length;
    for (let count = 0; count < WRITES_MAX && ledger.refusals.length < before + 3; count += 1) {
      await write();
    }
    return ledger.refusals.slice(before);
  };

  beforeAll(async () => {
    await start();
    for (let count = 0; count < 10; count += 1) await ledger.store(client);
    disk.fillUpTo(ROOM_BYTES);
  }, 120_000);

  test("a batch that does not fit is refused with disk_full and its remedy", async () => {
    const refusals = await writeUntilRefused(() => ledger.ingest(client, 40));
    expect(refusals.length).toBeGreaterThanOrEqual(3);
    for (const refusal of refusals) {
      expect(refusal).toStartWith(`${ERROR_MAP.disk_full.httpStatus} `);
      expect(refusal).toContain("the disk is full");
      expect(refusal).toContain("Free some space");
    }
  }, 120_000);

  test("a store is refused with disk_full", async () => {
    const refusals = await writeUntilRefused(() => ledger.store(client));
    expect(refusals.length).toBeGreaterThanOrEqual(3);
    for (const refusal of refusals) {
      expect(refusal).toStartWith(`${ERROR_MAP.disk_full.httpStatus} `);
    }
  }, 120_000);

  test("what was stored before can still be read and found", async () => {
    const early = ledger.acknowledgedStores.slice(0, 5);
    expect(early.length).toBe(5);
    expect(await findUnfindable(client, early)).toEqual([]);
    expect(await findLost(client, ledger.acknowledged)).toEqual([]);
  }, 120_000);

  test("a server killed there comes back with everything once there is room", async () => {
    await server.end("SIGKILL");
    disk.free();
    await start();
    expect(await findLost(client, ledger.acknowledged)).toEqual([]);
    const known = ledger.acknowledgedStores.length;
    await ledger.store(client);
    expect(ledger.acknowledgedStores.length).toBe(known + 1);
  }, 120_000);

  test("the same server works on once there is room", async () => {
    disk.fillUpTo(ROOM_BYTES);
    const refusals = await writeUntilRefused(() => ledger.ingest(client, 40));
    expect(refusals.length).toBeGreaterThanOrEqual(3);
    disk.free();
    const known = ledger.acknowledgedStores.length;
    await ledger.store(client);
    expect(ledger.acknowledgedStores.length).toBe(known + 1);
    await processAll(client);
    expect(await findUnfindable(client, ledger.acknowledgedStores)).toEqual([]);
    expect(await server.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
    // Opened outside: SQLite cannot lock through another namespace's path.
    const copy = join(folder, "copy.pack");
    copyFileSync(join(disk.outsidePath, "memory.pack"), copy);
    expect(examine(copy, ledger.entries)).toEqual(SOUND);
  }, 240_000);
});
