/** A real standby server, which takes no writes, and a database whose disk is full. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "../../scripts/check/postgres.ts";
import { openPostgres } from "../contract/postgres-place.ts";
import { anAdmission, anEvent } from "../contract/samples.ts";
import { type Lacking, leftOut, NOT_ROOT } from "../left-out.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";

setDefaultTimeout(180_000);

const DISK_BYTES = 40 * 2 ** 20;

let database: PostgresServer | undefined;

/** A small file system, which the server of the database sees as well. */
const disk = NOT_ROOT === undefined ? mkdtempSync(join(tmpdir(), "svc-small-")) : "";
const NO_DISK: Lacking = NO_POSTGRES ?? NOT_ROOT ?? mounted();

/** @returns why it could not be mounted */
function mounted(): Lacking {
  const args = ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "none", disk];
  const { exitCode, stderr } = Bun.spawnSync(["mount", ...args]);
  if (exitCode === 0) chmodSync(disk, 0o777);
  return exitCode === 0 ? undefined : `it takes a file system of its own: ${stderr}`.trim();
}

beforeAll(async () => {
  if (NO_POSTGRES !== undefined) return;
  const started = await startPostgres(join(import.meta.dir, "../.."));
  if (typeof started === "string") throw new Error(started);
  database = started;
});
afterAll(async () => {
  await database?.stop();
  if (NO_DISK === undefined) Bun.spawnSync(["umount", "-l", disk]);
  if (disk !== "") rmSync(disk, { recursive: true, force: true });
});

async function onServer(statement: string): Promise<readonly Record<string, string>[]> {
  const sql = new Bun.SQL({ url: database?.url ?? "", max: 1 });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.close();
  }
}

function urlOf(name: string): string {
  const url = new URL(database?.url ?? "");
  url.pathname = `/${name}`;
  return url.href;
}

describe.skipIf(NO_DISK !== undefined)(`a database whose disk is full${leftOut(NO_DISK)}`, () => {
  test("refuses to store with disk_full, keeps what it had, and stores again when there is room", async () => {
    const place = join(disk, "space");
    Bun.spawnSync(["install", "-d", "-m", "700", "-o", "65534", "-g", "65534", place]);
    await onServer(`CREATE TABLESPACE small LOCATION '${place}'`);
    await onServer("CREATE DATABASE small TABLESPACE small");
    const store = await openPostgres({ url: urlOf("small") });
    const kept = [];
    let failure: unknown;
    while (failure === undefined) {
      const event = anEvent({ content: randomBytes(500_000).toString("base64") });
      try {
        await store.admit(anAdmission([event]));
        kept.push(event);
      } catch (error) {
        failure = error;
      }
    }
    expect(failure).toMatchObject({
      code: "disk_full",
      message: expect.stringContaining(
        "the server's disk is full; nothing of this operation was stored. Free some space and try again.",
      ),
    });
    expect(kept.length).toBeGreaterThan(0);
    for (const event of kept) expect(await store.event(event.id, "ada")).toEqual(event);
    Bun.spawnSync(["mount", "-o", `remount,size=${2 * DISK_BYTES}`, disk]);
    const later = anEvent();
    await store.admit(anAdmission([later]));
    expect(await store.event(later.id, "ada")).toEqual(later);
    await store.close();
  });
});

describe.skipIf(NO_POSTGRES !== undefined)(`a standby server${leftOut(NO_POSTGRES)}`, () => {
  test("answers reads, and refuses writes as what they are", async () => {
    const url = urlOf("postgres");
    const primary = await openPostgres({ url });
    const event = anEvent();
    await primary.admit(anAdmission([event]));
    await primary.close();
    const [row] = await onServer("SHOW data_directory");
    await database?.halt("SIGINT");
    writeFileSync(join(row?.["data_directory"] ?? "", "standby.signal"), "");
    await database?.resume();

    const store = await openPostgres({ url });
    expect(await store.event(event.id, "ada")).toEqual(event);
    await expect(store.admit(anAdmission([anEvent()]))).rejects.toMatchObject({
      code: "pack_read_only",
      message: expect.stringContaining(
        "is read-only, as a standby server is; nothing was changed. Give the address of the primary server.",
      ),
    });
    await store.close();
    await expect(openPostgres({ url }, { softwareVersion: "9.9.9" })).rejects.toMatchObject({
      code: "pack_read_only",
    });
  });
});
