import type { VideoRequest } from "./messages.ts";

/** The containers that are read. Playlists and lists of files, which name others, are none of them. */
const DEMUXERS = "mov,matroska,avi,mpeg,mpegvideo";

/**
 * The arguments with which ffmpeg and ffprobe open a video and nothing else: by a name that is no option and no protocol, from files
 * alone, in these containers, with bounds for a picture and a piece of memory.
 */
export function readingOf({ path, limits }: VideoRequest): readonly string[] {
  return [
    ...["-v", "error", "-max_alloc", String(limits.allocation)],
    ...["-protocol_whitelist", "file,pipe", "-format_whitelist", DEMUXERS],
    ...["-max_pixels", String(limits.pixels), "-threads", "2"],
    ...["-i", `file:${path}`],
  ];
}
