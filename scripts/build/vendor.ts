/**
 * Makes the foreign source in `vendor` again, from crates that cargo fetches and verifies: OpenSSL's AES-GCM, with its
 * assembly for one platform, and SQLite's headers. Needs cargo and Perl; a build needs neither.
 *
 * `bun scripts/build/vendor.ts [--form elf-x86_64]`. Then run `bun scripts/build/native.ts`.
 */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { sha256Of } from "./native/record.ts";

const ROOT = join(import.meta.dir, "../..");

const MANIFEST = `[package]
name = "vendor"
version = "0.0.0"
[lib]
path = "empty.rs"
[dependencies]
openssl-src = "=400.0.2"
libsqlite3-sys = "=0.40.0"
`;

const OPENSSL = {
  "LICENSE.txt": "LICENSE.txt",
  "crypto/modes/gcm128.c": "gcm128.c",
  "include/openssl/aes.h": "include/openssl/aes.h",
  "include/openssl/modes.h": "include/openssl/modes.h",
  "include/crypto/modes.h": "include/crypto/modes.h",
  "include/internal/endian.h": "include/internal/endian.h",
};

const X86_64 = ["aes/asm/aesni", "aes/asm/vpaes", "modes/asm/ghash"].map(
  (path) => `${path}-x86_64`,
);
const ARM = ["aes/asm/aesv8-armx", "aes/asm/vpaes-armv8", "modes/asm/ghashv8-armx", "arm64cpuid"];

/** Folders below `vendor/openssl/asm`: the scripts, and what they call the platform. */
const FORMS: Readonly<
  Record<string, { readonly flavour: string; readonly scripts: readonly string[] }>
> = {
  "elf-x86_64": { flavour: "elf", scripts: [...X86_64, "x86_64cpuid"] },
  "macho-x86_64": { flavour: "macosx", scripts: [...X86_64, "x86_64cpuid"] },
  "coff-x86_64": { flavour: "mingw64", scripts: [...X86_64, "x86_64cpuid"] },
  "elf-arm64": { flavour: "linux64", scripts: ARM },
  "macho-arm64": { flavour: "ios64", scripts: ARM },
  "coff-arm64": { flavour: "win64", scripts: ARM },
};

function must(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): void {
  const { success, stderr } = Bun.spawnSync([...command], { cwd, env: { ...process.env, ...env } });
  if (!success) throw new Error(`${command.join(" ")} failed:\n${stderr}`);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/** The scripts ask the assembler whether it knows AVX; the answer must not depend on the machine. */
function assemblerOf2020(folder: string): string {
  const path = join(folder, "cc");
  writeFileSync(path, "#!/bin/sh\necho 'GNU assembler version 2.35'\n");
  chmodSync(path, 0o755);
  return path;
}

function writeSums(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => !/^shim|^README|^SHA256SUMS/.test(name))
    .sort();
  const lines = names.map((name) => `${sha256Of(readFileSync(join(folder, name)))}  ${name}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
}

function makeVendor(form: string): void {
  const { flavour, scripts } = FORMS[form] ?? { flavour: "", scripts: [] };
  if (flavour === "") throw new Error(`choose one of ${Object.keys(FORMS).join(", ")}`);
  const place = mkdtempSync(join(tmpdir(), "svc-vendor-"));
  try {
    writeFileSync(join(place, "Cargo.toml"), MANIFEST);
    writeFileSync(join(place, "empty.rs"), "");
    must(["cargo", "vendor", "crates"], place);
    const openssl = join(place, "crates/openssl-src/openssl");
    const out = join(ROOT, "vendor/openssl");
    for (const [from, to] of Object.entries(OPENSSL)) copy(join(openssl, from), join(out, to));
    mkdirSync(join(out, "asm", form), { recursive: true });
    const env = { CC: assemblerOf2020(place) };
    for (const script of scripts) {
      const to = join(out, "asm", form, `${basename(script)}.${scripts === ARM ? "S" : "s"}`);
      must(["perl", `crypto/${script}.pl`, flavour, to], openssl, env);
    }
    for (const name of ["sqlite3.h", "sqlite3ext.h"]) {
      copy(join(place, "crates/libsqlite3-sys/sqlite3", name), join(ROOT, "vendor/sqlite", name));
    }
    for (const name of ["openssl", "sqlite"]) writeSums(join(ROOT, "vendor", name));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { form: { type: "string", default: "elf-x86_64" } } });
makeVendor(values.form);
