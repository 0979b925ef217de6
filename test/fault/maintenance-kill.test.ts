/**
 * Kills processes that replace a pack by a copy, at random moments, over and over, and looks at what is left.
 * The suite runs 2 rounds of each kind. A longer run:
 *   SVC_FAULT_ROUNDS=50 bun test test/fault/maintenance-kill.test.ts
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { cleanEnvironment, svcCommand } from "../../scripts/bench/server.ts";
import { inspectPack } from "../../src/adapters/sqlite/read/inspect.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { answers, cipherOf, compact, makePack } from "../adapters/sqlite/whole-packs.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  RAW_KEY,
  type SqlitePack,
} from "../contract/sqlite-pack.ts";
import { DISK } from "./disk-folder.ts";

const ROUNDS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 2);
const WORKER = resolve(import.meta.dir, "maintenance-worker.ts");
const NEW_KEY = "5a".repeat(32);
const MEMORIES = 300;

setDefaultTimeout(60_000 + ROUNDS * 10_000);

let folder = "";
/** One pack of each layout, encrypted, from which every round starts. */
const models = { file: "", directory: "" };
let truth: unknown;
beforeAll(async () => {
  folder = mkdtempSync(join(DISK, "svc-swap-"));
  for (const [kind, at] of [["file", filePack] as const, ["directory", directoryPack] as const]) {
    models[kind] = join(folder, `model-${kind}`);
    await makePack(encrypted(at(models[kind])), MEMORIES);
  }
  truth = withoutIdentity(await answers(encrypted(filePack(models.file))));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The two models were made one after the other, so that identifiers and times differ. */
function withoutIdentity(found: unknown): unknown {
  return JSON.parse(
    JSON.stringify(found, (name, value: unknown) =>
      ["id", "manifest", "timestamp"].includes(name) ? "" : value,
    ),
  );
}

/** Runs a program and kills it after so many milliseconds. @returns whether it was killed before its end */
async function killed(command: readonly string[], afterMs: number): Promise<boolean> {
  const env = {
    ...cleanEnvironment(),
    SVC_ENCRYPTION_ENABLED: "true",
    SVC_ENCRYPTION_KEY: RAW_KEY,
  };
  const child = Bun.spawn([...command], { env, stdout: "pipe", stderr: "inherit" });
  const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
  await child.exited;
  clearTimeout(timer);
  if (child.signalCode === null) expect(child.exitCode).toBe(0);
  return child.signalCode !== null;
}

const cutOff = (work: string, pack: SqlitePack, extra: string, afterMs: number) =>
  killed([process.execPath, WORKER, work, JSON.stringify(pack), extra], afterMs);

/** How long the work takes undisturbed, from the start of its process. */
async function duration(run: (afterMs: number) => Promise<boolean>): Promise<number> {
  const started = performance.now();
  expect(await run(60_000)).toBeFalse();
  return performance.now() - started;
}

function fresh(kind: keyof typeof models, name: string): SqlitePack {
  const place = join(folder, name);
  cpSync(models[kind], place, { recursive: true });
  return encrypted((kind === "file" ? filePack : directoryPack)(place));
}

function damage(pack: SqlitePack, cipher = cipherOf(pack)): readonly string[] | undefined {
  const { layout } = pack;
  return inspectPack({ layout, checkIntegrity: true, cipher }).damage;
}

const hidden = (place: string): readonly string[] =>
  readdirSync(place, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(compact|rekey|migrate)|\.swap/.test(name),
  );

async function rounds(
  name: string,
  run: (pack: SqlitePack, afterMs: number) => Promise<boolean>,
  kind: keyof typeof models,
  check: (pack: SqlitePack, place: string) => Promise<void>,
): Promise<void> {
  const whole = await duration((ms) => run(fresh(kind, `${name}-whole`), ms));
  let killed = 0;
  let left = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const place = `${name}-${round}`;
    const pack = fresh(kind, place);
    // The start of the process is the same in every round and holds no danger.
    const afterMs = whole * (0.25 + 0.8 * Math.random());
    if (await run(pack, afterMs)) killed += 1;
    left += hidden(join(folder, place)).length;
    await check(pack, join(folder, place));
    rmSync(join(folder, place), { recursive: true });
  }
  console.log(`${name}: ${ROUNDS} rounds, ${killed} killed, ${left} files left and removed later`);
}

async function outcome(pack: SqlitePack): Promise<{ value?: unknown; code?: string }> {
  try {
    return { value: await answers(pack) };
  } catch (error) {
    return { code: error instanceof SvcError ? error.code : String(error) };
  }
}

for (const kind of ["file", "directory"] as const) {
  test(`a killed compact of a ${kind} leaves the whole pack`, async () => {
    const run = (pack: SqlitePack, ms: number) => cutOff("compact", pack, "", ms);
    await rounds(`compact-${kind}`, run, kind, async (pack, place) => {
      expect(damage(pack)).toEqual([]);
      expect(withoutIdentity(await answers(pack))).toEqual(truth);
      await compact(pack);
      expect(hidden(place)).toEqual([]);
      expect(withoutIdentity(await answers(pack))).toEqual(truth);
    });
  });

  test(`a killed rekey of a ${kind} leaves the whole pack with one key or the other`, async () => {
    const run = (pack: SqlitePack, ms: number) => cutOff("rekey", pack, NEW_KEY, ms);
    await rounds(`rekey-${kind}`, run, kind, async (pack) => {
      const rekeyed = {
        layout: pack.layout,
        encryptionKey: `raw_key:${Buffer.from(NEW_KEY, "hex").toString("base64url")}`,
      };
      // One after the other: an encrypted pack is open once in a process.
      const opened = [await outcome(pack), await outcome(rekeyed)];
      const values = opened.filter(({ code }) => code === undefined);
      expect(values.map(({ value }) => withoutIdentity(value))).toEqual([truth]);
      expect(opened.flatMap(({ code }) => code ?? [])).toEqual(["encryption_failed"]);
    });
  });
}

for (const kind of ["file", "directory"] as const) {
  test(`a killed backup of a ${kind} leaves no copy or a whole one, and the next removes what it left`, async () => {
    const copies = join(folder, `copies-${kind}`);
    const place = join(copies, kind === "file" ? "memory.pack" : "copy");
    const copy = encrypted(kind === "file" ? filePack(copies) : directoryPack(place));
    const isWhole = async () => expect(withoutIdentity(await answers(copy))).toEqual(truth);
    const run = ({ layout }: SqlitePack, ms: number) => {
      rmSync(place, { recursive: true, force: true });
      const from = layout.kind === "file" ? layout.path : dirname(layout.databasePath);
      return killed([...svcCommand(), "backup", from, place], ms);
    };
    await rounds(`backup-${kind}`, run, kind, async (pack) => {
      if (existsSync(place)) await isWhole();
      expect(await run(pack, 60_000)).toBeFalse();
      expect(readdirSync(copies).filter((name) => name.startsWith("."))).toEqual([]);
      await isWhole();
      expect(withoutIdentity(await answers(pack))).toEqual(truth);
    });
  });
}

test("a killed migrate leaves the directory, and a whole pack or none", async () => {
  const destination = (pack: SqlitePack): string =>
    pack.layout.kind === "directory" ? `${pack.layout.databasePath}.pack` : "";
  const run = (pack: SqlitePack, ms: number) => cutOff("migrate", pack, destination(pack), ms);
  await rounds("migrate", run, "directory", async (pack, place) => {
    expect(damage(pack)).toEqual([]);
    expect(withoutIdentity(await answers(pack))).toEqual(truth);
    const made: SqlitePack = { ...pack, layout: { kind: "file", path: destination(pack) } };
    if (!existsSync(destination(pack))) expect(await run(pack, 60_000)).toBeFalse();
    expect(damage(made)).toEqual([]);
    expect(withoutIdentity(await answers(made))).toEqual(truth);
    rmSync(destination(pack));
    expect(await run(pack, 60_000)).toBeFalse();
    expect(hidden(place)).toEqual([]);
  });
});
