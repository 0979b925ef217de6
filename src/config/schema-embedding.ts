import { withoutPassword } from "../domain/database-url.ts";
import { DEFAULT_MODEL, EMBEDDING_MODELS, findModel } from "../domain/embedding-models.ts";
import { type HostedModelChoice, hostedModel, hostedName } from "../domain/hosted-models.ts";
import type { Complaint } from "./complaint.ts";
import {
  decimal,
  integer,
  member,
  optionalInteger,
  optionalMember,
  optionalSecret,
  optionalText,
  text,
} from "./fields.ts";
import { expandedPath } from "./path.ts";

const MODEL_NAMES = EMBEDDING_MODELS.map(
  ({ name, alias, languages }) => `\`${name}\` (${languages}; or \`${alias}\`)`,
).join(", ");

/** What turns texts into vectors. By default nothing leaves the machine. */
export const EMBEDDING = {
  provider: member(
    ["fastembed", "local", "openai", "ollama"],
    "fastembed",
    "Who embeds texts. `fastembed`, or `local`: this program, on this machine. `openai`: OpenAI or any server with its protocol (`embedding.base_url`); `ollama`: an Ollama server. With these two, every memory and every question is sent to that server. It decides for new packs and for `svc rebuild`; a pack of their models is searched by words until the settings name its provider and model.",
  ),
  model_name: optionalText(
    `The embedding model of new packs and of \`svc rebuild\`: ${MODEL_NAMES}; another local ONNX model, as a folder (\`/path\`, \`./path\`, \`~/path\`) or by its name on the hub; or the provider's name for a model. A pack keeps its model until it is rebuilt with another one. Unset: \`${DEFAULT_MODEL.name}\`, or on the command line, where the language of the system is not English, the first model that reads others; for \`openai\`: \`text-embedding-3-small\`.`,
  ),
  dimension: optionalInteger(
    { default: undefined, min: 1, max: 8192 },
    "Numbers in a vector. Unset: the model's, if it is known. A smaller one than a model of `text-embedding-3` has is asked of the provider; otherwise it must be the model's.",
  ),
  api_key: optionalSecret(
    "Key of the provider. Unset: for `openai` `OPENAI_API_KEY`, from the environment, then `.env`.",
  ),
  base_url: optionalText(
    "Address of the provider, http or https. Unset: for `openai` `OPENAI_BASE_URL`, from the environment, then `.env`, else its own; for `ollama` port 11434 of this machine.",
  ),
  timeout: decimal(
    { default: 20, above: 0, max: 3600 },
    "Seconds for one answer of a provider, retries included. A question waits at most 10 of them; then it is answered by words.",
  ),
  document_prefix: optionalText(
    "Precedes every memory that is embedded, for models that need it. Unset: what is known of the model, or what its files say.",
  ),
  question_prefix: optionalText("The same for questions."),
  pooling: optionalMember(
    ["cls", "mean", "last"],
    undefined,
    "How the vector of another local model is made of those of its tokens: the first one, the mean or the last one. Unset: as its files say.",
  ),
  revision: text("main", "Branch, tag or commit of another local model on the hub."),
  threads: integer(
    { default: 1, min: 1, max: 256 },
    "Processor threads for one run of a local model.",
  ),
  max_tokens: integer(
    { default: 256, min: 2, max: 8192 },
    "Longer texts are cut, for their vector only; up to 512 for the models of this program. What is sent to a provider is cut to four bytes for each. Another value gives different vectors: a pack keeps the value it was created with.",
  ),
};

/** The settings of this file that rules combine. */
type EmbeddingConfig = {
  readonly provider: "fastembed" | "local" | "openai" | "ollama";
  readonly model_name: string | undefined;
  readonly dimension: number | undefined;
  readonly api_key: unknown;
  readonly base_url: string | undefined;
  readonly document_prefix: string | undefined;
  readonly question_prefix: string | undefined;
  readonly max_tokens: number;
};

/** The chosen model of a provider; undefined if this program runs the model. */
export function hostedChoice(embedding: EmbeddingConfig): HostedModelChoice | undefined {
  const { provider } = embedding;
  if (provider === "fastembed" || provider === "local") return undefined;
  return {
    provider,
    name: embedding.model_name,
    dimension: embedding.dimension,
    documentPrefix: embedding.document_prefix,
    questionPrefix: embedding.question_prefix,
  };
}

/** Whether a name of a local model that is not part of the program can name one: a folder, or owner/name on the hub. */
export function namesOtherModel(name: string): boolean {
  return expandedPath(name) !== name || /^\.{0,2}\/|^[\w.-]+\/[\w.-]+$/.test(name);
}

/** Errors in the combination of settings of embedding. */
export function embeddingComplaints(embedding: EmbeddingConfig): readonly Complaint[] {
  const hosted = hostedChoice(embedding);
  return hosted === undefined ? localComplaints(embedding) : hostedComplaints(hosted, embedding);
}

function hostedComplaints(
  choice: HostedModelChoice,
  { base_url: baseUrl }: EmbeddingConfig,
): readonly Complaint[] {
  const complaints: Complaint[] = [];
  const name = hostedName(choice);
  if (name === undefined) {
    const reason = `is missing; name a model of ${choice.provider}, such as nomic-embed-text`;
    complaints.push({ setting: "embedding.model_name", reason });
  } else if (hostedModel(choice) === undefined) {
    const reason = `is missing; how many numbers the vectors of ${JSON.stringify(withoutPassword(name))} have is not known, so set it`;
    complaints.push({ setting: "embedding.dimension", reason });
  }
  if (baseUrl !== undefined && !(/^https?:\/\/[^\s/]/i.test(baseUrl) && URL.canParse(baseUrl))) {
    const reason = "is not an address; it must begin with http:// or https://";
    complaints.push({ setting: "embedding.base_url", reason });
  }
  return complaints;
}

function localComplaints(embedding: EmbeddingConfig): readonly Complaint[] {
  const { model_name: name, dimension, max_tokens: maxTokens } = embedding;
  const model = name === undefined ? DEFAULT_MODEL : findModel(name);
  if (model === undefined) {
    if (name !== undefined && namesOtherModel(name)) return [];
    const known = EMBEDDING_MODELS.map((one) => one.name).join(" or ");
    const reason = `${JSON.stringify(withoutPassword(name ?? ""))} is not part of this build; use ${known}, a folder (/path, ./path) or owner/name of a model on the hub, or unset it`;
    return [{ setting: "embedding.model_name", reason }];
  }
  if (dimension !== undefined && dimension !== model.dimension) {
    const reason = `${dimension} does not fit ${model.name}, whose vectors have ${model.dimension} numbers; unset it`;
    return [{ setting: "embedding.dimension", reason }];
  }
  if (maxTokens > MAX_TOKENS) {
    const reason = `${maxTokens} is more than the ${MAX_TOKENS} that ${model.name} reads; lower it`;
    return [{ setting: "embedding.max_tokens", reason }];
  }
  return [];
}

/** Tokens that the models of this program read. */
const MAX_TOKENS = 512;

/** Settings of providers that have no effect. */
export function embeddingWarnings(embedding: EmbeddingConfig): readonly string[] {
  if (hostedChoice(embedding) !== undefined) return [];
  return (["api_key", "base_url"] as const)
    .filter((name) => embedding[name] !== undefined)
    .map(
      (name) =>
        `embedding.${name} has no effect: texts are embedded on this machine, unless embedding.provider is openai or ollama`,
    );
}
