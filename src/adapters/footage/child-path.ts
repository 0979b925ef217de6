import { fileURLToPath } from "node:url";
import { EMBEDDED } from "../native/embedded.ts";
import { unpack } from "../native/extract.ts";

/**
 * The script of the child process: from source the module, in the executable a bundle of it, unpacked and verified.
 * @throws SvcError storage_failed if it cannot be unpacked
 */
export function childPath(): string {
  const bundle = EMBEDDED["footage-child"];
  return bundle === undefined
    ? fileURLToPath(new URL("./child.ts", import.meta.url))
    : unpack(bundle);
}
