import { describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CLIENT_NAMES, findClient } from "../../src/assistants/catalogue.ts";
import { entryText, planDisconnection } from "../../src/assistants/config-change.ts";
import { entry, put, refusal, useHome } from "./home.ts";

const desk = useHome();
const { connect, disconnect, fileOf, other: OTHER, server: SERVER, snapshot } = desk;

describe("disconnecting", () => {
  test("changes nothing where nothing is connected", async () => {
    put(fileOf("zed"), '{"theme": "x"} // mine');
    const before = snapshot();
    for (const client of CLIENT_NAMES) expect(await disconnect(entry(client))).toBeUndefined();
    expect(snapshot()).toEqual(before);
  });

  test("takes the entry alone when the file was changed since, and copies it first", async () => {
    const file = put(fileOf("zed"), '{\n  // mine\n  "theme": "x"\n}\n');
    await connect(entry("zed"));
    const changed = readFileSync(file, "utf8").replace('"theme": "x"', '"theme": "y", // new');
    writeFileSync(file, changed.replace(", // new,", ", // new"));
    const copy = await disconnect(entry("zed"));
    expect(readFileSync(file, "utf8")).toBe(
      '{\n  // mine\n  "theme": "y", // new\n  "context_servers": {\n  }\n}\n',
    );
    expect(readFileSync(copy!, "utf8")).toContain("/opt/svc");
  });

  test("leaves the member around it to others who have entries there", async () => {
    const file = put(fileOf("cursor"), "{}\n");
    await connect(entry("cursor"));
    await connect(entry("cursor", "user", "second"), OTHER);
    await disconnect(entry("cursor"));
    expect(Object.keys(JSON.parse(readFileSync(file, "utf8")).mcpServers)).toEqual(["second"]);
    await disconnect(entry("cursor", "user", "second"));
    expect(readFileSync(file, "utf8")).toBe("{}\n");
  });

  test("finds the first state behind several connections, and leaves no copy", async () => {
    const text = '{\n    "a": [1,2], /* kept */\n    "mcpServers": { }\n}';
    const file = put(fileOf("gemini"), text);
    await connect(entry("gemini"));
    await connect(entry("gemini"), OTHER);
    await connect(entry("gemini"), { ...SERVER, env: { SVC_MCP_USER_ID: "ada" } });
    expect(readdirSync(dirname(file))).toHaveLength(4);
    await disconnect(entry("gemini"));
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(readdirSync(dirname(file))).toEqual(["settings.json"]);
  });

  test("leaves a folder that is a link, and what it leads to", async () => {
    const dotfiles = join(desk.here.home, "dotfiles/zed");
    mkdirSync(dotfiles, { recursive: true });
    symlinkSync("../dotfiles/zed", join(desk.here.home, ".config/zed"));
    await connect(entry("zed"));
    expect(readdirSync(dotfiles)).toEqual(["settings.json"]);
    await disconnect(entry("zed"));
    expect(readdirSync(dotfiles)).toEqual([]);
    expect(lstatSync(join(desk.here.home, ".config/zed")).isSymbolicLink()).toBeTrue();
  });

  test("takes the entry out of a file behind a link, even one with nothing else in it", async () => {
    const real = put(
      join(desk.here.home, "dotfiles/mcp.json"),
      await entryText(findClient("cursor")!, "memory", SERVER),
    );
    mkdirSync(dirname(fileOf("cursor")));
    symlinkSync(real, fileOf("cursor"));
    await disconnect(entry("cursor"));
    expect(lstatSync(fileOf("cursor")).isSymbolicLink()).toBeTrue();
    expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ mcpServers: {} });
  });

  test("names the servers of the program that the file has under other names", async () => {
    put(fileOf("cursor"), '{"mcpServers": {"other": {"command": "npx"}}}');
    await connect(entry("cursor", "user", "notes"));
    const plan = await planDisconnection(entry("cursor"), desk.here);
    expect(plan).toMatchObject({ otherNames: ["notes"] });
    expect(plan.after).toBe(plan.before);
    const own = await planDisconnection(entry("cursor", "user", "notes"), desk.here);
    expect(own.otherNames).toEqual([]);
  });

  test("removes the copies of a file that it made itself", async () => {
    await connect(entry("codex"));
    await connect(entry("codex"), OTHER);
    await disconnect(entry("codex"));
    expect(existsSync(dirname(fileOf("codex")))).toBeFalse();
  });

  test("does not touch a server of another program", async () => {
    put(fileOf("cursor"), '{"mcpServers": {"memory": {"command": "npx"}}}');
    const before = snapshot();
    expect(await refusal(disconnect(entry("cursor")))).toContain("not of svc");
    expect(snapshot()).toEqual(before);
  });
});
