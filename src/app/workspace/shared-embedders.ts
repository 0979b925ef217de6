import type { Embedder } from "../../ports/models.ts";
import { createConfiguredEmbedder, identityWith } from "../configured-embedder.ts";

/** Embedders for several engines: one for each model, however many packs use it. */
export type SharedEmbedders = {
  /** As `createConfiguredEmbedder`; closing what it gives leaves the others theirs. */
  readonly make: typeof createConfiguredEmbedder;
  /** Once no engine uses them any more. */
  close(): Promise<void>;
};

/** @param create makes one that is not there yet */
export function createSharedEmbedders(create = createConfiguredEmbedder): SharedEmbedders {
  const made = new Map<string, Promise<Embedder>>();
  return {
    make: async (config, model, warn) => {
      const { model: name, version, dimension } = identityWith(config, model);
      const key = JSON.stringify([name, version, dimension]);
      const making = made.get(key) ?? create(config, model, warn);
      made.set(key, making);
      // The next pack tries again.
      making.catch(() => made.delete(key));
      const embedder = await making;
      // An owner of the same name in another pack is somebody else.
      const pack = crypto.randomUUID();
      const here = (of: string | undefined) => (of === undefined ? undefined : `${pack} ${of}`);
      return {
        ...embedder,
        embedDocument: (text, of) => embedder.embedDocument(text, here(of)),
        embedQuery: (text, of) => embedder.embedQuery(text, here(of)),
        forget: (of) => embedder.forget?.(`${pack} ${of}`),
        close: async () => {},
      };
    },
    close: async () => {
      for (const embedder of made.values()) await (await embedder).close();
    },
  };
}
