/** A photo that was observed, from its picture in the pack to its last byte. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { writePictures } from "./pictures.ts";
import { createWordDesk, type Desk } from "./run-svc.ts";
import { startVisionServer } from "./vision-server.ts";

// Each command starts the program, some of them a model.
setDefaultTimeout(180_000);

let desk: Desk;
beforeAll(() => {
  desk = createWordDesk();
});
afterAll(() => desk.remove());

async function json(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout } = await desk.run([...args, "--format", "json"]);
  expect([args, code]).toEqual([args, 0]);
  return JSON.parse(stdout);
}

test("a photo is found with its picture, which goes with exports and is gone once forgotten", async () => {
  await using server = await startVisionServer([{ say: "text", text: "A red boat in a harbour." }]);
  await desk.run(["init", "a.pack", "--plain", "--owner", "ada"]);
  writePictures([join(desk.folder, "boat.png")]);
  const env = { SVC_VISION__BASE_URL: server.url, SVC_VISION__TIMEOUT: "60" };
  expect((await desk.run(["observe", "a.pack", "boat.png"], { env })).code).toBe(0);

  const ask = ["red boat", "--user-id", "ada"];
  const source = 'from photo "boat.png"';
  expect(await json("search", "a.pack", ...ask)).toMatchObject({ results: [{ source }] });
  const table = await desk.run(["search", "a.pack", ...ask]);
  expect(table.stdout).toContain('(from photo "boat.png") A red boat in a harbour.');
  const context = await desk.run(["search", "a.pack", ...ask, "--context"]);
  expect(context.stdout).toContain('from photo "boat.png"');

  const { blob_bytes: bytes } = await json("info", "a.pack");
  expect((await desk.run(["info", "a.pack"])).stdout).toMatch(/^Pictures +1 \(\d+ bytes\)$/m);
  const doctor = await desk.run(["doctor", "a.pack"]);
  expect(doctor.stdout).toContain(`pictures: 1 with ${bytes} bytes, each of an event of its owner`);

  expect((await desk.run(["backup", "a.pack", "b.pack"])).code).toBe(0);
  expect(await json("info", "b.pack")).toMatchObject({ blob_count: 1, blob_bytes: bytes });
  expect((await desk.run(["export", "b.pack", "--output", "b.jsonl"])).code).toBe(0);
  expect((await desk.run(["import", "b.jsonl", "c.pack", "--plain"])).code).toBe(0);
  expect(await json("info", "c.pack")).toMatchObject({ blob_count: 1, blob_bytes: bytes });
  expect((await desk.run(["compact", "c.pack"])).code).toBe(0);

  const forget = ["forget", "c.pack", "--query", "red boat"];
  expect((await desk.run(forget)).stdout).toMatch(/of answers, 1 picture$/m);
  expect((await desk.run([...forget, "--yes"])).code).toBe(0);
  expect(await json("info", "c.pack")).toMatchObject({ blob_count: 0, blob_bytes: 0 });
});
