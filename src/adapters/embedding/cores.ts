import { dlopen } from "bun:ffi";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, constants, getPriority, setPriority } from "node:os";
import { join } from "node:path";

/** Each thread has a tokenizer and the room of one text. */
const MOST_THREADS = 8;

/**
 * Threads for texts that nobody waits for: all cores but one, of two both; on battery one.
 * @param wanted that many, whatever the machine has
 */
export function bulkThreads(wanted: number | undefined, isOnBattery = onBattery): number {
  if (wanted !== undefined) return wanted;
  const cores = availableParallelism();
  if (cores === 1 || isOnBattery()) return 1;
  return Math.min(MOST_THREADS, Math.max(2, cores - 1));
}

/** Whether this machine runs on its battery. False where the system does not say. */
function onBattery(): boolean {
  try {
    return BATTERY[process.platform]?.() ?? false;
  } catch {
    return false;
  }
}

const BATTERY: { readonly [Platform in NodeJS.Platform]?: () => boolean } = {
  linux: () => isDischarging(),
  darwin: () => Bun.spawnSync(["/usr/bin/pmset", "-g", "batt"]).stdout.includes("'Battery Power'"),
  win32: () => {
    const kernel = dlopen("kernel32.dll", {
      GetSystemPowerStatus: { args: ["ptr"], returns: "i32" },
    });
    const status = new Uint8Array(12);
    const isKnown = kernel.symbols.GetSystemPowerStatus(status) !== 0;
    kernel.close();
    return isKnown && status[0] === 0;
  },
};

/** Whether a battery of this machine, not that of a mouse, is being used up. */
export function isDischarging(folder = "/sys/class/power_supply"): boolean {
  return readdirSync(folder).some((name) => {
    const uevent = readFileSync(join(folder, name, "uevent"), "utf8");
    const has = (line: string) => uevent.split("\n").includes(`POWER_SUPPLY_${line}`);
    return has("TYPE=Battery") && has("STATUS=Discharging") && !has("SCOPE=Device");
  });
}

/** Lets the threads of calls and other programs run before this one, where the system can tell threads apart. */
export function giveWay(): void {
  try {
    LOWER[process.platform]?.();
  } catch {
    // It is a courtesy.
  }
}

const UTILITY = 0x11;
const BELOW_NORMAL = -1;

const LOWER: { readonly [Platform in NodeJS.Platform]?: () => void } = {
  // Linux lowers the thread that asks, not its process.
  linux: () => setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL)),
  darwin: () => {
    const system = dlopen("libSystem.B.dylib", {
      pthread_set_qos_class_self_np: { args: ["u32", "i32"], returns: "i32" },
    });
    system.symbols.pthread_set_qos_class_self_np(UTILITY, 0);
    system.close();
  },
  win32: () => {
    const kernel = dlopen("kernel32.dll", {
      GetCurrentThread: { args: [], returns: "ptr" },
      SetThreadPriority: { args: ["ptr", "i32"], returns: "i32" },
    });
    const { GetCurrentThread, SetThreadPriority } = kernel.symbols;
    SetThreadPriority(GetCurrentThread(), BELOW_NORMAL);
    kernel.close();
  },
};

/** Returns to the system what native code has freed: the C library of Linux would keep it. */
export function returnFreed(): void {
  if (process.platform !== "linux") return;
  try {
    const libc = dlopen("libc.so.6", { malloc_trim: { args: ["usize"], returns: "i32" } });
    libc.symbols.malloc_trim(0);
    libc.close();
  } catch {
    // Another C library.
  }
}
