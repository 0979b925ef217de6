import { EMBEDDED } from "./embedded.ts";
import { unpack } from "./extract.ts";

/**
 * The native binding of ONNX Runtime from inside the executable. The build makes `onnxruntime-node` call this instead of
 * its own `require` of a file that exists only below node_modules.
 * @throws SvcError `storage_failed` if the libraries cannot be unpacked.
 */
export function loadOnnxRuntime(): unknown {
  let binding = "";
  for (const [key, asset] of Object.entries(EMBEDDED)) {
    if (!key.startsWith("onnxruntime/")) continue;
    // All into one folder: the binding looks for the library next to itself.
    const path = unpack(asset);
    if (key.endsWith(".node")) binding = path;
  }
  const module: { exports: unknown } = { exports: {} };
  process.dlopen(module, binding);
  return module.exports;
}
