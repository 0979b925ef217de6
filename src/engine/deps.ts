import type { FootageReader } from "../ports/footage.ts";
import type {
  DateReader,
  Embedder,
  LanguageModel,
  Reranker,
  TextModel,
  Tokenizer,
  VisionModel,
} from "../ports/models.ts";
import type { PackLock, Store } from "../ports/store/store.ts";
import type { Clock, IdSource } from "../ports/system.ts";
import type { ExtractionProvider } from "./extract/api.ts";
import type { EngineSettings } from "./settings.ts";

/**
 * Dependencies of the engine. The engine closes store, embedder and models when it is closed. A use case names the roles of the
 * store that it uses.
 */
export type EngineDeps<Roles = Store> = {
  readonly store: Roles;
  readonly packLock: PackLock;
  readonly embedder: Embedder;
  readonly tokenizer: Tokenizer;
  readonly dates: DateReader;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly settings: EngineSettings;
  /** Absent: reranking is off. */
  readonly reranker?: Reranker | undefined;
  /** Absent: nothing that needs a language model is offered. */
  readonly languageModel?: LanguageModel | undefined;
  /** Chooses the sentences of summaries. Absent: none are made, unless the settings do without. */
  readonly summaryModel?: LanguageModel | undefined;
  /** Absent: nothing is extracted from messages. */
  readonly extractionModel?: TextModel | ExtractionProvider | undefined;
  /** Reads photos and videos. Absent: none are observed. */
  readonly footage?: FootageReader | undefined;
  /** Describes pictures. Absent: none are observed. */
  readonly visionModel?: VisionModel | undefined;
  /** Identity of the running code for receipts: names and versions, no secrets. */
  readonly features: Readonly<Record<string, string>>;
  /** Whose a pack is that nobody has used yet. Absent: its first user has to be named. */
  readonly personName?: string | undefined;
  /** Whether the store refuses to write; then there is no background work and no receipt. Absent: no. */
  readonly isReadOnly?: boolean | undefined;
  /** Milliseconds that an answer waits for its receipt. Default: 1 s. */
  readonly answerMs?: number | undefined;
  /** Looks up before a call what owners are called, where some have names of another form (`ownerName`). Never rejects. Absent: none has. */
  readonly readNames?: (() => Promise<void>) | undefined;
  /** Receives failures that do not fail a call. Never memory text. */
  readonly warn: (message: string) => void;
};
