import { reachedHost } from "../app/reached-host.ts";
import type { Config } from "../config/schema.ts";
import type { Finding } from "./finding.ts";

/** What decodes videos. */
const DECODERS = ["ffmpeg", "ffprobe"];

/** Who gets pictures, and whether videos can be observed; nothing where observation is off. */
export function checkVision({ vision }: Pick<Config, "vision">): readonly Finding[] {
  if (!vision.enabled) return [];
  const { provider, model, base_url: baseUrl } = vision;
  const name = "vision";
  const who = `pictures are shown to ${model} (${provider}, ${reachedHost(provider, baseUrl)})`;
  if (provider !== "ollama" && vision.api_key === undefined) {
    const message = `${who}, which needs a key: set SVC_VISION__API_KEY`;
    return [{ name, status: "fail", message }];
  }
  const absent = DECODERS.filter((program) => Bun.which(program) === null);
  if (absent.length === 0) return [{ name, status: "ok", message: who }];
  const message = `${who}; videos cannot be observed, because ${absent.join(" and ")} is not on the PATH: install ffmpeg`;
  return [{ name, status: "warn", message }];
}
