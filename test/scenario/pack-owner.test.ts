import { expect, setDefaultTimeout, test } from "bun:test";
import { resolve } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { usePlace } from "./place.ts";

/** The built program; the checks build it before they run the tests. */
const EXECUTABLE = resolve(process.env["SVC_EXE"] ?? "dist/svc");

// Processes are started that load the model.
setDefaultTimeout(120_000);

const place = usePlace("owner");
const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  XDG_CONFIG_HOME: place.root,
  SVC_KEY_STORE: "file",
  ...place.environment(),
});

async function svc(...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([EXECUTABLE, ...args], {
    cwd: place.root,
    env: environment(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect({ code, complaint: code === 0 ? "" : complaint }).toEqual({ code: 0, complaint: "" });
  return said;
}

async function assistant(pack: string): Promise<Client> {
  const client = new Client({ name: "scenario", version: "1.0.0" });
  const args = ["mcp", "--db-path", pack];
  const server = { command: EXECUTABLE, args, cwd: place.root, env: environment() };
  await client.connect(new StdioClientTransport({ ...server, stderr: "pipe" }));
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown>) {
  const { structuredContent } = await client.callTool({ name, arguments: args });
  return structuredContent;
}

test("what the command line stores is found in every assistant, and the other way round", async () => {
  const pack = place.packIn("person");
  expect(await svc("init", pack)).toContain("Its owner is ");
  await svc("store", pack, "Anna prefers tea to coffee", "--type", "preference");

  // The second one is served by the first one's process.
  const assistants = [await assistant(pack), await assistant(pack)];
  for (const client of assistants) {
    expect(await call(client, "memory_retrieve", { query: "what does Anna drink?" })).toMatchObject(
      {
        results: [{ content: "Anna prefers tea to coffee" }],
      },
    );
  }
  for (const [index, client] of assistants.entries()) {
    await call(client, "memory_store", { content: `Anna's bicycle number ${index} is red` });
  }
  for (const client of assistants) await client.close();

  const found = await svc("search", pack, "what colour are the bicycles?", "--format", "json");
  expect(JSON.parse(found).results.map(({ content }: { content: string }) => content)).toEqual(
    expect.arrayContaining(["Anna's bicycle number 0 is red", "Anna's bicycle number 1 is red"]),
  );
});

test("an assistant that is open while its owner is joined with another finds what both stored", async () => {
  const pack = place.packIn("joined");
  await svc("init", pack, "--owner", "anna");
  await svc("store", pack, "Anna prefers tea to coffee");
  await svc("store", pack, "The bicycle of Bob is red", "--user-id", "_cli");
  const client = await assistant(pack);
  const find = (query: string) => call(client, "memory_retrieve", { query });
  expect(JSON.stringify(await find("which colour is the bicycle?"))).not.toContain("is red");

  const preview = await svc("owner", "join", pack, "_cli", "anna", "--dry-run");
  expect(preview).toContain("Would give 1 memory and 1 event of _cli to anna.");
  await svc("owner", "join", pack, "_cli", "anna", "--yes");

  expect(JSON.stringify(await find("which colour is the bicycle?"))).toContain("is red");
  await client.close();
  const listed = JSON.parse(await svc("owner", "list", pack, "--format", "json"));
  expect(listed).toMatchObject({ owner: "anna", owners: [{ user_id: "anna", memories: 2 }] });
});

test("svc explain tells of a question under the name that its owner got since", async () => {
  const pack = place.packIn("renamed");
  await svc("init", pack, "--owner", "_cli");
  await svc("store", pack, "Anna prefers tea to coffee");
  const found = JSON.parse(await svc("search", pack, "what does Anna drink?", "--format", "json"));
  const explain = () =>
    svc("explain", found.metrics.request_id, "--db-path", pack, "--format", "json");
  const before = JSON.parse(await explain());
  await svc("owner", "rename", pack, "_cli", "anna", "--yes");
  expect(JSON.parse(await explain())).toEqual(before);
  await svc("export", pack, "--output", `${pack}.jsonl`);
  const copy = place.packIn("copy");
  await svc("import", `${pack}.jsonl`, copy);
  const [one, other] = [await svc("owner", "list", pack), await svc("owner", "list", copy)];
  expect(other).toBe(one);
});
