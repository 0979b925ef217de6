import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { inTemporaryFolder } from "../../src/packs/through-pack.ts";

const PREFIX = `svc-test-${process.pid}-`;
const SOURCE = resolve(import.meta.dir, "../../src/packs/through-pack.ts");
/** Says where its folder is, and stays in it. */
const WORK = `
  import { inTemporaryFolder } from ${JSON.stringify(SOURCE)};
  await inTemporaryFolder(${JSON.stringify(PREFIX)}, async (folder) => {
    await Bun.write(folder + "/memory.pack", "x");
    console.log(folder);
    await new Promise(() => setInterval(() => {}, 1000));
  });`;

async function working() {
  const child = Bun.spawn([process.execPath, "-e", WORK], { stdout: "pipe", stdin: "ignore" });
  const { value } = await child.stdout.getReader().read();
  return { child, folder: new TextDecoder().decode(value).trim() };
}

test("a folder that a killed process left is removed by the next one, that of a living one stays", async () => {
  const [gone, alive] = await Promise.all([working(), working()]);
  try {
    gone.child.kill("SIGKILL");
    await gone.child.exited;
    expect(existsSync(join(gone.folder, "memory.pack"))).toBeTrue();

    const seen = await inTemporaryFolder(PREFIX, async (folder) => {
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      return folder;
    });

    expect(existsSync(seen)).toBeFalse();
    expect(existsSync(gone.folder)).toBeFalse();
    expect(existsSync(join(alive.folder, "memory.pack"))).toBeTrue();
  } finally {
    alive.child.kill("SIGKILL");
    await alive.child.exited;
    rmSync(alive.folder, { recursive: true, force: true });
  }
});

test("nothing else is removed: other names, links, files", async () => {
  const { child, folder } = await working();
  child.kill("SIGKILL");
  await child.exited;
  rmSync(folder, { recursive: true });
  const elsewhere = mkdtempSync(join(tmpdir(), "svc-elsewhere-"));
  writeFileSync(join(elsewhere, "kept"), "");
  const other = join(tmpdir(), `${PREFIX}other`);
  mkdirSync(other);
  try {
    // The name of a process that is gone, on what is not its folder.
    symlinkSync(elsewhere, folder);
    await inTemporaryFolder(PREFIX, async () => undefined);
    expect(existsSync(join(elsewhere, "kept"))).toBeTrue();
    rmSync(folder);
    writeFileSync(folder, "a file");
    await inTemporaryFolder(PREFIX, async () => undefined);
    expect(existsSync(folder)).toBeTrue();
    expect(existsSync(other)).toBeTrue();
    expect(basename(folder).startsWith(PREFIX)).toBeTrue();
  } finally {
    for (const path of [folder, other, elsewhere]) rmSync(path, { recursive: true, force: true });
  }
});
