/**
 * Installs the browser of the tests, the fonts of their pictures, and ffmpeg, with the system's package manager: 130 and 90 MB. Exit
 * code 1 says that they cannot be had.
 */
import { existsSync } from "node:fs";
import { run } from "../build/run.ts";

/** The browser of the tests, and what has to be there for pictures that are equal everywhere. */
export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FONTS = ["/usr/share/fonts/opentype/inter", "/usr/share/fonts/truetype/jetbrains-mono"];
const PACKAGES = ["chromium", "fonts-inter", "fonts-jetbrains-mono"];
const LIMIT_MS = 110_000;

function isBrowserThere(): boolean {
  return [CHROMIUM, ...FONTS].every((path) => existsSync(path));
}

function isFfmpegThere(): boolean {
  return ["ffmpeg", "ffprobe"].every((name) => Bun.which(name) !== null);
}

/** The packages that are missing. */
function missing(): readonly string[] {
  return [...(isBrowserThere() ? [] : PACKAGES), ...(isFfmpegThere() ? [] : ["ffmpeg"])];
}

/** Why pictures of the page cannot be compared here. */
export function whyNoFonts(): string | undefined {
  const missing = FONTS.filter((path) => !existsSync(path));
  return missing.length === 0 ? undefined : `it takes the fonts of ${missing.join(" and ")}`;
}

/** Why the browser is not installed here: something is missing and nobody wants it installed; `CI` set does. */
export function whyNoBrowser(): string | undefined {
  if (isBrowserThere() || process.env["CI"] !== undefined) return undefined;
  return `Chromium or its fonts are not installed (apt-get install ${PACKAGES.join(" ")})`;
}

/** The same for ffmpeg. */
export function whyNoFfmpeg(): string | undefined {
  if (isFfmpegThere() || process.env["CI"] !== undefined) return undefined;
  return "ffmpeg is not installed (apt-get install ffmpeg)";
}

/** Why some of them are not there, without `CI`. */
export function whyNoPrograms(): string | undefined {
  const reasons = [whyNoBrowser(), whyNoFfmpeg()].filter((reason) => reason !== undefined);
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

/** Why they cannot be installed, in one line; undefined once they are there. */
async function install(): Promise<string | undefined> {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const words = ["install", "--yes", "--quiet", "--no-install-recommends", ...missing()];
  for (const command of [["update", "--quiet"], words]) {
    const { exitCode, stderr } = await run(["apt-get", ...command], { env, limitMs: LIMIT_MS });
    const reason = stderr.trim().split("\n").at(-1) || "it took too long";
    if (exitCode !== 0) return `apt-get ${command[0]}: ${reason}`;
  }
  return missing().length === 0 ? undefined : `apt-get does not install ${missing().join(", ")}`;
}

if (import.meta.main && missing().length > 0) {
  const hindrance = await install();
  if (hindrance !== undefined) {
    console.error(`the programs of the tests cannot be installed: ${hindrance}`);
    process.exitCode = 1;
  }
}
