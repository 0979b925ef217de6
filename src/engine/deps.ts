import type { Clock } from "../ports/clock.ts";
import type { Embedder } from "../ports/embedder.ts";
import type { IdSource } from "../ports/ids.ts";
import type { Store } from "../ports/store.ts";
import type { Tokenizer } from "../ports/tokenizer.ts";
import type { EngineSettings } from "./settings.ts";

/** Everything the engine stands on. The engine closes store and embedder when it is closed. */
export type EngineDeps = {
  readonly store: Store;
  readonly embedder: Embedder;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly settings: EngineSettings;
  /** Receives what went wrong without failing a call. Never memory text. */
  readonly warn: (message: string) => void;
};
