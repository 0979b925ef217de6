import type { z } from "zod";
import { type SettingMeta, settingMeta } from "./fields.ts";
import { GROUP_SETTINGS, ROOT_SETTINGS, SINGLE_UNDERSCORE_GROUPS } from "./schema.ts";

/** One setting as the documentation shows it. */
export type SettingDescription = SettingMeta & {
  /** For example `packing.token_budget`. */
  readonly setting: string;
  /** Undefined at the root. */
  readonly group: string | undefined;
  /** Names of its environment variable, the preferred one first. */
  readonly environment: readonly [string, ...string[]];
};

let described: readonly SettingDescription[] | undefined;

/** Every setting of this version, the root first, then group by group. */
export function describeSettings(): readonly SettingDescription[] {
  described ??= [
    ...Object.entries(ROOT_SETTINGS).map(([name, schema]) => describe(undefined, name, schema)),
    ...Object.entries(GROUP_SETTINGS).flatMap(([group, settings]) =>
      Object.entries(settings).map(([name, schema]) => describe(group, name, schema)),
    ),
  ];
  return described;
}

/** The setting of that name, for example `packing.token_budget`. */
export function describeSetting(setting: string): SettingDescription | undefined {
  return describeSettings().find((known) => known.setting === setting);
}

function describe(group: string | undefined, name: string, schema: z.ZodType): SettingDescription {
  const meta = settingMeta(schema);
  if (meta === undefined) throw new Error(`the setting ${name} has no description`);
  if (group === undefined) {
    return { ...meta, setting: name, group, environment: [`SVC_${name.toUpperCase()}`] };
  }
  const environment: [string, ...string[]] = [`SVC_${group.toUpperCase()}__${name.toUpperCase()}`];
  if (SINGLE_UNDERSCORE_GROUPS.includes(group)) {
    environment.push(`SVC_${group.toUpperCase()}_${name.toUpperCase()}`);
  }
  return { ...meta, setting: `${group}.${name}`, group, environment };
}
