/** Compiles the encryption library before the first test, so that a single test file runs on a fresh checkout. */
import { join } from "node:path";
import { cryptLibrary } from "../scripts/build/crypt-library.ts";

await cryptLibrary(join(import.meta.dir, ".."), "release");
