import { SvcError } from "../domain/errors.ts";
import { doubledName, isJsonObject } from "../lib/json.ts";
import {
  describeSetting,
  describeSettings,
  GROUP_SETTINGS,
  NO_EFFECT,
  SINGLE_UNDERSCORE_GROUPS,
} from "./schema.ts";

const PREFIX = "SVC_";
/** Turns capture off for one program; its hooks alone read it. */
export const CAPTURE_SWITCH = "SVC_CAPTURE";

/** A raw value and the name a person would look for. */
export type Given = { readonly value: unknown; readonly name: string };

/** The settings given by one source, by setting name. */
export type SourceValues = {
  readonly values: ReadonlyMap<string, Given>;
  readonly warnings: readonly string[];
};

/** The setting that a variable's name refers to. */
type Target =
  | { readonly kind: "group"; readonly group: string }
  | {
      readonly kind: "setting";
      readonly setting: string;
      /** A single entry of a map. */
      readonly key: string | undefined;
      /** The more specific of two forms wins. */
      readonly rank: number;
    }
  | { readonly kind: "unknown"; readonly group: string | undefined };

type Found = { readonly target: Target; readonly name: string; readonly text: string };

/**
 * Reads the `SVC_` variables of one source. Names ignore case; variables of other programs are ignored. Unknown names at the root give a
 * warning, unknown names within a group an error.
 * @param origin where the variables come from, for messages: `environment` or `.env`.
 * @throws SvcError invalid_config
 */
export function readVariables(
  variables: Iterable<readonly [string, string | undefined]>,
  origin: string,
): SourceValues {
  const found: Found[] = [];
  const warnings: string[] = [];
  for (const [name, text] of variables) {
    if (text === undefined || !name.toUpperCase().startsWith(PREFIX)) continue;
    if (name.toUpperCase() === CAPTURE_SWITCH) continue;
    const target = targetOf(name.slice(PREFIX.length));
    const shown = origin === "environment" ? name : `${name} (in ${origin})`;
    if (target.kind !== "unknown") found.push({ target, name: shown, text });
    else if (target.group === undefined) {
      warnings.push(`${shown} is not a setting of this version and is ignored`);
    } else throw unknownInGroup(shown, target.group);
  }
  return { values: collect(found), warnings };
}

/** Whether this version accepts a setting of that name, with or without effect. */
export function isKnown(setting: string): boolean {
  return NO_EFFECT.has(setting) || describeSetting(setting) !== undefined;
}

function targetOf(rest: string): Target {
  const [first = "", ...more] = rest.split("__");
  const root = first.toLowerCase();
  if (Object.hasOwn(GROUP_SETTINGS, root)) {
    if (more.length === 0) return { kind: "group", group: root };
    const setting = `${root}.${(more[0] ?? "").toLowerCase()}`;
    return settingTarget(setting, more.slice(1), 2) ?? { kind: "unknown", group: root };
  }
  const plain = settingTarget(root, more, 2);
  if (plain !== undefined) return plain;
  for (const group of SINGLE_UNDERSCORE_GROUPS) {
    if (!root.startsWith(`${group}_`)) continue;
    const setting = `${group}.${root.slice(group.length + 1)}`;
    return settingTarget(setting, more, 1) ?? { kind: "unknown", group };
  }
  return { kind: "unknown", group: undefined };
}

function settingTarget(
  setting: string,
  keyParts: readonly string[],
  rank: number,
): Target | undefined {
  if (!isKnown(setting)) return undefined;
  if (keyParts.length === 0) return { kind: "setting", setting, key: undefined, rank };
  // A key keeps its case: it may be an owner's name.
  return describeSetting(setting)?.isMap !== false
    ? { kind: "setting", setting, key: keyParts.join("__"), rank }
    : undefined;
}

function collect(found: readonly Found[]): ReadonlyMap<string, Given> {
  const values = new Map<string, Given>();
  for (const one of found) refuseDoubled(one);
  for (const { target, name, text } of found) {
    if (target.kind !== "group") continue;
    for (const [setting, value, member] of groupMembers(target.group, name, text)) {
      values.set(setting, { value, name: `${name} (${JSON.stringify(member)})` });
    }
  }
  const settings = found.flatMap(({ target, name, text }) =>
    target.kind === "setting" ? [{ ...target, name, text }] : [],
  );
  settings.sort((a, b) => a.rank - b.rank);
  for (const { setting, key, name, text } of settings) {
    if (key === undefined) values.set(setting, { value: text, name });
  }
  for (const { setting, key, name, text } of settings) {
    if (key === undefined) continue;
    values.set(setting, { value: withEntry(values.get(setting)?.value, key, text), name });
  }
  return values;
}

/** @throws SvcError invalid_config for a duplicate JSON key, whose intended value is unclear. */
function refuseDoubled({ target, name, text }: Found): void {
  if (target.kind === "unknown") return;
  const setting = target.kind === "group" ? target.group : target.setting;
  const isJson = target.kind === "group" || describeSetting(setting)?.isMap === true;
  const isWhole = isJson && (target.kind === "group" || target.key === undefined);
  if (!isWhole || parseObject(text) === undefined) return;
  const doubled = doubledName(text);
  if (doubled === undefined) return;
  const reason = `has ${JSON.stringify(doubled)} twice; keep one of them`;
  throw new SvcError("invalid_config", `${name}: ${reason}`, { setting });
}

/** Settings with their values, and their names in the JSON object. */
function groupMembers(group: string, name: string, text: string): [string, unknown, string][] {
  if (text.trim() === "") return [];
  const read = parseObject(text);
  if (read === undefined) {
    const reason = `must be a JSON object of ${group} settings, for example ${PREFIX}${group.toUpperCase()}='{…}'`;
    throw new SvcError("invalid_config", `${name}: ${reason}`, { setting: group });
  }
  return Object.entries(read).map(([member, value]) => {
    const setting = `${group}.${member.toLowerCase()}`;
    if (!isKnown(setting)) {
      throw unknownInGroup(`${name}: ${JSON.stringify(member)}`, group);
    }
    return [setting, value, member];
  });
}

function withEntry(map: unknown, key: string, text: string): unknown {
  const base = typeof map === "string" ? parseObject(map) : map;
  // A base that is not an object is left for the schema to reject.
  if (base === undefined && map !== undefined) return map;
  return { ...(typeof base === "object" ? base : {}), [key]: text };
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function unknownInGroup(name: string, group: string): SvcError {
  const known = describeSettings()
    .filter((setting) => setting.group === group)
    .map((setting) => setting.environment[0]);
  return new SvcError(
    "invalid_config",
    `${name} is not a setting of the group ${group} in this version; remove it or use one of ${known.join(", ")}`,
    { setting: group },
  );
}
