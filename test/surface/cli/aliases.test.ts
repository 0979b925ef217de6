import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createDesk, type Desk } from "./run-svc.ts";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

const PACK = "memory.pack";
const env = { SVC_ORGANIZER__ALIAS_SIMILARITY_THRESHOLD: "0.5" };

let desk: Desk;
beforeAll(async () => {
  desk = createDesk();
  await desk.run(["init", PACK, "--plain", "--owner", "anna"]);
  for (const name of ["Dr. Karl Weber", "Karl Weber"]) {
    await desk.run(["store", PACK, name, "--type", "entity"]);
  }
  await desk.run(["organize", PACK, "--jobs", "alias_resolve"], { env });
});
afterAll(() => desk.remove());

const aliases = (...args: readonly string[]) => desk.run(["aliases", PACK, ...args]);

test("what waits for a decision is listed, decided about once, and listed as decided", async () => {
  const first = await aliases();
  expect(first.stdout).toMatch(/^ID +STATUS +TYPE +SCORE +ONE +OTHER$/m);
  const [id = ""] = /^[0-9a-f-]{36}(?= +pending +semantic )/m.exec(first.stdout) ?? [];
  expect(id).not.toBe("");

  expect(await aliases(id)).toMatchObject({ code: 2 });
  expect(await aliases("--accept")).toMatchObject({ code: 2 });
  const unexplained = await aliases(id, "--reject");
  expect(unexplained.code).toBe(2);
  expect(unexplained.stderr).toContain("--reason: is needed with --reject");
  for (const other of ["zz", "0000000"]) {
    expect(await aliases(other, "--accept")).toMatchObject({ code: other === "zz" ? 2 : 1 });
  }
  const end = id.slice(-8);
  expect(await aliases(end, "--accept")).toMatchObject({ code: 0, stdout: "Recorded: accepted\n" });
  expect(await aliases(id, "--accept")).toMatchObject({
    code: 0,
    stdout: "Was recorded before: accepted\n",
  });
  expect(await aliases(id, "--reject", "--reason", "no")).toMatchObject({ code: 1 });

  expect((await aliases()).stdout).toBe("(no results)\n");
  const { stdout } = await aliases("--status", "accepted", "--format", "json");
  expect(JSON.parse(stdout)).toMatchObject([
    { status: "accepted", proposal: { operation_id: id }, review: { reviewer_id: "anna" } },
  ]);
});
