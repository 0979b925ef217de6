import { sha256Hex } from "../lib/hashing.ts";

/** Providers of embedding models: servers with the OpenAI protocol, and Ollama. */
export const EMBEDDING_PROVIDERS = ["openai", "ollama"] as const;
export type EmbeddingProvider = (typeof EMBEDDING_PROVIDERS)[number];

export type HostedModel = {
  readonly provider: EmbeddingProvider;
  /** The provider's name for it, which is also its name in packs. */
  readonly name: string;
  /** Identifies provider and recipe in packs. Changes whenever a vector changes. */
  readonly recipe: string;
  readonly dimension: number;
  /** Whether the provider is asked for this dimension because the model's own vectors are longer. */
  readonly isShortened: boolean;
  /** Prefixes for every embedded text. */
  readonly documentPrefix: string;
  readonly questionPrefix: string;
};

/** The settings of a hosted model. */
export type HostedModelChoice = {
  readonly provider: EmbeddingProvider;
  readonly name: string | undefined;
  readonly dimension: number | undefined;
  readonly documentPrefix: string | undefined;
  readonly questionPrefix: string | undefined;
};

type Known = {
  readonly dimension: number;
  /** Whether it also makes shorter vectors. */
  readonly shortens?: true;
  readonly documentPrefix?: string;
  readonly questionPrefix?: string;
};

const PASSAGES = "Represent this sentence for searching relevant passages: ";

/** Models whose dimension is known, with their authors' prefixes. */
const KNOWN: Readonly<Record<EmbeddingProvider, Readonly<Record<string, Known>>>> = {
  openai: {
    "text-embedding-3-small": { dimension: 1536, shortens: true },
    "text-embedding-3-large": { dimension: 3072, shortens: true },
    "text-embedding-ada-002": { dimension: 1536 },
  },
  ollama: {
    "nomic-embed-text": {
      dimension: 768,
      documentPrefix: "search_document: ",
      questionPrefix: "search_query: ",
    },
    "mxbai-embed-large": { dimension: 1024, questionPrefix: PASSAGES },
    "snowflake-arctic-embed": { dimension: 1024, questionPrefix: PASSAGES },
    "snowflake-arctic-embed2": { dimension: 1024, questionPrefix: "query: " },
    "bge-m3": { dimension: 1024 },
    "all-minilm": { dimension: 384 },
    embeddinggemma: {
      dimension: 768,
      documentPrefix: "title: none | text: ",
      questionPrefix: "task: search result | query: ",
    },
  },
};

const DEFAULT_NAMES: Readonly<Record<EmbeddingProvider, string | undefined>> = {
  openai: "text-embedding-3-small",
  ollama: undefined,
};

/** The name of the chosen model; undefined if the provider has no default. */
export function hostedName({ provider, name }: HostedModelChoice): string | undefined {
  // Both names mean the same model.
  return name?.replace(/:latest$/, "") ?? DEFAULT_NAMES[provider];
}

/** The chosen model; undefined if its name or its dimension is missing. */
export function hostedModel(choice: HostedModelChoice): HostedModel | undefined {
  const { provider } = choice;
  const name = hostedName(choice);
  if (name === undefined) return undefined;
  const known = Object.hasOwn(KNOWN[provider], name) ? KNOWN[provider][name] : undefined;
  const dimension = choice.dimension ?? known?.dimension;
  if (dimension === undefined) return undefined;
  const documentPrefix = choice.documentPrefix ?? known?.documentPrefix ?? "";
  return {
    provider,
    name,
    recipe: `${provider}-l2-1${documentPrefix === "" ? "" : `-p${sha256Hex(documentPrefix).slice(0, 8)}`}`,
    dimension,
    isShortened: known?.shortens === true && dimension < known.dimension,
    documentPrefix,
    questionPrefix: choice.questionPrefix ?? known?.questionPrefix ?? "",
  };
}

/** The provider of vectors with this version; undefined for a local model. */
export function providerOfVectors(version: string): EmbeddingProvider | undefined {
  return EMBEDDING_PROVIDERS.find((provider) => version.startsWith(`${provider}-`));
}
