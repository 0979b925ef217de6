import { expect, test } from "bun:test";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { compiledCryptLibrary } from "../../src/adapters/native/crypt-library.ts";
import { useFolders } from "../adapters/crypt/packs.ts";

const ROOT = join(import.meta.dir, "../..");
const BUILD = join(ROOT, "scripts/build/crypt-library.ts");
const SOURCE = "src/adapters/crypt/native";

const folder = useFolders();

function copyOfTheSource(): string {
  const root = folder();
  cpSync(join(ROOT, SOURCE), join(root, SOURCE), { recursive: true });
  return root;
}

test("without a compiler there is no library, and one line names the command that installs it", () => {
  const root = copyOfTheSource();
  const program = `
    import { cryptLibrary } from ${JSON.stringify(BUILD)};
    await cryptLibrary(${JSON.stringify(root)}, "release").catch((error) => console.log(error.message));
  `;
  const empty = join(root, "empty");
  mkdirSync(empty);
  const child = Bun.spawnSync([process.execPath, "-e", program], { env: { PATH: empty } });
  const said = child.stdout.toString();
  expect(said.trim().split("\n")).toHaveLength(1);
  expect(said).toMatch(/C compiler.*; run: .*(gcc|package manager)/);
});

test("a library of other source is never taken for this one", async () => {
  const root = copyOfTheSource();
  const before = compiledCryptLibrary(root, "release");
  await Bun.write(join(root, SOURCE, "random.c"), "/* changed */\n");
  const after = compiledCryptLibrary(root, "release");
  expect(after).not.toBe(before);
  expect(compiledCryptLibrary(root, "sanitize")).not.toBe(after);
});
