/**
 * What another user of this machine can do to the processes that share a pack: the built program, and real programs of
 * another user. They are started by the superuser; without one, only what a user can do to itself is tried.
 * The program is SVC_EXE, else dist/svc, else src/main.ts under Bun.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  type Assistant,
  type AssistantOptions,
  hasOpen,
  startAssistant,
} from "../../scripts/bench/assistant-client.ts";
import { leftOut } from "../left-out.ts";
import { livingIn, socketOf, usePlace } from "./place.ts";
import { CONNECT, LISTEN, noStranger, SWAP, startStranger } from "./stranger.ts";

const OWNER = "ada";
const SECRET = "The spare key lies under the blue flower pot.";

const { root, packIn } = usePlace("link-attacks");

/** A pack with one memory, which every attack gets a copy of. */
const template = packIn("template");
let nodeId = "";

beforeAll(async () => {
  const maker = await startAssistant({
    pack: template,
    folder: root,
    environment: livingIn(root),
  });
  const { value } = await maker.call("memory_store", { content: SECRET, user_id: OWNER });
  nodeId = String(value["node_id"]);
  expect(await maker.leave()).toBe(0);
});

/** A home of its own for each attack, and a pack in a folder there. */
function victim(name: string): { readonly home: string; readonly pack: string } {
  const home = join(root, name);
  const pack = packIn(join(name, "packs"));
  cpSync(template, pack);
  chmodSync(root, 0o755);
  chmodSync(home, 0o755);
  return { home, pack };
}

const start = async (
  { home, pack }: ReturnType<typeof victim>,
  options: Partial<AssistantOptions> = {},
): Promise<Assistant> =>
  await startAssistant({ pack, folder: root, environment: livingIn(home), ...options });

/**
 * The first one archives the memory, and each of them sees it archived, without the model. Fails unless `openers` of them have
 * the pack open then, and all end in order, without a word.
 */
async function useAndLeave(
  pack: string,
  assistants: readonly [Assistant, ...Assistant[]],
  openers: number,
): Promise<void> {
  const memory = { node_id: nodeId };
  expect(await assistants[0].call("memory_archive_node", memory)).toMatchObject({ isError: false });
  for (const { call } of assistants) {
    expect((await call("memory_get_node", memory)).value).toMatchObject({
      content: SECRET,
      lifecycle_state: "archived",
    });
  }
  const open = assistants.map(({ process: { pid } }) => hasOpen(pid, pack));
  // Undefined where the system does not tell.
  if (!open.includes(undefined)) expect(open.filter(Boolean)).toHaveLength(openers);
  for (const assistant of assistants.toReversed()) {
    expect(await assistant.leave()).toBe(0);
    expect(await assistant.process.stderr()).toBe("");
  }
}

describe.skipIf(noStranger !== undefined)(`another user${leftOut(noStranger)}`, () => {
  test("who swaps sockets beside the pack, in a folder that all may write to, meets nobody", async () => {
    const { home, pack } = victim("swap");
    chmodSync(dirname(pack), 0o777);
    const stranger = await startStranger(SWAP, `${pack}.sock`);
    const host = await start({ home, pack });
    const guests = [await start({ home, pack }), await start({ home, pack })];
    await useAndLeave(pack, [host, ...guests], 1);
    expect(await stranger.stop()).toEqual([]);
  }, 120_000);

  test("whose socket lies at the address, in a folder open to all, is neither spoken to nor removed", async () => {
    const { home, pack } = victim("foreign");
    const address = socketOf(home, pack);
    for (let folder = dirname(address); folder !== home; folder = dirname(folder)) {
      chmodSync(folder, 0o711);
    }
    chmodSync(dirname(address), 0o1777);
    const stranger = await startStranger(LISTEN, address);
    const both = [await start({ home, pack }), await start({ home, pack })] as const;
    await useAndLeave(pack, both, 2);
    expect(existsSync(address)).toBe(true);
    expect(await stranger.stop()).toEqual([]);
  }, 120_000);

  test("who got hold of the address itself, with a file that looks like this user's, is told nothing", async () => {
    const { home, pack } = victim("held");
    const outside = join(root, "held-outside");
    mkdirSync(outside);
    chmodSync(outside, 0o777);
    const stranger = await startStranger(LISTEN, join(outside, "m.sock"));
    const address = socketOf(home, pack);
    renameSync(join(outside, "m.sock"), address);
    chownSync(address, process.getuid?.() ?? 0, -1);
    const both = [await start({ home, pack }), await start({ home, pack })] as const;
    await useAndLeave(pack, both, 2);
    // They asked the system who is there before they said a word.
    expect([...new Set(await stranger.stop())]).toEqual(["spoken to"]);
  }, 120_000);

  test("who reaches the socket of a running server gets not even its greeting", async () => {
    const { home, pack } = victim("reached");
    const host = await start({ home, pack });
    const address = socketOf(home, pack);
    for (let folder = dirname(address); folder !== home; folder = dirname(folder)) {
      chmodSync(folder, 0o711);
    }
    chmodSync(address, 0o666);
    const stranger = await startStranger(CONNECT, address);
    while (!stranger.said().some((line) => line.startsWith("heard"))) await Bun.sleep(20);
    expect(await stranger.stop()).toContain("heard 0");
    await useAndLeave(pack, [host], 1);
  }, 120_000);
});

describe("the secret of the link", () => {
  const FILE = ".config/svc/keys/link.secret";
  const known = `${"5".repeat(64)}\n`;
  test("that others can read is not trusted: each process serves its own client", async () => {
    const { home, pack } = victim("readable");
    const path = join(home, FILE);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, known, { mode: 0o644 });
    const both = [await start({ home, pack }), await start({ home, pack })] as const;
    await useAndLeave(pack, both, 2);
    expect(readFileSync(path, "utf8")).toBe(known);
  }, 120_000);

  test("that is deleted while processes share a pack is made again; newcomers serve their own clients", async () => {
    const { home, pack } = victim("deleted");
    const [host, guest] = [await start({ home, pack }), await start({ home, pack })];
    const path = join(home, FILE);
    const first = readFileSync(path, "utf8");
    unlinkSync(path);
    const newcomer = await start({ home, pack });
    expect(readFileSync(path, "utf8")).not.toBe(first);
    await useAndLeave(pack, [host, guest, newcomer], 2);
  }, 120_000);
});

test("without a place to meet, since HOME is not set, each process serves its own client", async () => {
  const { home, pack } = victim("homeless");
  // Set to nothing rather than left out: these variables lie on top of those of the test's own process.
  const environment = { ...livingIn(home), HOME: "", XDG_CONFIG_HOME: "" };
  const both = [
    await start({ home, pack }, { environment }),
    await start({ home, pack }, { environment }),
  ] as const;
  await useAndLeave(pack, both, 2);
}, 120_000);
