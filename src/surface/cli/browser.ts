import { spawn } from "node:child_process";
import { surroundings } from "../../assistants/catalogue.ts";

/** Milliseconds within which a starter that cannot do it says so. */
const SETTLE_MS = 1000;

/** Opens an address in the person's browser. @returns whether a starter was found and has not failed */
export async function openInBrowser(address: string): Promise<boolean> {
  const { platform, environment, folder } = surroundings();
  const starter = starterFor(platform, environment);
  if (starter === undefined) return false;
  const [command, ...args] = starter;
  // Not of our process group: the Ctrl-C that ends us must not end the browser.
  const child = spawn(command, [...args, address], {
    cwd: folder,
    env: withoutKeys(environment),
    detached: true,
    stdio: "ignore",
  });
  child.unref();
  return await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(true), SETTLE_MS);
    const settle = (isStarted: boolean): void => {
      clearTimeout(timer);
      resolve(isStarted);
    };
    child.once("error", () => settle(false));
    child.once("exit", (code) => settle(code === 0));
  });
}

/** The environment without our settings and the keys of providers. */
export function withoutKeys(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const entries = Object.entries(environment).filter(([name]) => !/^SVC_|_API_KEY$/i.test(name));
  return Object.fromEntries(entries);
}

/** The program of the system that opens an address; undefined where nobody would see the browser. */
export function starterFor(
  platform: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly [string, ...string[]] | undefined {
  if (platform === "darwin") return ["open"];
  // The empty word is the title of the window.
  if (platform === "win32") return ["cmd", "/c", "start", ""];
  const hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].some(
    (name) => (environment[name] ?? "") !== "",
  );
  return hasDisplay ? ["xdg-open"] : undefined;
}
