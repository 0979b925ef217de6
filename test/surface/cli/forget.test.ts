import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createDesk, type Desk } from "./run-svc.ts";

// Each test starts processes.
setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(async () => {
  desk = createDesk();
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
