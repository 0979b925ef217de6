/**
 * Kills `svc rebuild` with SIGKILL at random moments, over and over on one pack, and looks for vectors of two models side
 * by side and for anything that is lost.
 *
 * The suite runs 2 rounds. A longer run, and the seed of a failed one:
 *   SVC_FAULT_ROUNDS=50 bun test test/fault/rebuild-kill.test.ts
 *   SVC_FAULT_SEED=1234 bun test test/fault/rebuild-kill.test.ts
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createRandom } from "../../scripts/bench/sentences.ts";
import { createDesk, type Desk } from "../surface/cli/run-svc.ts";
import { DISK } from "./disk-folder.ts";
import { FORMER, makeFormerPack, progressOf } from "./former-pack.ts";

const ROUNDS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 2);
const SEED = Number(process.env["SVC_FAULT_SEED"] ?? Date.now() % 1_000_000);
/** A round must be over before all of them are embedded. */
const MEMORIES = 40 * ROUNDS + 40;
const OWN = "BAAI/bge-small-en-v1.5";

let desk: Desk;
let pack = "";
beforeAll(async () => {
  desk = createDesk(DISK);
  pack = join(desk.folder, "memory.pack");
  await makeFormerPack(pack, MEMORIES);
});
afterAll(() => desk.remove());

async function untilStaged(wanted: number): Promise<number> {
  for (;;) {
    const { staged, models, model } = progressOf(pack);
    // Until the new vectors change places with the old ones, every search meets the old ones alone.
    expect({ models, model }).toEqual({
      models: { [FORMER.model]: MEMORIES },
      model: FORMER.model,
    });
    if (staged >= wanted) return staged;
    await Bun.sleep(5);
  }
}

test(
  `a rebuild killed ${ROUNDS} times goes on where it was and ends sound`,
  async () => {
    const random = createRandom(SEED);
    console.log(`rebuild: ${ROUNDS} kills, seed ${SEED}`);
    let staged = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const running = desk.start(["rebuild", "memory.pack", "--batch-size", "4"]);
      const reached = await untilStaged(staged + 1 + Math.floor(random() * 24));
      await Bun.sleep(random() * 20);
      running.kill("SIGKILL");
      await running.exited;
      expect(reached).toBeGreaterThan(staged);
      ({ staged } = progressOf(pack));
      expect(staged).toBeGreaterThanOrEqual(reached);
    }
    const last = await desk.run(["rebuild", "memory.pack", "--format", "json"]);
    expect(last).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(last.stdout)).toEqual({
      nodes_indexed: MEMORIES,
      nodes_skipped: 0,
      total_active: MEMORIES,
      nodes_embedded: MEMORIES - staged,
    });
    expect(progressOf(pack)).toEqual({ staged: 0, models: { [OWN]: MEMORIES }, model: OWN });
    const doctor = JSON.parse(
      (await desk.run(["doctor", "memory.pack", "--format", "json"])).stdout,
    );
    expect(doctor).toMatchObject({ ok: true, failures: 0, warnings: 0 });
  },
  60_000 + ROUNDS * 30_000,
);
