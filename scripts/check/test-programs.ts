/**
 * Installs the programs that tests drive, with the system's package manager: the browser and the fonts of its pictures (130 MB),
 * ffmpeg (90 MB), HAProxy and two shells (30 MB). Exit code 1 says that they cannot be had.
 */
import { existsSync } from "node:fs";
import { run } from "../build/run.ts";

/** The browser of the tests, and what has to be there for pictures that are equal everywhere. */
export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FONTS = ["/usr/share/fonts/opentype/inter", "/usr/share/fonts/truetype/jetbrains-mono"];
const LIMIT_MS = 110_000;

type Program = {
  /** What is said of it where it is missing. */
  readonly missing: string;
  /** All that has to be there: paths, or commands on the path. */
  readonly parts: readonly string[];
  /** Of Debian. */
  readonly packages: readonly string[];
};

const PROGRAMS = {
  browser: {
    missing: "Chromium or its fonts are not installed",
    parts: [CHROMIUM, ...FONTS],
    packages: ["chromium", "fonts-inter", "fonts-jetbrains-mono"],
  },
  ffmpeg: {
    missing: "ffmpeg is not installed",
    parts: ["ffmpeg", "ffprobe"],
    packages: ["ffmpeg"],
  },
  haproxy: { missing: "haproxy is not installed", parts: ["haproxy"], packages: ["haproxy"] },
  zsh: { missing: "zsh is not installed", parts: ["zsh"], packages: ["zsh"] },
  fish: { missing: "fish is not installed", parts: ["fish"], packages: ["fish"] },
} as const satisfies Readonly<Record<string, Program>>;

function isThere({ parts }: Program): boolean {
  return parts.every((part) =>
    part.startsWith("/") ? existsSync(part) : Bun.which(part) !== null,
  );
}

/** The packages that are missing. */
function missing(): readonly string[] {
  return Object.values(PROGRAMS).flatMap((one) => (isThere(one) ? [] : one.packages));
}

/** Why pictures of the page cannot be compared here. */
export function whyNoFonts(): string | undefined {
  const missing = FONTS.filter((path) => !existsSync(path));
  return missing.length === 0 ? undefined : `it takes the fonts of ${missing.join(" and ")}`;
}

/** Why a program is not installed here: it is missing and nobody wants it installed; `CI` set does. */
export function whyNo(name: keyof typeof PROGRAMS): string | undefined {
  const program: Program = PROGRAMS[name];
  if (isThere(program) || process.env["CI"] !== undefined) return undefined;
  return `${program.missing} (apt-get install ${program.packages.join(" ")})`;
}

/** Why some of them are not there, without `CI`. */
export function whyNoPrograms(): string | undefined {
  const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];
  const reasons = names.map(whyNo).filter((reason) => reason !== undefined);
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
