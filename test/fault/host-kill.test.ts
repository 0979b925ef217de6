/**
 * Several assistants on one pack store without a pause, and the process that serves them all is killed with SIGKILL, over
 * and over: the others go on, nothing acknowledged is lost, and nothing is there twice.
 *
 * The suite kills once. A longer run:
 *   SVC_FAULT_ROUNDS=20 bun test test/fault/host-kill.test.ts
 * The program is SVC_EXE, else dist/svc, else src/main.ts under Bun.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type Assistant,
  endAllAssistants,
  hasOpen,
  startAssistant,
} from "../../scripts/bench/assistant-client.ts";
import { DISK } from "./disk-folder.ts";
import { examine, SOUND } from "./examine.ts";
import type { Entry } from "./ledger.ts";

const ROUNDS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 1);
const ASSISTANTS = 4;
const OWNER = "ada";
/** Milliseconds for the others to go on, on a machine that does nothing else; one that tests everything at once gets more. */
const TARGET_MS = 2000;
const LIMIT_MS = 10_000;
/** The same for one that needs longer than this to start an assistant, which is about as much work. */
const BUSY_START_MS = 2000;
const BUSY_LIMIT_MS = 120_000;

let root = "";
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(DISK, "svc-host-kill-")));
});
afterAll(async () => {
  await endAllAssistants();
  rmSync(root, { recursive: true, force: true });
});

/** Stores one memory after the other, and takes note of what became of each. */
class Writer {
  readonly entries: Entry[] = [];
  readonly failures: string[] = [];
  /** Of each acknowledgement, on the clock of `performance`. */
  readonly acknowledgedAt: number[] = [];
  readonly assistant: Assistant;
  readonly done: Promise<void>;
  readonly #name: string;
  isKilled = false;
  #isStopped = false;

  constructor(assistant: Assistant, name: string) {
    this.assistant = assistant;
    this.#name = name;
    this.done = this.#write();
  }

  get pid(): number {
    return this.assistant.process.pid;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.done;
  }

  /** Milliseconds from that moment to the next acknowledgement. */
  async nextAfter(moment: number): Promise<number> {
    for (;;) {
      const next = this.acknowledgedAt.find((at) => at > moment);
      if (next !== undefined) return next - moment;
      if (performance.now() - moment > limitMs()) return Number.POSITIVE_INFINITY;
      await Bun.sleep(2);
    }
  }

  async #write(): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      const word = `${this.#name}n${count}`;
      const entry: Entry = { content: `The word ${word} is kept.`, word, call: 0, kind: "store" };
      this.entries.push(entry);
      try {
        const { isError, value } = await this.assistant.call("memory_store", {
          content: entry.content,
          user_id: OWNER,
        });
        if (isError) this.failures.push(JSON.stringify(value));
        else entry.eventId = String(value["event_id"]);
        this.acknowledgedAt.push(performance.now());
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!this.isKilled) this.failures.push(reason);
        // Nobody is left who could answer the next call.
        return;
      }
    }
  }
}

/** The longest start of an assistant so far. */
let startMs = 0;

async function startOne(pack: string): Promise<Assistant> {
  const environment = { HOME: root, XDG_CACHE_HOME: join(root, "cache") };
  const begun = performance.now();
  const assistant = await startAssistant({ pack, environment });
  startMs = Math.max(startMs, performance.now() - begun);
  return assistant;
}

const limitMs = (): number => (startMs < BUSY_START_MS ? LIMIT_MS : BUSY_LIMIT_MS);

/** Who has the pack open; found by its files, so on Linux only. Elsewhere the first one does. */
function serving(writers: readonly Writer[], pack: string): Writer {
  const found = writers.find(({ pid }) => hasOpen(pid, pack)) ?? writers[0];
  if (found === undefined) throw new Error("nobody serves");
  return found;
}

/** Exit code and words for people of each. */
function allLeave(assistants: readonly Assistant[]): Promise<readonly unknown[]> {
  return Promise.all(
    assistants.map(async (assistant) => [
      await assistant.leave(),
      await assistant.process.stderr(),
    ]),
  );
}

function newPack(name: string): string {
  mkdirSync(join(root, name));
  return join(root, name, "memory.pack");
}

function expectSound(pack: string, writers: readonly Writer[]): void {
  const entries = writers.flatMap((writer, number) =>
    writer.entries.map((entry, index) => ({ ...entry, call: number * 1_000_000 + index })),
  );
  // A job that a killed process had taken is finished by the next one that looks, not at once.
  const { unfinished: _, ...examination } = examine(pack, entries);
  const { unfinished: __, ...sound } = SOUND;
  expect(examination).toEqual(sound);
  expect(writers.flatMap(({ failures }) => failures)).toEqual([]);
}

test(
  `the others go on, and keep everything acknowledged, over ${ROUNDS} kills`,
  async () => {
    const pack = newPack("kill");
    const all: Writer[] = [];
    const alive: Writer[] = [];
    const add = async (): Promise<void> => {
      const writer = new Writer(await startOne(pack), `w${all.length}`);
      all.push(writer);
      alive.push(writer);
    };
    while (alive.length < ASSISTANTS) await add();
    const pauses: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const busy = performance.now();
      await Promise.all(alive.map((writer) => writer.nextAfter(busy)));
      await Bun.sleep(Math.random() * 100);
      const host = serving(alive, pack);
      const moment = performance.now();
      host.isKilled = true;
      host.assistant.process.child.kill("SIGKILL");
      alive.splice(alive.indexOf(host), 1);
      await host.done;
      pauses.push(
        Math.max(...(await Promise.all(alive.map((writer) => writer.nextAfter(moment))))),
      );
      await add();
    }
    await Promise.all(alive.map((writer) => writer.stop()));
    const endings = await allLeave(alive.map(({ assistant }) => assistant));
    const acknowledged = all.flatMap(({ entries }) => entries).filter(({ eventId }) => eventId);
    console.log(
      `kill -9 of the serving process: ${ROUNDS} rounds, ${acknowledged.length} acknowledged, ` +
        `the others went on after ${pauses.map((ms) => Math.round(ms)).join(", ")} ms (target ${TARGET_MS}; a start took ${Math.round(startMs)})`,
    );
    expect(endings).toEqual(alive.map(() => [0, ""]));
    expect(Math.max(...pauses)).toBeLessThan(limitMs());
    expect(readdirSync(dirname(pack))).toEqual(["memory.pack"]);
    expectSound(pack, all);
    expect(acknowledged.length).toBeGreaterThan(ROUNDS * ASSISTANTS);
  },
  120_000 + ROUNDS * 240_000,
);
