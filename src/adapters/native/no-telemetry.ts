import { dlopen } from "bun:ffi";
import { SvcError } from "../../domain/errors.ts";
import { IS_WINDOWS } from "./system-files.ts";

const NAME = "ORT_DISABLE_TELEMETRY";

/**
 * Disables ONNX Runtime's telemetry. Call it before the library is loaded; it may be repeated.
 *
 * The official builds since 1.29 upload statistics and write a device identifier below the home folder, unless `ORT_DISABLE_TELEMETRY` is
 * set when they initialise. They read the environment of the C library, which an assignment to `process.env` does not reach in Bun.
 * Hence the direct call of `setenv`, on Windows `_putenv_s`.
 * @throws SvcError `embedding_failed` if it cannot be set: then the library must not be loaded at all.
 */
export function forbidTelemetry(): void {
  try {
    const status = IS_WINDOWS ? setOnWindows() : setOnUnix();
    if (status !== 0) throw new Error(`the C library answered ${status}`);
  } catch (cause) {
    throw new SvcError(
      "embedding_failed",
      "the telemetry of ONNX Runtime cannot be turned off, so it is not loaded: set ORT_DISABLE_TELEMETRY=1 and report this platform",
      {},
      { cause },
    );
  }
}

function setOnUnix(): number {
  const library = process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6";
  const libc = dlopen(library, { setenv: { args: ["cstring", "cstring", "int"], returns: "int" } });
  const status = libc.symbols.setenv(cString(NAME), cString("1"), 1);
  libc.close();
  return status;
}

function setOnWindows(): number {
  // The C library that ONNX Runtime is linked with.
  const libc = dlopen("ucrtbase.dll", {
    _putenv_s: { args: ["cstring", "cstring"], returns: "int" },
  });
  const status = libc.symbols._putenv_s(cString(NAME), cString("1"));
  libc.close();
  return status;
}

function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
