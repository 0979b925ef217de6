import { readFileSync } from "node:fs";
import { release } from "node:os";
import { PLATFORM } from "../adapters/native/platform.ts";
import type { Finding } from "./finding.ts";

/** What is known of a machine. */
export type Machine = {
  /** As in the names of executables: `linux-x64`. */
  readonly platform: string;
  /** Of the system's kernel. */
  readonly kernel: string;
  /** What the processor can do, as Linux names it; undefined where the system does not say. */
  readonly abilities: readonly string[] | undefined;
};

/** Kernel of macOS 14, the oldest that ONNX Runtime loads on. */
const MACOS_14 = 23;
/** What x64 processors have since 2013, and arm64 processors but those of a Raspberry Pi 4 and older. */
const WANTED = [
  {
    ability: "aes",
    lacking: "its processor has no AES instructions, so packs are encrypted more slowly",
  },
  {
    ability: "avx2",
    lacking: "its processor has no AVX2, so vectors are compared more slowly",
    onlyX64: true,
  },
];

/** This machine. */
export function thisMachine(): Machine {
  return { platform: PLATFORM, kernel: release(), abilities: readAbilities() };
}

/** What the platform of this program cannot do, or does otherwise than others. */
export function checkPlatform({ platform, kernel, abilities }: Machine): Finding {
  const name = "platform";
  const shown = `${platform}, kernel ${kernel}`;
  if (platform === "darwin-arm64" && Number.parseInt(kernel, 10) < MACOS_14) {
    const message = `${shown}: the model needs macOS 14 or newer; memories are neither stored nor found by meaning`;
    return { name, status: "fail", message };
  }
  const slow = WANTED.filter(
    ({ ability, onlyX64 = false }) =>
      abilities !== undefined &&
      !abilities.includes(ability) &&
      (!onlyX64 || platform.endsWith("x64")),
  ).map(({ lacking }) => lacking);
  const notes = [...slow, ...limitsOf(platform)];
  return { name, status: slow.length > 0 ? "warn" : "ok", message: [shown, ...notes].join("; ") };
}

function limitsOf(platform: string): readonly string[] {
  if (platform.startsWith("windows")) {
    return ["a preview; the rights of its folder decide who may read a pack"];
  }
  if (platform.endsWith("arm64")) return ["vectors differ slightly from those of x64"];
  return [];
}

function readAbilities(): readonly string[] | undefined {
  try {
    const line = /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1];
    return line?.trim().split(/\s+/);
  } catch {
    // Not Linux.
    return undefined;
  }
}
