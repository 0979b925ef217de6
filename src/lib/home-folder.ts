/** How people write their home folder where no shell reads it. */
const HOME = /^(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%)(?=$|[\\/])/;

/** The path with the home folder in place of `~`, `$HOME` or `${HOME}` at its start. @param home absolute */
export function withHome(path: string, home: string): string {
  return path.replace(HOME, () => home);
}
