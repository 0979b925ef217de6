/** Where a memory was seen: in a photo, or in a frame of a video. */
export type SeenIn = {
  /** The name of the file. */
  readonly file: string;
  /** Seconds from the beginning of a video; undefined for a photo. */
  readonly frameTimeS: number | undefined;
  /** The key of the picture; undefined if none is kept. */
  readonly thumbnail: string | undefined;
};

const MODALITIES: ReadonlySet<unknown> = new Set(["photo", "video_frame"]);
/** UTF-16 units of a file's name that are shown. */
const NAME_MAX = 100;

/** What the metadata of an observed memory says; undefined for every other memory. */
export function seenIn(
  metadata: Readonly<Record<string, unknown>> | undefined,
): SeenIn | undefined {
  const file = metadata?.["source_file"];
  if (metadata === undefined || !MODALITIES.has(metadata["modality"])) return undefined;
  if (typeof file !== "string" || file === "") return undefined;
  const { frame_time_s: time, thumbnail } = metadata;
  return {
    file,
    frameTimeS: typeof time === "number" && time >= 0 ? time : undefined,
    thumbnail: typeof thumbnail === "string" && thumbnail !== "" ? thumbnail : undefined,
  };
}

/** In words: `from frame 0:42 of "trip.mp4"`. @param quote makes the name of the file harmless where it is shown */
export function seenInWords(
  { file, frameTimeS }: SeenIn,
  quote: (name: string) => string = JSON.stringify,
): string {
  const name = quote(file.length > NAME_MAX ? `${shortened(file)}…` : file);
  return frameTimeS === undefined
    ? `from photo ${name}`
    : `from frame ${clock(frameTimeS)} of ${name}`;
}

/** Its start, without half of a character. */
function shortened(file: string): string {
  return file.slice(0, NAME_MAX).replace(/[\ud800-\udbff]$/, "");
}

/** Minutes and seconds, with hours where there are any. */
function clock(seconds: number): string {
  const [h, m, s] = [seconds / 3600, (seconds % 3600) / 60, seconds % 60].map(Math.floor);
  const two = (part: number | undefined): string => String(part).padStart(2, "0");
  return h === 0 ? `${m}:${two(s)}` : `${h}:${two(m)}:${two(s)}`;
}
