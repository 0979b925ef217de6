/**
 * Makes the foreign source in `vendor` again, from crates that cargo fetches and verifies: OpenSSL's AES-GCM, with its
 * assembly for every platform, and SQLite's headers. Needs cargo and Perl; a build needs neither.
 *
 * `bun scripts/build/vendor.ts`. Then run `bun scripts/build/native.ts`.
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
import { SQLITE_CRATE } from "./native/amalgamation.ts";
import { sha256Of } from "./native/record.ts";

const ROOT = join(import.meta.dir, "../..");

const MANIFEST = `[package]
name = "vendor"
version = "0.0.0"
[lib]
path = "empty.rs"
[dependencies]
openssl-src = "=400.0.2"
${SQLITE_CRATE}
`;

const OPENSSL = {
  "LICENSE.txt": "LICENSE.txt",
  "crypto/modes/gcm128.c": "gcm128.c",
  "include/openssl/aes.h": "include/openssl/aes.h",
  "include/openssl/modes.h": "include/openssl/modes.h",
  "include/crypto/modes.h": "include/crypto/modes.h",
  "include/internal/endian.h": "include/internal/endian.h",
  "crypto/arm_arch.h": "include/arm_arch.h",
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
  "elf-arm64": { flavour: "linux64", scripts: ARM },
  "macho-arm64": { flavour: "ios64", scripts: ARM },
  "coff-x86_64": { flavour: "mingw64", scripts: [...X86_64, "x86_64cpuid"] },
};

type Env = Readonly<Record<string, string>>;

function must(command: readonly string[], cwd: string, env: Env = {}): void {
  const { success, stderr } = Bun.spawnSync([...command], { cwd, env: { ...process.env, ...env } });
  if (!success) throw new Error(`${command.join(" ")} failed:\n${stderr}`);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/**
 * The scripts ask the assembler whether it knows AVX, and the preprocessor what stands before each name on Windows (nothing on
 * 64 bits); the answers must not depend on the machine.
 */
function assemblerOf2020(folder: string): string {
  const path = join(folder, "cc");
  const answer = 'case "$*" in *-E*) echo ;; *) echo "GNU assembler version 2.35" ;; esac';
  writeFileSync(path, `#!/bin/sh\n${answer}\n`);
  chmodSync(path, 0o755);
  return path;
}

function writeSums(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => !/^shim|^README|^SHA256SUMS|^amalgamation/.test(name))
    .sort();
  const lines = names.map((name) => `${sha256Of(readFileSync(join(folder, name)))}  ${name}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
}

/** Assembly has no use for `-fvisibility`, and the linker of Mach-O has no list of exports: each name is hidden where it is made. */
function hideNames(path: string): void {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/^\.globl\s+(\S+)$/gm, "$&\n.private_extern $1"));
}

function makeAssembly(form: string, openssl: string, out: string, env: Env): void {
  const { flavour, scripts } = FORMS[form] ?? { flavour: "", scripts: [] };
  mkdirSync(join(out, "asm", form), { recursive: true });
  for (const script of scripts) {
    const to = join(out, "asm", form, `${basename(script)}.${scripts === ARM ? "S" : "s"}`);
    must(["perl", `crypto/${script}.pl`, flavour, to], openssl, env);
    if (form.startsWith("macho")) hideNames(to);
  }
}

function makeVendor(): void {
  const place = mkdtempSync(join(tmpdir(), "svc-vendor-"));
  try {
    writeFileSync(join(place, "Cargo.toml"), MANIFEST);
    writeFileSync(join(place, "empty.rs"), "");
    must(["cargo", "vendor", "crates"], place);
    const openssl = join(place, "crates/openssl-src/openssl");
    const out = join(ROOT, "vendor/openssl");
    for (const [from, to] of Object.entries(OPENSSL)) copy(join(openssl, from), join(out, to));
    const env = { CC: assemblerOf2020(place) };
    for (const form of Object.keys(FORMS)) makeAssembly(form, openssl, out, env);
    for (const name of ["sqlite3.h", "sqlite3ext.h"]) {
      copy(join(place, "crates/libsqlite3-sys/sqlite3", name), join(ROOT, "vendor/sqlite", name));
    }
    const amalgamation = readFileSync(join(place, "crates/libsqlite3-sys/sqlite3/sqlite3.c"));
    const line = `${sha256Of(amalgamation)}  sqlite3.c\n`;
    writeFileSync(join(ROOT, "vendor/sqlite/amalgamation.txt"), line);
    for (const name of ["openssl", "sqlite"]) writeSums(join(ROOT, "vendor", name));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

makeVendor();
