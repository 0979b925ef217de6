import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KEPT, type Kept, sourceOf } from "../../../scripts/build/native/libraries.ts";

const ROOT = join(import.meta.dir, "../../..");
const SANITIZERS = [
  "-O1",
  "-g",
  "-fno-omit-frame-pointer",
  "-fsanitize=address,undefined",
  "-fno-sanitize-recover=all",
];

/** A C program of a test, to be linked with the source of a library. */
export type Driver = {
  readonly library: Kept["library"];
  /** Absolute path of its C file. */
  readonly source: string;
  readonly flags?: readonly string[];
  /** Libraries of the system, as `-lsqlite3`. */
  readonly system?: readonly string[];
};

function cc(args: readonly string[], cwd: string): { readonly ok: boolean; readonly said: string } {
  const env = { ...process.env, LC_ALL: "C" };
  const { success, stderr } = Bun.spawnSync(["cc", ...args], { cwd, env });
  return { ok: success, said: stderr.toString() };
}

/**
 * Why no C program can be built here with the sanitizers and these libraries of the system; undefined when it can. A
 * compiler is needed for such tests alone.
 */
export function whyNoSanitizers(system: readonly string[] = []): string | undefined {
  if (Bun.which("cc") === null) return "there is no C compiler";
  const folder = mkdtempSync(join(tmpdir(), "svc-cc-"));
  try {
    writeFileSync(join(folder, "a.c"), "int main(void) { return 0; }\n");
    if (!cc([...SANITIZERS, "a.c"], folder).ok) return "the C compiler has no sanitizers";
    const lacking = system.find((library) => !cc(["a.c", library], folder).ok);
    return lacking === undefined ? undefined : `the C compiler finds no ${lacking}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compiles a driver under the address and undefined-behaviour sanitizers. @throws Error with the compiler's words */
export function compileDriver(driver: Driver, out: string): void {
  const target = KEPT.find(
    ({ target: { name } }) => name === `${process.platform}-${process.arch}`,
  );
  if (target === undefined) throw new Error("no library is kept for this platform");
  const { cwd, inputs, flags } = sourceOf(ROOT, { ...target, library: driver.library });
  const all = [...flags, ...SANITIZERS, "-Wl,-z,noexecstack", ...(driver.flags ?? []), "-I."];
  const { ok, said } = cc(
    [...all, driver.source, ...inputs, ...(driver.system ?? []), "-lm", "-o", out],
    cwd,
  );
  if (!ok) throw new Error(said);
}
