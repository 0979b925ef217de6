import { toSvcError } from "../adapters/sqlite/connection/failures.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import type { Purpose } from "../adapters/sqlite/copy/hidden-file.ts";
import { requirePlaceForNew } from "../app/new-pack-place.ts";
import type { Config } from "../config/schema.ts";
import { type Keyed, type NewKey, withNewKey } from "./create-pack.ts";
import { hiddenBeside } from "./hidden-pack.ts";

/**
 * Makes the pack at `layout`, which must not exist yet, with a key as `createPack` does. It appears under its name once it is complete;
 * until then, and if anything fails, there is none.
 * @param fill finishes and closes the pack; gets its settings and where it lies until then
 * @throws SvcError what `hiddenBeside` and `withNewKey` throw; and what `fill` throws
 */
export async function makeKeyedPack<T>(
  config: Config,
  newKey: NewKey,
  { layout, purpose }: { readonly layout: PackLayout; readonly purpose: Purpose },
  fill: (config: Config, layout: PackLayout) => Promise<T>,
): Promise<{ readonly keyed: Keyed; readonly path: string; readonly made: T }> {
  requirePlaceForNew(config);
  const pack = hiddenBeside(layout, purpose);
  const path = mainPath(layout);
  try {
    return await withNewKey(config, newKey, mainPath(pack.layout), async (keyed) => {
      try {
        const made = await fill(keyed.config, pack.layout);
        pack.publish();
        return { keyed, path, made };
      } finally {
        // Before its key is forgotten, if it was not published.
        pack.remove();
      }
    });
  } catch (error) {
    throw toSvcError(error, path);
  } finally {
    pack.remove();
  }
}
