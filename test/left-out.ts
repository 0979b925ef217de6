/** Why a test cannot run here: undefined where it can. Skipped tests say it in their titles, by {@link leftOut}. */
export type Lacking = string | undefined;

export const NOT_ROOT: Lacking = process.getuid?.() === 0 ? undefined : "it takes the superuser";
export const NOT_LINUX: Lacking = process.platform === "linux" ? undefined : "it takes Linux";

/** What stands at the end of the title of a test that may be skipped. */
export function leftOut(lacking: Lacking): string {
  return lacking === undefined ? "" : `: left out, ${lacking}`;
}
