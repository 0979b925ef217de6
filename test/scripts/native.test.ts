import { expect, test } from "bun:test";
import { appendFileSync, cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { elfNeeds, newestGlibc } from "../../scripts/build/native/elf.ts";
import { compile, KEPT, PREBUILT } from "../../scripts/build/native/libraries.ts";
import { findings } from "../../scripts/build/native/record.ts";
import { findZig } from "../../scripts/build/native/zig.ts";
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

test("the kept libraries are those of this source", () => {
  expect(findings(ROOT)).toEqual([]);
});

test("a library of other source is named, with the command that makes it again", () => {
  const root = copyOfTheSource();
  appendFileSync(join(root, "src/adapters/crypt/native/random.c"), "\n");
  expect(findings(root)).toEqual([
    "linux-x64/svccrypt.so was built from other source than this; run: bun scripts/build/native.ts",
  ]);
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
  for (const { path } of KEPT) {
    const own = elfNeeds(readFileSync(join(ROOT, PREBUILT, path)));
    expect(own.libraries.filter((name) => !/^lib[cm]\.so\.6$|^ld-linux/.test(name))).toEqual([]);
  }
});

test("the newest glibc is found by number, not by text", () => {
  expect(newestGlibc(["GLIBC_2.9", "GLIBC_2.14", "GLIBC_2.2.5", "GLIBCXX_3.4.22"])).toEqual([
    2, 14,
  ]);
  expect(newestGlibc(["GLIBCXX_3.4.22"])).toBeUndefined();
});

const zig = await findZig(ROOT);

test.skipIf(zig === undefined)(
  `a library has the same bytes wherever it is compiled${zig === undefined ? ": left out, the compiler is not there" : ""}`,
  async () => {
    const root = copyOfTheSource();
    const tools = { zig: zig ?? "", cache: join(ROOT, "node_modules/.cache/ziglang/cache") };
    for (const kept of KEPT) {
      const out = join(root, kept.library);
      await compile(root, { ...tools, scratch: join(root, "scratch") }, kept, out);
      expect(readFileSync(out).equals(readFileSync(join(ROOT, PREBUILT, kept.path)))).toBe(true);
    }
  },
  240_000,
);
