import { isAbsolute, join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { IS_WINDOWS } from "../native/platform.ts";

/** The variables of a process. `XDG_CONFIG_HOME` and `HOME` say where a user's configuration is. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder of the key files, which may not exist yet: `$XDG_CONFIG_HOME/svc/keys` or `~/.config/svc/keys`; on Windows
 * `%APPDATA%\svc\keys` in place of the latter.
 *
 * Like the cache folder, this is not a setting of the program but the platform's convention.
 * @throws SvcError encryption_failed if neither variable names an absolute path
 */
export function keyFolder(environment: Environment): string {
  const xdg = environment["XDG_CONFIG_HOME"];
  const home = environment["HOME"];
  // The XDG specification tells programs to ignore relative paths.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "svc", "keys");
  const roaming = IS_WINDOWS ? environment["APPDATA"] : undefined;
  if (roaming !== undefined && isAbsolute(roaming)) return join(roaming, "svc", "keys");
  if (home !== undefined && isAbsolute(home)) return join(home, ".config", "svc", "keys");
  throw new SvcError(
    "encryption_failed",
    `there is no folder for keys: set ${IS_WINDOWS ? "APPDATA" : "HOME"} or XDG_CONFIG_HOME to an absolute path`,
  );
}
