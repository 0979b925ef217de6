import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createWordDesk, type Desk } from "./run-svc.ts";

// Each test starts processes.
setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  await desk.run(["init", "memory.pack", "--plain", "--owner", "anna"]);
});
afterAll(() => desk.remove());

test("what is forgotten is counted in the words of its number", async () => {
  const engine = await desk.engine("memory.pack");
  const told = (content: string) => engine.storeWithReceipt({ userId: "anna", content });
  const one = await told("The vault opens with marmalade.");
  const two = [await told("The cellar is damp."), await told("The cellar is dark.")];
  await engine.close();
  const forget = (...args: readonly string[]) => desk.run(["forget", "memory.pack", ...args]);
  expect((await forget(one.nodeId)).stdout).toContain(
    "and 0 edges, the texts of 1 entry of the log, 0 receipts of answers\n",
  );
  expect((await forget(one.nodeId, "--yes")).stdout).toStartWith("Forgotten: 1 memory, 1 event (");
  const both = two.map(({ nodeId }) => nodeId);
  expect((await forget(...both, "--yes")).stdout).toStartWith("Forgotten: 2 memories, 2 events (");
});

test("verify honours its key and form, and refuses a receipt with a name twice", async () => {
  const key = `raw_key:${Buffer.alloc(32, 7).toString("base64url")}`;
  await desk.run(["init", "sealed.pack", "--owner", "anna", "--encryption-key", key]);
  const told = await desk.run([
    "store",
    "sealed.pack",
    "The vault opens.",
    "--format",
    "json",
    "--encryption-key",
    key,
  ]);
  const id = JSON.parse(told.stdout).node_id;
  const given = ["--encryption-key", key];
  await desk.run(["forget", "sealed.pack", id, "--yes", "--receipt", "r.json", ...given]);
  const verify = (file: string, ...more: readonly string[]) =>
    desk.run(["forget", "verify", "sealed.pack", file, ...more]);
  const { code, stdout } = await verify("r.json", ...given, "--format", "json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  const receipt = await Bun.file(`${desk.folder}/r.json`).text();
  await Bun.write(`${desk.folder}/forged.json`, receipt.replace("{", '{"forget_id": "forged", '));
  const forged = await verify("forged.json", ...given);
  expect(forged.code).toBe(2);
  expect(forged.stderr).toContain("twice");
});
