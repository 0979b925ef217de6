/**
 * Settings of parts that are not available yet, and of programs whose settings have the same names. They are recognised but have
 * no effect: a user who has set one in advance, or comes from another program, gets a warning.
 */
const LATER: ReadonlySet<string> = new Set(["vector_exact_search", "temporal_relation"]);

/** Whether this version ignores the setting of that name, for example `temporal_relation`. */
export function isLater(setting: string): boolean {
  return LATER.has(setting);
}

/** The warning about it. @param shown the name as given */
export function passedOver(shown: string): string {
  return `${shown} is not a setting of this version and is ignored`;
}
