import type { Store } from "../../ports/store/store.ts";
import type { EngineDeps } from "../deps.ts";

/** Whether questions can be answered, asked as often as somebody likes to know. */
export function createReadiness({
  store,
  embedder,
}: Pick<EngineDeps<Pick<Store, "manifest">>, "store" | "embedder">): () => Promise<void> {
  let asking: Promise<void> | undefined;
  let isLoaded = false;
  const ask = async (): Promise<void> => {
    await store.manifest();
    if (isLoaded) return;
    await embedder.embedQuery("ready");
    isLoaded = true;
  };
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
