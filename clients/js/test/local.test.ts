import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Lacking, leftOut } from "../../../test/left-out.ts";
import { local } from "../src/local.ts";

const program = process.env["TEST_PROGRAM"];
const LACKING: Lacking = program === undefined ? "it takes TEST_PROGRAM" : undefined;
const place = mkdtempSync(join(tmpdir(), "svc-local-"));
// Sockets of the tests are not those of the user.
const former = process.env["XDG_RUNTIME_DIR"];
process.env["XDG_RUNTIME_DIR"] = place;
afterAll(() => {
  if (former === undefined) delete process.env["XDG_RUNTIME_DIR"];
  else process.env["XDG_RUNTIME_DIR"] = former;
  rmSync(place, { recursive: true, force: true });
});

const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

test.skipIf(LACKING !== undefined)(
  `users of a pack share a server, which ends with the last${leftOut(LACKING)}`,
  async () => {
    const pack = join(place, "memory.pack");
    const options = { program, encryptionKey: "5a".repeat(32) };
    const [first, second] = await Promise.all([local(pack, options), local(pack, options)]);
    expect(second.url).toBe(first.url);
    await first.storeWithReceipt({ content: "The key lies under the pot", userId: "anna" });
    await first.close();
    const ask = { query: "Where is the key?", userId: "anna" };
    expect((await second.retrieve(ask)).results[0]?.node.content).toBe(
      "The key lies under the pot",
    );
    await second.close();
    expect(await failureOf(second.retrieve(ask))).toMatchObject({ code: "storage_unavailable" });
    await using third = await local(pack, options);
    expect((await third.retrieve(ask)).results).toHaveLength(1);
    const stranger = local(pack, { program, encryptionKey: "c3".repeat(32) });
    expect(await failureOf(stranger)).toMatchObject({ code: "encryption_failed" });
  },
);

test.skipIf(LACKING !== undefined)(
  `the lines of the README print what they say${leftOut(LACKING)}`,
  () => {
    const readme = readFileSync(join(import.meta.dir, "../../../README.md"), "utf8");
    const [, code = ""] = /^```js\n([\s\S]*?)^```/m.exec(readme) ?? [];
    const source = join(import.meta.dir, "../src/local.ts");
    const folder = mkdtempSync(join(place, "readme-"));
    writeFileSync(join(folder, "readme.mjs"), code.replace("svc-client/local", source));
    const env = { ...process.env, SVC_PROGRAM: program, XDG_CONFIG_HOME: place };
    const { stdout, stderr } = Bun.spawnSync([process.execPath, "readme.mjs"], {
      cwd: folder,
      env,
    });
    expect(stderr.toString()).toBe("");
    expect(stdout.toString()).toBe("Tom likes short e-mails in the morning\n");
  },
);

test("a missing or foreign program is named with the versions that work", async () => {
  const other = join(place, "other");
  writeFileSync(other, "#!/bin/sh\necho no such command\n");
  chmodSync(other, 0o755);
  for (const [named, message] of [
    [join(place, "none"), "cannot be started; this client works with svc 0.1.0 or newer"],
    [other, "does not serve: it said nothing; this client works with svc 0.1.0 or newer"],
  ] as const) {
    const error = await failureOf(local(join(place, "memory.pack"), { program: named }));
    expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining(message) });
  }
  const nowhere = local(join(place, "none", "memory.pack"), { program: other });
  expect(await failureOf(nowhere)).toMatchObject({ code: "not_found" });
});
