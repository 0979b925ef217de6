import { isWebAddress } from "../domain/provider-address.ts";
import type { Complaint } from "./complaint.ts";
import {
  decimal,
  flag,
  integer,
  member,
  numberList,
  optionalSecret,
  optionalText,
  text,
} from "./fields.ts";

/** The default is a model of the provider that is the default. */
const DEFAULT_MODEL = { provider: "ollama", name: "qwen3.5:9b" } as const;

/** What becomes of photos and videos. */
export const VISION = {
  enabled: flag(
    false,
    "Whether photos and videos can be observed (`svc observe` turns it on for itself). Their pictures are shown to the model of this group, and to nobody else.",
  ),
  provider: member(
    ["ollama", "openai", "anthropic"],
    DEFAULT_MODEL.provider,
    "Who runs the vision model: `ollama` on this machine, or a hosted provider, which then gets the pictures.",
  ),
  model: text(DEFAULT_MODEL.name, "The vision model, by the provider's name for it."),
  api_key: optionalSecret(
    "Key of a hosted provider. Unset: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, from the environment, then `.env`.",
  ),
  base_url: optionalText(
    "Address of the provider, http or https. Unset: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` or `OLLAMA_HOST`, from the environment, then `.env`; else the provider's own, for `ollama` port 11434 of this machine.",
  ),
  timeout: decimal(
    { default: 180, above: 0, max: 3600 },
    "Seconds for the description of one picture, retries included.",
  ),
  describe_prompt_version: integer(
    { default: 2, min: 2, max: 2 },
    "Version of what the model is asked. A picture that was observed with another one counts as not observed.",
  ),
  extract: flag(
    true,
    "Whether claims are extracted from descriptions, as from ingested messages, if extraction is on.",
  ),
  extraction_retry_delays: numberList(
    { default: [5, 15, 60], min: 0, max: 86_400 },
    "Seconds before each further try of an extraction that failed, before the next picture.",
  ),
  fps: decimal(
    { default: 1, above: 0, max: 1000 },
    "Frames of a video that are looked at, per second.",
  ),
  frame_width: integer(
    { default: 1280, min: 64, max: 16_384 },
    "Pixels of a frame of a video, from left to right.",
  ),
  change_threshold: decimal(
    { default: 0.55, min: 0 },
    "How much a frame has to differ from the last one that was kept, to be kept as well: in greys from 0 to 255, the mean of 64 x 36.",
  ),
  max_gap_seconds: decimal(
    { default: 30, above: 0 },
    "Seconds of a video after which a frame is kept even if nothing changed.",
  ),
  repeat_similarity: decimal(
    { default: 0.93, min: 0, max: 1 },
    "Cosine from which a description that quotes the same texts repeats the one before it, and is dropped.",
  ),
  thumbnail_width: integer(
    { default: 320, min: 16, max: 4096 },
    "Pixels of the longer side of a thumbnail, at most.",
  ),
  keep_thumbnails: flag(true, "Whether a small picture is kept in the pack with each description."),
};

/** Errors in the combination of settings of the vision model, once it is on. */
export function visionComplaints(vision: {
  readonly enabled: boolean;
  readonly provider: string;
  readonly model: string;
  readonly base_url: string | undefined;
}): readonly Complaint[] {
  const { enabled, provider, model, base_url: url } = vision;
  if (!enabled) return [];
  const complaints: Complaint[] = [];
  if (provider !== DEFAULT_MODEL.provider && model === DEFAULT_MODEL.name) {
    const reason = `is a model of ${DEFAULT_MODEL.provider}; set it (SVC_VISION__MODEL) to a model of ${provider} that reads pictures`;
    complaints.push({ setting: "vision.model", reason });
  }
  if (url !== undefined && !isWebAddress(url)) {
    const reason = "is no address of the form http://host or https://host";
    complaints.push({ setting: "vision.base_url", reason });
  }
  return complaints;
}
