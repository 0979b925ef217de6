/** Commands that name no pack. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeOnTerminal, onTerminal } from "./on-terminal.ts";
import { createDesk, createWordDesk, type Desk } from "./run-svc.ts";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

let desk: Desk;
/** With the model of the program. */
let own: Desk;
const elsewhere = (): string => join(desk.folder, "elsewhere");

/** Runs a command in another folder than that of the pack. */
async function run(...args: readonly string[]) {
  const child = desk.start(args, {}, elsewhere());
  await child.stdin.end();
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

beforeAll(() => {
  desk = createWordDesk();
  own = createDesk();
  mkdirSync(elsewhere());
});
afterAll(() => {
  desk.remove();
  own.remove();
});

describe("without a pack", () => {
  test("a command says how to make one, and makes none", async () => {
    const { code, stderr } = await run("store", "tea");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("svc init") });
    expect(existsSync(join(elsewhere(), "memory.pack"))).toBeFalse();
  });
});

describe("the pack of this user", () => {
  let tea: string;
  beforeAll(async () => {
    for (const one of [desk, own]) await one.run(["init", "--plain", "--owner", "anna"]);
    tea = JSON.parse((await run("add", "Anna drinks tea", "--format", "json")).stdout).node_id;
  });

  test("is that of init, from any folder; a line says which", async () => {
    const pack = join(desk.folder, "memory.pack");
    expect(await run("ls")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Anna drinks tea"),
      stderr: `Pack: ${pack}\n`,
    });
    const found = await run("find", "what", "does", "Anna", "drink?");
    expect(found.stdout).toContain("Anna drinks tea");
    expect(existsSync(join(elsewhere(), "memory.pack"))).toBeFalse();
  });

  test("is served, from any folder", async () => {
    const server = desk.start(["serve", "--port", "0"], {}, elsewhere());
    let told = "";
    let isServing = false;
    const decoder = new TextDecoder();
    for await (const chunk of server.stderr) {
      told += decoder.decode(chunk, { stream: true });
      if (!isServing && told.includes("listening on")) {
        isServing = true;
        server.kill("SIGTERM");
      }
    }
    expect(await server.exited).toBe(0);
    expect(told).toContain(`pack ${join(desk.folder, "memory.pack")}`);
    expect(existsSync(join(elsewhere(), "memory.db"))).toBeFalse();
  });

  test("is that of an assistant whose entry names none, whatever lies in the folder where it starts", async () => {
    const stranger = join(elsewhere(), "strange");
    mkdirSync(stranger);
    await desk.run(["init", "elsewhere/strange/memory.pack", "--plain", "--owner", "anna"]);
    await desk.run(["init", "memory.pack", "--plain", "--owner", "anna"]);
    const assistant = desk.start(["mcp"], {}, stranger);
    for (const message of [
      {
        id: 1,
        method: "initialize",
        params: {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "assistant", version: "1" },
        },
      },
      { id: 2, method: "tools/call", params: { name: "memory_scan_nodes", arguments: {} } },
    ]) {
      assistant.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    }
    await assistant.stdin.end();
    expect(await new Response(assistant.stdout).text()).toContain("Anna drinks tea");
    expect(await assistant.exited).toBe(0);
  });

  test("stands behind one that is named, set or here", async () => {
    await desk.run(["init", "elsewhere/other.pack", "--plain", "--owner", "anna"]);
    const list = async (...args: readonly string[]) =>
      JSON.parse((await run("list", ...args, "--format", "json")).stdout).count;
    expect(await list("./other.pack")).toBe(0);
    expect(await list("--pack", "other.pack")).toBe(0);
    expect(await list("--db-path", "other.pack")).toBe(0);
    expect(await list()).toBe(1);
    const set = await desk.run(["list"], { env: { SVC_PACK_PATH: "elsewhere/other.pack" } });
    expect(set.stdout).toBe("(no results)\n");
    const twice = await run("list", "other.pack", "--pack", "other.pack");
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining("--pack") });
  });

  test("is no pack that a text only looks like", async () => {
    writeFileSync(join(elsewhere(), "notes"), "");
    for (const text of ["notes of Friday", "https://example.com/a.pack is down"]) {
      const { stdout, code } = await run("store", ...text.split(" "), "--format", "json");
      expect(code).toBe(0);
      const { node_id: id } = JSON.parse(stdout);
      expect(JSON.parse((await run("show", id, "--format", "json")).stdout).content).toBe(text);
      await run("archive", id, "--yes");
    }
    expect(await run("find", "/etc/nginx")).toMatchObject({ code: 0 });
    const observed = await run("observe", elsewhere());
    expect(observed.stderr).toContain("No photo or video was found.");
    const missing = await run("store", "./mistyped.pack", "tea");
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("mistyped.pack") });
  });

  test("is changed by the words that people type, and by the end of an id", async () => {
    const end = tea.slice(-6);
    const { stdout } = await run("update", end, "Anna drinks coffee", "--format", "json");
    const { id: coffee } = JSON.parse(stdout);
    expect(JSON.parse((await run("get", end, "--format", "json")).stdout)).toMatchObject({
      lifecycle_state: "superseded",
      superseded_by: coffee,
    });
    const other = JSON.parse(
      (await run("remember", "Anna drinks cocoa", "--format", "json")).stdout,
    );
    await run("replace", coffee.slice(-6), other.node_id.slice(-6));
    const chain = JSON.parse((await run("history", end, "--format", "json")).stdout);
    expect(chain.forward_chain.map(({ id }: { id: string }) => id)).toEqual([
      coffee,
      other.node_id,
    ]);
    const shown = await run("rm", other.node_id.slice(-6));
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("Would be erased:") });
    expect((await run("ls")).stdout).toContain("Anna drinks cocoa");
  });

  test("tells the day on which something happens, wherever that is listed", async () => {
    await run("store", "Eva and Jonas get married", "--event-time", "2027-05-01");
    const told = expect.stringContaining("(2027-05-01) Eva and Jonas get married");
    expect(await run("ls")).toMatchObject({ stdout: told });
    expect(await run("find", "when do Eva and Jonas get married?")).toMatchObject({ stdout: told });
  });

  test("takes times as people write them, in several languages", async () => {
    const day = async (text: string) => {
      const args = ["store", `on ${text}`, "--event-time", text, "--format", "json"];
      const { node_id } = JSON.parse((await run(...args)).stdout);
      const shown = JSON.parse((await run("show", node_id, "--format", "json")).stdout);
      return new Date(shown.event_time).toLocaleDateString("sv-SE");
    };
    expect(await day("3.12.2031")).toBe("2031-12-03");
    expect(await day("4. Dezember 2031")).toBe("2031-12-04");
    expect(await day("5 décembre 2031")).toBe("2031-12-05");
    expect(await run("list", "--since", "12/03/2031")).toMatchObject({ code: 2 });
  });

  test("says once that its model does not read a language, and so does doctor", async () => {
    const german = [
      "Ich trinke gern Tee mit Milch",
      "Der Termin ist am Dienstag um zehn",
      "東京に住んでいます",
    ];
    const noted = [];
    for (const text of german)
      noted.push((await own.run(["store", text])).stderr.includes("not in English"));
    expect(noted).toEqual([true, false, false]);
    const doctor = await own.run(["doctor"]);
    expect(doctor.stdout).toMatch(/WARN.* language: 3 of .*--model multilingual/);
    const model = await own.run(["rebuild", "--model"]);
    expect(model.stdout).toStartWith("The model is BAAI/bge-small-en");
  });

  test("is listed in 80 columns, texts first, and an honest no comes first", async () => {
    await run("store", `Anna lives in Graz ${"and writes long sentences ".repeat(9)}`);
    await run("store", "東京の".repeat(40));
    const { stdout } = await run("ls");
    const [heading = "", ...rows] = stdout.trimEnd().split("\n");
    expect(heading).toStartWith("MEMORY");
    expect(rows.filter((row) => Bun.stringWidth(row) > 80)).toEqual([]);
    const asked = await run("find", "which screws does the garden shed need");
    expect(asked.stdout).toStartWith("Nothing is known about this for certain.");
    expect(asked.stdout.split("\n").filter((line) => /^\d\. /.test(line)).length).toBeLessThan(3);
  });

  describeOnTerminal("on a terminal", () => {
    test("asks whether a new memory replaces a near one, and says that a text is there", async () => {
      const store = async (text: string, ...turns: readonly (readonly [string, string])[]) =>
        await onTerminal(own.folder, ["store", text, "--user-id", "tom"], turns);
      expect((await store("Tom lives in Oslo")).screen).toContain("Stored as note");
      const moved = await store("Tom lives in Bergen", [
        'Replaces "Tom lives in Oslo"? [y/N] ',
        "y\r",
      ]);
      expect(moved.screen).toContain("Replaced.");
      const listed = await own.run(["ls", "--user-id", "tom", "--format", "json"]);
      expect(JSON.parse(listed.stdout).nodes).toMatchObject([{ content: "Tom lives in Bergen" }]);
      expect((await store("Tom lives in Bergen")).screen).toContain("Known already as note");
    });

    test("the first use offers to make one", async () => {
      const fresh = createDesk();
      const args = ["store", "Anna drinks tea"];
      const no = await onTerminal(fresh.folder, args, [["[Y/n] ", "n\r"]]);
      const isMade = existsSync(join(fresh.folder, "memory.pack"));
      expect([no.code, isMade]).toEqual([130, false]);
      const yes = await onTerminal(fresh.folder, args, [
        ["[Y/n] ", "\r"],
        [": ", "\r"],
        ["(just Enter: no): ", "\r"],
      ]);
      expect(yes).toMatchObject({ code: 0, screen: expect.stringContaining("Stored as note") });
      fresh.remove();
    });
  });

  test("names another owner who knows more", async () => {
    const text = "The spare key of the house lies under the blue flower pot";
    await run("store", text, "--user-id", "tom");
    const { stdout, stderr } = await run("find", "Where is the spare key of the house?");
    expect(stdout).not.toContain("flower pot");
    expect(stderr).toContain("--user-id tom");
  });
});
