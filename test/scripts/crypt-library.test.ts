import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** A folder of commands in which `apt-get` behaves as on a fresh machine: nothing is known before the first update. */
function freshMachine(root: string): { readonly path: string; readonly log: string } {
  const path = join(root, "bin");
  const log = join(root, "apt.log");
  mkdirSync(path);
  const cc = Bun.which("cc") ?? "";
  const script = `#!/bin/sh
echo "$@" >> ${log}
if [ "$1" = update ]; then : > ${root}/updated; exit 0; fi
[ -e ${root}/updated ] || exit 100
printf '#!/bin/sh\\nPATH=/usr/bin:/bin exec ${cc} "$@"\\n' > ${path}/cc
/bin/chmod 755 ${path}/cc
`;
  writeFileSync(join(path, "apt-get"), script, { mode: 0o755 });
  return { path, log };
}

const isDebian = /debian|ubuntu/.test(
  existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "",
);

test.skipIf(process.getuid?.() !== 0 || !isDebian)(
  "as root on Debian and Ubuntu the compiler is installed, after one update where the lists are missing",
  () => {
    const root = copyOfTheSource();
    const { path, log } = freshMachine(root);
    const program = `
      import { cryptLibrary } from ${JSON.stringify(BUILD)};
      console.log(await cryptLibrary(${JSON.stringify(root)}, "release"));
    `;
    const child = Bun.spawnSync([process.execPath, "-e", program], { env: { PATH: path } });
    expect(child.stdout.toString().trim()).toBe(compiledCryptLibrary(root, "release"));
    const install = "install -y gcc libc6-dev libssl-dev libsqlite3-dev";
    expect(readFileSync(log, "utf8").trim().split("\n")).toEqual([install, "update", install]);
    expect(child.stderr.toString().trim().split("\n")).toHaveLength(1);
  },
);

test("the check stops with one line when there is no compiler", () => {
  const root = copyOfTheSource();
  cpSync(join(ROOT, "scripts"), join(root, "scripts"), { recursive: true });
  cpSync(join(ROOT, "src"), join(root, "src"), {
    recursive: true,
    filter: (path) => !path.includes("/models"),
  });
  const empty = join(root, "empty");
  mkdirSync(empty);
  const child = Bun.spawnSync([process.execPath, join(root, "scripts/check.ts")], {
    cwd: root,
    env: { PATH: empty },
  });
  expect(child.exitCode).toBe(1);
  expect(child.stdout.toString()).toBe("");
  expect(child.stderr.toString()).toMatch(/^check: .*; run: .*\n$/);
});
