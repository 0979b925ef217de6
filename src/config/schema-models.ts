import { isWebAddress } from "../domain/provider-address.ts";
import type { Complaint } from "./complaint.ts";
import {
  decimal,
  integer,
  member,
  optionalMember,
  optionalMemberOrNone,
  optionalSecretName,
  optionalText,
  text,
} from "./fields.ts";

/** Models that run on this machine and are not part of the program. */
export const MODELS = {
  hub_url: text(
    "https://huggingface.co",
    "Where local models are downloaded from when a setting names one instead of a folder. Nothing is downloaded for what is turned off.",
  ),
  download_timeout: decimal(
    { default: 1800, above: 0, max: 86_400 },
    "Seconds for the download of one model.",
  ),
  download_stall_timeout: decimal(
    { default: 30, above: 0, max: 3600 },
    "Seconds without a byte after which a download is abandoned.",
  ),
  threads: integer(
    { default: 1, min: 1, max: 256 },
    "Processor threads for one run of a reranker or entailment model.",
  ),
};

/** The check of whether a context contains what an answer needs. Off until provider and model are set. */
export const ANSWERABILITY = {
  provider: optionalMember(
    ["openai", "anthropic", "ollama"],
    undefined,
    "Who runs the language model of the check; unset: the check is off. Needs `answerability.model`.",
  ),
  model: optionalText("The language model of the check, by the provider's name for it."),
  api_key: optionalSecretName(
    "Key of a hosted provider; an empty one is sent as it is. Unset: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, from the environment, then `.env`.",
    "",
  ),
  base_url: optionalText(
    "Address of the provider, http or https. Unset: `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`, from the environment, then `.env`; else the provider's own, for `ollama` port 11434 of this machine.",
  ),
  max_retries: integer(
    { default: 2, min: 0, max: 10 },
    "Retries if an assessment does not have the requested form.",
  ),
  timeout: decimal(
    { default: 30, above: 0, max: 3600 },
    "Seconds for one check, retries included.",
  ),
  temperature: decimal(
    { default: 0, min: 0, max: 2 },
    "0: the likeliest assessment; higher: more varied ones.",
  ),
  reasoning_effort: optionalMemberOrNone(
    ["none", "low", "medium", "high"],
    "How long the model may think, if it supports that; unset: not sent, for `ollama` `none`.",
  ),
};

/** The check of claims against evidence, by a local model. Off until the model is set. */
export const ENTAILMENT = {
  model: optionalText(
    "The local model that verifies claims: a folder (`/path`, `./path`, `~/path`) or a name on the hub. It has to know the labels entailment, contradiction and neutral. Unset: claims are not verified.",
  ),
  revision: text("main", "Branch, tag or commit of the model on the hub."),
  entailment_threshold: decimal(
    { default: 0.8, min: 0.5, max: 1 },
    "Probability from which evidence supports a claim.",
  ),
  contradiction_threshold: decimal(
    { default: 0.8, min: 0.5, max: 1 },
    "Probability from which evidence contradicts a claim.",
  ),
  batch_size: integer(
    { default: 32, min: 1, max: 256 },
    "Pairs of texts given to the model at a time.",
  ),
  max_evidence: integer(
    { default: 64, min: 1, max: 256 },
    "Maximum pieces of evidence for one check; more are refused.",
  ),
  max_group_size: integer(
    { default: 2, min: 1, max: 3 },
    "Memories that may support or refute a claim together.",
  ),
  group_candidate_limit: integer(
    { default: 8, min: 2, max: 16 },
    "Strongest pieces of evidence that are combined when none decides alone.",
  ),
  entailment_policy: member(
    ["speech_act_guarded", "model_only"],
    "speech_act_guarded",
    "`speech_act_guarded`: plans, wishes, questions and the like support no plain statement. `model_only`: the probability alone decides.",
  ),
  refutation_policy: member(
    ["explicit_corroboration", "model_only"],
    "explicit_corroboration",
    "`explicit_corroboration`: the wording must show the contradiction as well. `model_only`: the probability alone decides.",
  ),
};

/** The settings of this file that rules combine. */
type ModelConfig = {
  readonly models: { readonly hub_url: string };
  readonly answerability: {
    readonly provider: string | undefined;
    readonly model: string | undefined;
    readonly base_url: string | undefined;
  };
};

/** Errors in the combination of settings of optional models. */
export function modelComplaints({ models, answerability }: ModelConfig): readonly Complaint[] {
  const { provider, model, base_url: baseUrl } = answerability;
  const complaints: Complaint[] = [];
  if (provider !== undefined && model === undefined) {
    const reason = `is missing; name a model of ${provider}, or unset answerability.provider`;
    complaints.push({ setting: "answerability.model", reason });
  }
  if (provider === undefined && model !== undefined) {
    const reason = "is missing; say who runs the model, or unset answerability.model";
    complaints.push({ setting: "answerability.provider", reason });
  }
  if (baseUrl !== undefined && !isWebAddress(baseUrl)) {
    const reason = "is no address of the form http://host or https://host";
    complaints.push({ setting: "answerability.base_url", reason });
  }
  if (!isWebAddress(models.hub_url)) {
    const reason = "is no address of the form https://host";
    complaints.push({ setting: "models.hub_url", reason });
  }
  return complaints;
}
