import {
  decimal,
  flag,
  integer,
  member,
  optionalInteger,
  optionalMemberOrNone,
  optionalSecret,
  optionalText,
  text,
} from "./fields.ts";

/** The default is a model of the provider that is the default. */
export const DEFAULT_LANGUAGE_MODEL = { provider: "openai", name: "gpt-4o-mini" } as const;

/** What comes of ingested messages, once extraction is on. */
export const EXTRACTION_STEPS = {
  extraction_batch_target_tokens: optionalInteger(
    { default: undefined, min: 0, max: 65_536 },
    "Tokens of messages of one session that are sent to the model together; 0 sends each alone, as soon as it is ingested. Unset: 2048.",
  ),
  max_concurrent_extractions: integer(
    { default: 8, min: 1, max: 256 },
    "Requests to the model at a time. One owner and scope has at most one.",
  ),
  enable_claim_merge: flag(
    true,
    "Let the same claim in several messages be one memory, with all of them as evidence.",
  ),
  enable_speaker_references: flag(
    true,
    "Take `I` and `my` in a message with a `speaker` for that person.",
  ),
  enable_claim_sentence_text: flag(
    true,
    "Let the text of a claim be the sentences that state it. Off: their whole paragraph.",
  ),
  enable_speaker_grounding: flag(
    false,
    "Believe a claim about the speaker by name where the message says `I`.",
  ),
};

/** How a message is read that is sent alone, and what messages may correct. */
export const EXTRACTION_READING = {
  enable_windowed_extraction: flag(
    false,
    "Show the model earlier messages of the session with each message, which is then sent alone. They only help to read it.",
  ),
  extraction_window_turns: integer(
    { default: 4, min: 0, max: 32 },
    "Earlier messages that are shown (`enable_windowed_extraction`).",
  ),
  enable_extraction_corrections: flag(
    false,
    "Show the model earlier memories near each message, and let the message replace those that it says to hold no more. Needs messages that are sent together.",
  ),
};

/** The language model of everything that needs one. Nothing needs one by default. */
export const EXTRACTION = {
  provider: member(
    ["openai", "anthropic", "ollama"],
    DEFAULT_LANGUAGE_MODEL.provider,
    "Who runs the language model: a hosted provider, or `ollama` on this machine. Setting it, `extraction.model`, `extraction.api_key` or `extraction.base_url` turns extraction from ingested messages on.",
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
  batch_timeout: decimal(
    { default: 180, above: 0, max: 3600 },
    "Seconds for one answer about several messages (`extraction_batch_target_tokens`).",
  ),
  lease_seconds: decimal(
    { default: 300, above: 0, max: 86_400 },
    "Seconds for which the work on a message stays with a process that gives no sign of life.",
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
