/** Compiles the native libraries before the first test, so that a single test file runs on a fresh checkout. */
import { join } from "node:path";
import { cryptLibrary } from "../scripts/build/crypt-library.ts";
import { kernelLibrary } from "../scripts/build/kernel-library.ts";

const root = join(import.meta.dir, "..");
await cryptLibrary(root, "release");
await kernelLibrary(root);
