import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { appendFileSync, cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { elfNeeds, newestGlibc } from "../../scripts/build/native/elf.ts";
import { KEPT, PREBUILT } from "../../scripts/build/native/libraries.ts";
import { readMacho } from "../../scripts/build/native/macho.ts";
import { readPe } from "../../scripts/build/native/pe.ts";
import { findings } from "../../scripts/build/native/record.ts";
import { useFolders } from "../adapters/crypt/packs.ts";

const ROOT = join(import.meta.dir, "../..");
const ONNX_RUNTIME = join(ROOT, "node_modules/onnxruntime-node/bin/napi-v6/linux");

const folder = useFolders();

/** The project, as far as the native libraries go. */
function copyOfTheSource(): string {
  const root = folder();
  for (const part of ["src/adapters/crypt/native", "src/adapters/native", "vendor"]) {
    cpSync(join(ROOT, part), join(root, part), { recursive: true });
  }
  return root;
}

test("a library of other source is named, with the command that makes it again", () => {
  const root = copyOfTheSource();
  appendFileSync(join(root, "src/adapters/crypt/native/random.c"), "\n");
  expect(findings(root)).toEqual(
    [
      "linux-x64/svccrypt.so",
      "linux-arm64/svccrypt.so",
      "darwin-arm64/svccrypt.dylib",
      "windows-x64/svccrypt.dll",
    ].map(
      (name) => `${name} was built from other source than this; run: bun scripts/build/native.ts`,
    ),
  );
});

test("a library that was changed is named", () => {
  const root = copyOfTheSource();
  appendFileSync(join(root, PREBUILT, "linux-x64/svckernel.so"), "x");
  expect(findings(root)).toEqual([
    "linux-x64/svckernel.so is not the library that built.json describes; run: bun scripts/build/native.ts",
  ]);
});

test("foreign source that was changed is named", () => {
  const root = copyOfTheSource();
  appendFileSync(join(root, "vendor/openssl/gcm128.c"), "\n");
  expect(findings(root)).toContain(
    "vendor/openssl/gcm128.c differs from SHA256SUMS; restore it from version control",
  );
});

test("what a library needs of the system is read from its file", () => {
  const needs = elfNeeds(readFileSync(join(ONNX_RUNTIME, "x64/libonnxruntime.so.1")));
  expect(needs.libraries).toContain("libstdc++.so.6");
  expect(newestGlibc(needs.versions)).toEqual([2, 28]);
  for (const { path } of KEPT.filter(({ target }) => target.suffix === "so")) {
    const own = elfNeeds(readFileSync(join(ROOT, PREBUILT, path)));
    expect(own.libraries.filter((name) => !/^lib[cm]\.so\.6$|^ld-linux/.test(name))).toEqual([]);
  }
});

const KERNEL = [
  "sqlite3_svckernel_init",
  ...["alike", "ask", "code", "likely"],
  ...["quantise", "question", "score", "score_some", "select", "sign", "weigh"],
].map((name) => (name.startsWith("sqlite3") ? name : `svckernel_${name}`));

test.each([
  ["svccrypt", ["sqlite3_svccrypt_init"]],
  ["svckernel", KERNEL],
])("the library %s gives its own functions to others, and nothing else", (library, names) => {
  const read = (path: string) => readFileSync(join(ROOT, PREBUILT, path));
  const onWindows = readPe(read(`windows-x64/${library}.dll`));
  expect([...onWindows.exports].sort()).toEqual([...names].sort());
  expect(
    onWindows.libraries.filter((name) => !/^(api-ms-win-crt-|kernel32|bcrypt)/.test(name)),
  ).toEqual([]);
  expect([...readMacho(read(`darwin-arm64/${library}.dylib`)).exports].sort()).toEqual(
    [...names].sort(),
  );
});

test.each(KEPT.filter(({ target }) => target.suffix === "dylib").map(({ path }) => path))(
  "macOS accepts every page of %s, which needs nothing but the system's library",
  (path) => {
    const { processor, minimum, libraries, signature } = readMacho(
      readFileSync(join(ROOT, PREBUILT, path)),
    );
    expect({ processor, minimum, libraries }).toEqual({
      processor: "arm64",
      minimum: "13.0",
      libraries: ["/usr/lib/libSystem.B.dylib"],
    });
    expect(signature).toMatchObject({ isAdHoc: true, wrong: 0 });
    expect(signature?.pages).toBeGreaterThan(1);
  },
);

test("a page that was changed after signing is counted", () => {
  const file = readFileSync(join(ROOT, PREBUILT, "darwin-arm64/svckernel.dylib"));
  file[20_000] = (file[20_000] ?? 0) ^ 1;
  expect(readMacho(file).signature?.wrong).toBe(1);
});

test("SQLite for macOS is the one that Bun has inside, with the same options", () => {
  const database = new Database(":memory:");
  const options = database.query("PRAGMA compile_options").values().flat().map(String);
  const source = String(database.query("SELECT sqlite_source_id()").values()[0]?.[0]);
  database.close();
  const library = readFileSync(join(ROOT, PREBUILT, "darwin-arm64/svcsqlite.dylib"));
  expect(library.includes(source)).toBe(true);
  // The compiler names itself; the parser of the one source file of SQLite has no LIMIT for UPDATE, which nothing of ours uses.
  const other = /^(COMPILER=|ENABLE_UPDATE_DELETE_LIMIT)/;
  expect(
    options.filter((option) => !other.test(option) && !library.includes(`\0${option}\0`)),
  ).toEqual([]);
  const names = readMacho(library).exports;
  expect(names).toContain("sqlite3_load_extension");
  expect(names).toContain("sqlite3_vfs_register");
});

test("the newest glibc is found by number, not by text", () => {
  expect(newestGlibc(["GLIBC_2.9", "GLIBC_2.14", "GLIBC_2.2.5", "GLIBCXX_3.4.22"])).toEqual([
    2, 14,
  ]);
  expect(newestGlibc(["GLIBCXX_3.4.22"])).toBeUndefined();
});
