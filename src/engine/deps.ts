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
import type { SourceReader } from "../ports/sources.ts";
import type { MakePastIndex } from "../ports/store/search-index.ts";
import type { PackLock, Store } from "../ports/store/store.ts";
import type { Clock, IdSource } from "../ports/system.ts";
import type { ExtractionProvider } from "./extract/api.ts";
import type { EngineSettings } from "./settings.ts";

/** What the engine needs; it closes store, embedder and models. Each use case names the store roles it uses. */
export type EngineDeps<Roles = Store> = {
  readonly store: Roles;
  readonly packLock: PackLock;
  readonly pastIndex: MakePastIndex;
  readonly embedder: Embedder;
  readonly tokenizer: Tokenizer;
  readonly dates: DateReader;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly settings: EngineSettings;
  /** Absent: off. */
  readonly reranker?: Reranker | undefined;
  /** Absent: features that need one are off. */
  readonly languageModel?: LanguageModel | undefined;
  /** Absent: no summaries, unless they are set to need no model. */
  readonly summaryModel?: LanguageModel | undefined;
  /** Absent: nothing is extracted. */
  readonly extractionModel?: TextModel | ExtractionProvider | undefined;
  /** Absent: nothing is observed. */
  readonly footage?: FootageReader | undefined;
  readonly visionModel?: VisionModel | undefined;
  /** Reads what other programs keep. Absent: nothing is imported. */
  readonly sources?: SourceReader | undefined;
  /** Identity of the running code for receipts: names and versions. */
  readonly features: Readonly<Record<string, string>>;
  /** Default owner of an unused pack. Absent: it must be named. */
  readonly personName?: string | undefined;
  /** Whether the store refuses writes; then there are no background jobs and no receipts. */
  readonly isReadOnly?: boolean | undefined;
  /** Milliseconds that an answer waits for its receipt. Default 1000. */
  readonly answerMs?: number | undefined;
  /** Reports failures that do not fail a call; never memory text. */
  readonly warn: (message: string) => void;
};

/** The same for work that nobody waits for. */
export function unhurried<Deps extends Pick<EngineDeps, "embedder">>(deps: Deps): Deps {
  const { embedder } = deps;
  const { embedLater } = embedder;
  if (embedLater === undefined) return deps;
  return { ...deps, embedder: { ...embedder, embedDocument: (text) => embedLater(text) } };
}
