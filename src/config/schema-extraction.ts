import {
  decimal,
  integer,
  member,
  optionalMemberOrNone,
  optionalSecret,
  optionalText,
  text,
} from "./fields.ts";

/** The default is a model of the provider that is the default. */
export const DEFAULT_LANGUAGE_MODEL = { provider: "openai", name: "gpt-4o-mini" } as const;

/** The language model of everything that needs one. Nothing needs one by default. */
export const EXTRACTION = {
  provider: member(
    ["openai", "anthropic", "ollama"],
    DEFAULT_LANGUAGE_MODEL.provider,
    "Who runs the language model: a hosted provider, or `ollama` on this machine. It is used only by features that are turned on and need it.",
  ),
  model: text(DEFAULT_LANGUAGE_MODEL.name, "The language model, by the provider's name for it."),
  api_key: optionalSecret(
    "Key of a hosted provider. Unset: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, from the environment, then `.env`.",
  ),
  base_url: optionalText(
    "Address of the provider, http or https. Unset: `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`, from the environment, then `.env`; else the provider's own, for `ollama` port 11434 of this machine.",
  ),
  timeout: decimal(
    { default: 30, above: 0, max: 3600 },
    "Seconds for one answer of the model, retries included.",
  ),
  max_retries: integer(
    { default: 3, min: 0, max: 10 },
    "Retries if an answer does not have the requested form. Other wordings of a question (`enable_query_reformulation`) always have 2.",
  ),
  temperature: decimal(
    { default: 0, min: 0, max: 2 },
    "0: the likeliest answer; higher: more varied ones. Other wordings of a question are always requested at 0.",
  ),
  reasoning_effort: optionalMemberOrNone(
    ["none", "low", "medium", "high"],
    "How long the model may think, if it supports that; unset: not sent, for `ollama` `none`.",
  ),
};
