import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { PNG } from "pngjs";

/** A photo of one colour: another number is another photo. */
export function picture(number: number): Buffer {
  const png = new PNG({ width: 64, height: 48 });
  for (let at = 0; at < png.data.length; at += 4) {
    png.data.set([number % 256, Math.floor(number / 256), 200, 255], at);
  }
  return PNG.sync.write(png);
}

/** Writes photos, with their folders. */
export function writePictures(paths: readonly string[]): void {
  for (const [number, path] of paths.entries()) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, picture(number));
  }
}

/** Why videos cannot be made here; undefined: they can. */
export const NO_FFMPEG =
  Bun.which("ffmpeg") === null || Bun.which("ffprobe") === null
    ? "ffmpeg is not installed"
    : undefined;

/** Writes a video whose frames differ. */
export function writeVideo(path: string, seconds: number): void {
  const source = `testsrc=duration=${seconds}:size=320x240:rate=5`;
  const args = ["-v", "error", "-y", "-f", "lavfi", "-i", source, path];
  const { exitCode, stderr } = Bun.spawnSync(["ffmpeg", ...args]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}
