import type { Send, VideoRequest } from "./messages.ts";
import { startTool } from "./tool.ts";
import { readingOf } from "./video-input.ts";

/** Milliseconds for what ffprobe finds out. */
const LIMIT_MS = 120_000;

/** What a container says of itself. */
export type Probed = {
  /** As it stands there. */
  readonly created?: string | undefined;
  readonly durationS?: number | undefined;
};

/** Nothing where ffprobe is missing, fails or takes too long: decoding shows what is wrong with a video. */
export async function probeVideo(request: VideoRequest, send: Send): Promise<Probed> {
  if (request.ffprobe === undefined) return {};
  const wanted = ["-show_entries", "format=duration:format_tags=creation_time", "-of", "json"];
  const tool = await startTool([request.ffprobe, ...readingOf(request), ...wanted], send);
  const timer = setTimeout(tool.kill, LIMIT_MS);
  try {
    const text = await new Response(tool.output).text();
    const { exitCode } = await tool.ended();
    return exitCode === 0 ? probedOf(JSON.parse(text)) : {};
  } catch {
    return {};
  } finally {
    clearTimeout(timer);
  }
}

function probedOf(answer: {
  readonly format?: {
    readonly duration?: string;
    readonly tags?: { readonly creation_time?: string };
  };
}): Probed {
  const duration = Number(answer.format?.duration);
  return {
    created: answer.format?.tags?.creation_time,
    durationS: duration > 0 ? duration : undefined,
  };
}
