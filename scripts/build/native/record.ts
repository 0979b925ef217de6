import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { elfNeeds, newestGlibc } from "./elf.ts";
import { KEPT, type Kept, PREBUILT, sourceHash } from "./libraries.ts";

/** The command that makes the kept libraries again. */
export const REBUILD = "bun scripts/build/native.ts";

/** No symbol that a kept library needs may be newer. */
const GLIBC_MAX = { major: 2, minor: 28 };

/** SHA-256 of a kept library, and of all that it was made from. */
type Built = { readonly sha256: string; readonly source: string };

export function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function recordPath(root: string): string {
  return join(root, PREBUILT, "built.json");
}

/** Notes beside the libraries what they are and what they were made from. */
export function writeRecord(root: string): void {
  const entries = KEPT.map((kept): [string, Built] => [
    kept.path,
    {
      sha256: sha256Of(readFileSync(join(root, PREBUILT, kept.path))),
      source: sourceHash(root, kept),
    },
  ]);
  writeFileSync(recordPath(root), `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}

/** What is wrong with the kept libraries: one line each, with the command that mends it. No compiler is needed. */
export function findings(root: string): readonly string[] {
  const record: Readonly<Record<string, Built>> = JSON.parse(
    readFileSync(recordPath(root), "utf8"),
  );
  return [
    ...["vendor/openssl", "vendor/sqlite"].flatMap((folder) => vendorFindings(root, folder)),
    ...KEPT.flatMap((kept) => findingsOf(root, kept, record[kept.path])),
  ];
}

/** Foreign source stays as it came. */
function vendorFindings(root: string, folder: string): readonly string[] {
  const sums = readFileSync(join(root, folder, "SHA256SUMS"), "utf8")
    .trim()
    .split("\n");
  return sums.flatMap((line) => {
    const [sum, name = ""] = line.split(/\s+/);
    const path = `${folder}/${name}`;
    const isSame = sum === sha256Of(readFileSync(join(root, path)));
    return isSame ? [] : [`${path} differs from SHA256SUMS; restore it from version control`];
  });
}

function findingsOf(root: string, kept: Kept, built: Built | undefined): readonly string[] {
  const path = join(root, PREBUILT, kept.path);
  if (built === undefined || !existsSync(path)) return [`${kept.path} is missing; run: ${REBUILD}`];
  const content = readFileSync(path);
  if (sha256Of(content) !== built.sha256) {
    return [`${kept.path} is not the library that built.json describes; run: ${REBUILD}`];
  }
  if (sourceHash(root, kept) !== built.source) {
    return [`${kept.path} was built from other source than this; run: ${REBUILD}`];
  }
  return kept.path.endsWith(".so") ? tooNew(kept.path, content) : [];
}

function tooNew(name: string, content: Uint8Array): readonly string[] {
  const { versions } = elfNeeds(content);
  const [major, minor] = newestGlibc(versions) ?? [0, 0];
  const isOld = major < GLIBC_MAX.major || (major === GLIBC_MAX.major && minor <= GLIBC_MAX.minor);
  return isOld
    ? []
    : [`${name} needs glibc ${major}.${minor}, newer than ${GLIBC_MAX.major}.${GLIBC_MAX.minor}`];
}
