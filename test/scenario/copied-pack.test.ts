/**
 * Plain copies of a pack that four assistants write: the built program, the official client, and `cp` of the file alone.
 * The suite makes one copy of one kind, two of the other. A longer run:
 *   SVC_FAULT_ROUNDS=20 bun test test/scenario/copied-pack.test.ts
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Assistant, startAssistant } from "../../scripts/bench/assistant-client.ts";
import { svcCommand } from "../../scripts/bench/server.ts";
import { until } from "../until.ts";
import { usePlace } from "./place.ts";

const ROUNDS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 1);
const OWNER = "ada";
const FOUR = Array.from({ length: 4 }, (_, index) => index);

setDefaultTimeout(120_000 + ROUNDS * 60_000);

const { environment: common, packIn } = usePlace("copied");

type Outcome = { readonly code: number; readonly stdout: string };

async function svc(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = Bun.spawn([...svcCommand(), ...args], { env, stdout: "pipe", stderr: "pipe" });
  const [stdout] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout };
}

/** Copies as people do. */
function copy(pack: string, to: string): void {
  mkdirSync(join(to, ".."), { recursive: true });
  expect(Bun.spawnSync(["cp", pack, to]).exitCode).toBe(0);
}

/** The exit code of `svc doctor`, and what it calls broken. */
async function doctor(pack: string, env: Readonly<Record<string, string>>) {
  const { code, stdout } = await svc(["doctor", pack, "--format", "json"], env);
  const checks: readonly { name: string; status: string; message: string }[] =
    JSON.parse(stdout).checks;
  const failed = checks.filter(({ status }) => status === "fail");
  return { code, failed: failed.map(({ name, message }) => `${name}: ${message}`) };
}

async function events(pack: string, env: Readonly<Record<string, string>>): Promise<Set<string>> {
  const { code, stdout }: Outcome = await svc(["export", pack, "--format", "jsonl"], env);
  expect(code).toBe(0);
  return new Set(stdout.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g));
}

async function storeAs({ call }: Assistant, content: string): Promise<string> {
  const answer = await call("memory_store", { content, user_id: OWNER });
  expect(answer.isError).toBe(false);
  return String(answer.value["event_id"]);
}

describe("a pack that four assistants use", () => {
  test("is whole in each copy that is made when its log was emptied, soon after the last write", async () => {
    const pack = packIn("idle");
    const environment = common();
    const four = await Promise.all(FOUR.map(() => startAssistant({ pack, environment })));
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const stored = await Promise.all(
        four.map((one, index) => storeAs(one, `Round ${round}, assistant ${index}.`)),
      );
      acknowledged.push(...stored);
      await until(() => statSync(`${pack}-wal`).size === 0);
      const to = join(pack, `../copies/${round}.pack`);
      copy(pack, to);
      expect(await doctor(to, environment)).toEqual({ code: 0, failed: [] });
      const found = await events(to, environment);
      expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    }
    await Promise.all(four.map((one) => one.leave()));
  });

  test("loses nothing while it is copied, and what a copy has can be exported or is called broken", async () => {
    const pack = packIn("busy");
    const environment = common();
    const four = await Promise.all(FOUR.map(() => startAssistant({ pack, environment })));
    const acknowledged: string[] = [];
    let isOver = false;
    const writing = four.map(async (one, index) => {
      for (let count = 0; !isOver; count += 1) {
        acknowledged.push(await storeAs(one, `Memory ${count} of assistant ${index}.`));
      }
    });
    const copies: string[] = [];
    for (let round = 0; round < ROUNDS * 2; round += 1) {
      await Bun.sleep(300 + 700 * Math.random());
      const path = join(pack, `../copies/${round}.pack`);
      copy(pack, path);
      copies.push(path);
    }
    isOver = true;
    await Promise.all(writing);
    await Promise.all(four.map((one) => one.leave()));
    for (const path of copies) {
      if ((await doctor(path, environment)).code !== 0) continue;
      // What was in the log at that moment is not in the copy of the file alone.
      await events(path, environment);
    }
    const all = await events(pack, environment);
    expect(acknowledged.filter((id) => !all.has(id))).toEqual([]);
    expect((await doctor(pack, environment)).failed).toEqual([]);
  });
});
