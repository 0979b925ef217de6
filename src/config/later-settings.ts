/**
 * Settings of parts that are not available yet, and of programs whose settings have the same names. They are recognised but have
 * no effect: a user who has set one in advance, or comes from another program, gets a warning. Groups without any known setting
 * need no entry.
 */
const LATER: Readonly<Record<string, readonly string[]>> = {
  "": ["namespace_id", "vector_exact_search", "vision", "temporal_relation"],
};

/** Whether this version ignores the setting of that name, for example `vision.enabled`. */
export function isLater(setting: string): boolean {
  const [first = "", name] = setting.split(".");
  return name === undefined
    ? LATER[""]?.includes(first) === true
    : LATER[first]?.includes(name) === true;
}

/** The warning about it. @param shown the name as given */
export function passedOver(shown: string): string {
  return `${shown} is not a setting of this version and is ignored`;
}
