import { existsSync } from "node:fs";
import { join } from "node:path";
import { EMBEDDED } from "./embedded.ts";
import { extractAsset } from "./extract.ts";
import { PACKAGED_LIBRARIES } from "./packaged.ts";
import { sourceHash } from "./source-hash.ts";

/** Entry point to pass to `Database.loadExtension` beside the path. */
export const KERNEL_ENTRY = "sqlite3_svckernel_init";

/** The key of the library among the embedded files. */
export const KERNEL_ASSET = "svckernel";

/** Folder of its C source, below that of the project. */
export const KERNEL_SOURCE = "src/adapters/native/kernel";

/**
 * The absolute path of the search library. In the executable it is unpacked and verified first; from source it is the one
 * that the build compiled. Undefined when there is none: every search works without it, only slower.
 * @throws SvcError `storage_failed` when it cannot be unpacked.
 */
export function kernelLibraryPath(): string | undefined {
  const embedded = EMBEDDED[KERNEL_ASSET];
  if (embedded !== undefined) return extractAsset(embedded);
  const root = join(import.meta.dir, "../../..");
  return [compiledKernelLibrary(root), packagedKernelLibrary(root)].find(existsSync);
}

/**
 * Where the build leaves the library for this machine. The name holds a hash of the C source, so that a library of other
 * source is never taken for it.
 * @param root folder of the project.
 */
export function compiledKernelLibrary(root: string): string {
  return join(root, "node_modules/.cache/svckernel", folderName(root), "svckernel.so");
}

/** Where the npm package carries the library for this machine; named by the hash of its source too. */
export function packagedKernelLibrary(root: string): string {
  return join(root, PACKAGED_LIBRARIES, folderName(root), "svckernel.so");
}

function folderName(root: string): string {
  return `${process.platform}-${process.arch}-${kernelSourceHash(root)}`;
}

/** 16 hex digits over names and contents of the C source and its compiler flags. */
export function kernelSourceHash(root: string): string {
  return sourceHash(join(root, KERNEL_SOURCE));
}
