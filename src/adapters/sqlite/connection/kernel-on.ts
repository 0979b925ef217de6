import type { Database } from "bun:sqlite";
import { type Kernel, loadKernel } from "../../native/kernel.ts";
import { KERNEL_LIBRARY, loadInto } from "../../native/load-library.ts";

const loadedOn = new WeakMap<Database, { readonly kernel: Kernel | undefined }>();

/**
 * The search library, with its SQL functions on this connection: those that compare vectors and
 * those that rank words. Undefined if unavailable. Never throws.
 */
export function kernelOn(database: Database): Kernel | undefined {
  const known = loadedOn.get(database);
  if (known !== undefined) return known.kernel;
  const kernel = tryLoad(database, loadKernel());
  loadedOn.set(database, { kernel });
  return kernel;
}

/** Makes searches on a connection work without the library. */
export function withoutKernel(database: Database): void {
  loadedOn.set(database, { kernel: undefined });
}

function tryLoad(database: Database, kernel: Kernel | undefined): Kernel | undefined {
  if (kernel === undefined) return undefined;
  try {
    loadInto(database, { ...KERNEL_LIBRARY, path: kernel.path });
    return kernel;
  } catch {
    // An SQLite without FTS5's interface, or one that cannot load extensions: searches work without it.
    return undefined;
  }
}
