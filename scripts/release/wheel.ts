import { createHash } from "node:crypto";
import type { Target } from "../build/targets.ts";
import type { Product } from "../bundle/manifest.ts";
import { type ZipEntry, zip } from "../bundle/zip.ts";
import type { ArchiveEntry } from "./archive.ts";

/** As wheels name a platform: the least version of its system. */
const TAGS: Readonly<Record<Target, string>> = {
  "linux-x64": "manylinux_2_28_x86_64",
  "linux-arm64": "manylinux_2_28_aarch64",
  "darwin-arm64": "macosx_13_0_arm64",
  "windows-x64": "win_amd64",
};

const MODULE = `"""The program of svc-memory."""

import os
import subprocess
import sys


def program() -> str:
    """The path of the executable."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "NAME")


def main() -> None:
    """Runs it in the place of this process."""
    if sys.platform == "win32":
        sys.exit(subprocess.call([program(), *sys.argv[1:]]))
    os.execv(program(), [program(), *sys.argv[1:]])
`;

export type WheelInput = {
  readonly product: Product;
  readonly target: Target;
  readonly program: Uint8Array;
  /** LICENSE and NOTICE. */
  readonly papers: readonly ArchiveEntry[];
  /** 1 to 9. */
  readonly level: number;
};

/** The wheel `svc-memory-bin` with the program of one platform. Equal inputs give equal bytes. */
export function wheel(input: WheelInput): { readonly name: string; readonly bytes: Uint8Array } {
  const { product, target, program, papers, level } = input;
  const { version, license, description } = product;
  const tag = `py3-none-${TAGS[target]}`;
  const info = `svc_memory_bin-${version}.dist-info`;
  const executable = target.startsWith("windows") ? "svc.exe" : "svc";
  const metadata = [
    ...["Metadata-Version: 2.4", "Name: svc-memory-bin", `Version: ${version}`],
    ...[`Summary: ${description} The program.`, `License-Expression: ${license}`],
    ...papers.map(({ name }) => `License-File: ${name}`),
    "Requires-Python: >=3.10",
  ];
  const text = (name: string, content: string): ZipEntry => ({
    name,
    bytes: new Uint8Array(Buffer.from(content)),
    isExecutable: false,
  });
  const files = [
    text("svc_memory_bin/__init__.py", MODULE.replace("NAME", executable)),
    {
      name: `svc_memory_bin/${executable}`,
      bytes: new Uint8Array(program),
      isExecutable: true,
    },
    text(`${info}/METADATA`, `${metadata.join("\n")}\n`),
    text(
      `${info}/WHEEL`,
      `Wheel-Version: 1.0\nGenerator: svc\nRoot-Is-Purelib: false\nTag: ${tag}\n`,
    ),
    text(`${info}/entry_points.txt`, "[console_scripts]\nsvc = svc_memory_bin:main\n"),
    ...papers.map(({ name, bytes }) => ({
      name: `${info}/licenses/${name}`,
      bytes: new Uint8Array(bytes),
      isExecutable: false,
    })),
  ];
  const rows = files.map(({ name, bytes }) => {
    const hash = createHash("sha256").update(bytes).digest("base64url");
    return `${name},sha256=${hash},${bytes.byteLength}`;
  });
  const record = text(`${info}/RECORD`, `${[...rows, `${info}/RECORD,,`].join("\n")}\n`);
  return {
    name: `svc_memory_bin-${version}-${tag}.whl`,
    bytes: zip([...files, record], level),
  };
}
