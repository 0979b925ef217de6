import { z } from "zod";
import { isJsonObject } from "../lib/json.ts";
import { Secret } from "../lib/secret.ts";
import { expandedPath, pathProblem } from "./path.ts";

/** The documentation and error-message text of a setting. */
export type SettingMeta = {
  /** For example `integer`, `one of rrf, weighted`. */
  readonly type: string;
  /** As a person would write it; undefined when the setting is unset by default. */
  readonly defaultText: string | undefined;
  /** For example `0 to 1`; empty if none. */
  readonly bounds: string;
  readonly description: string;
  readonly isSecret: boolean;
  /** Whether single entries may be given as `NAME__<key>`. */
  readonly isMap: boolean;
};

type Default<T> = { readonly default: T };
type Bounds = { readonly min?: number; readonly above?: number; readonly max?: number };
type Read = (given: unknown) => unknown;
type Meta = Pick<SettingMeta, "type" | "description"> & Partial<SettingMeta>;

/** The metadata of each setting, by the schema that reads it. */
export const META = z.registry<SettingMeta>();

function described(meta: Meta): SettingMeta {
  return { defaultText: undefined, bounds: "", isSecret: false, isMap: false, ...meta };
}

/** A setting that always has a value. */
function set<T>(read: Read, schema: z.ZodType<T>, byDefault: T, meta: Meta) {
  const defaultText = typeof byDefault === "object" ? JSON.stringify(byDefault) : `${byDefault}`;
  // SAFETY: a default is what the schema would produce; zod expects it without the type of a transformation.
  const filled = z.preprocess(read, schema).default(() => byDefault as z.core.util.NoUndefined<T>);
  return filled.register(META, described({ defaultText, ...meta }));
}

/** An optional setting. An explicit "unset" is kept: the default applies only if nothing was given. */
function unset<T>(read: Read, schema: z.ZodType<T>, byDefault: T | undefined, meta: Meta) {
  const filled = z.preprocess(read, schema.optional()).prefault(byDefault ?? null);
  return filled.register(META, described({ defaultText: byDefault?.toString(), ...meta }));
}

const numeric =
  (type: string, schema: z.ZodNumber) =>
  (options: Default<number> & Bounds, description: string) => {
    const meta = { type, bounds: boundsText(options), description };
    return set(numberFromText, bounded(schema, options), options.default, meta);
  };
const optionalNumeric =
  (type: string, schema: z.ZodNumber) =>
  (options: Default<number | undefined> & Bounds, description: string) => {
    const meta = { type: `${type} or unset`, bounds: boundsText(options), description };
    return unset(numberOrUnset, bounded(schema, options), options.default, meta);
  };

/** A whole number; text such as `10` and `10.0` is read, `10.5` is not. */
export const integer = numeric("integer", z.number().int());
export const decimal = numeric("number", z.number());
export const optionalInteger = optionalNumeric("integer", z.number().int());
export const optionalDecimal = optionalNumeric("number", z.number());

/** 1/0, true/false, t/f, yes/no, y/n, on/off in any case. */
export function flag(byDefault: boolean, description: string) {
  return set(flagFromText, z.boolean(), byDefault, { type: "true or false", description });
}

/** True, false, or unset; blank text is unset. */
export function optionalFlag(description: string) {
  const read = (given: unknown) => flagFromText(unsetWhenBlank(given));
  return unset(read, z.boolean(), undefined, { type: "true, false or unset", description });
}

const TEXT = z.string().trim().min(1);

export function text(byDefault: string, description: string) {
  return set(asGiven, TEXT, byDefault, { type: "text", bounds: "not blank", description });
}

/** Text, or unset; blank text is unset. */
export function optionalText(description: string) {
  return unset(unsetWhenBlank, z.string(), undefined, { type: "text or unset", description });
}

/** Text, or unset; blank text is kept, for a rule to reject. */
export function optionalName(description: string, bounds: string) {
  return unset(unsetWhenNull, z.string(), undefined, {
    type: "text or unset",
    bounds,
    description,
  });
}

const PATH = z.transform((text: string, context): string => {
  const message = pathProblem(text);
  if (message !== undefined) context.issues.push({ code: "custom", message, input: text });
  return expandedPath(text);
});

/** A path: of a file or folder, which need not exist. */
export function path(byDefault: string, description: string) {
  const meta = { type: "path", bounds: "not blank", description };
  return set(asGiven, TEXT.pipe(PATH), byDefault, meta);
}

/** A path, or unset; blank text is unset. */
export function optionalPath(description: string) {
  const schema = z.string().trim().pipe(PATH);
  return unset(unsetWhenBlank, schema, undefined, { type: "path or unset", description });
}

export const secret = z.string().transform((text) => new Secret(text));

/** Like `optionalText`; never shown. */
export function optionalSecret(description: string) {
  const meta = { type: "secret text or unset", description, isSecret: true };
  return unset(unsetWhenBlank, secret, undefined, meta);
}

/** Like `optionalName`; never shown. */
export function optionalSecretName(description: string, bounds: string) {
  const meta = { type: "secret text or unset", bounds, description, isSecret: true };
  return unset(unsetWhenNull, secret, undefined, meta);
}

/** A member of a closed set, ignoring case. */
export function member<const T extends string>(
  members: readonly T[],
  byDefault: NoInfer<T>,
  description: string,
) {
  return set(lowerCase, z.enum(members), byDefault, { type: oneOf(members), description });
}

export function optionalMember<const T extends string>(
  members: readonly T[],
  byDefault: NoInfer<T> | undefined,
  description: string,
) {
  const read = (given: unknown) => lowerCase(unsetFromText(given));
  const meta = { type: `${oneOf(members)}, or unset`, description };
  return unset(read, z.enum(members), byDefault, meta);
}

/** Like `optionalMember` for a set with a member `none`: only null and the text `null` unset it. */
export function optionalMemberOrNone<const T extends string>(
  members: readonly ["none", ...T[]],
  description: string,
) {
  const read = (given: unknown) => {
    const word = lowerCase(given);
    return word === "null" || word === null ? undefined : word;
  };
  const meta = { type: `${oneOf(members)}, or unset`, description };
  return unset<"none" | T>(read, z.enum<readonly ["none", ...T[]]>(members), undefined, meta);
}

/** A list of texts of one form, in JSON when given as text. */
export function listOf(
  item: z.ZodType<string>,
  { default: byDefault, bounds = "" }: Default<readonly string[]> & { readonly bounds?: string },
  description: string,
) {
  const meta = { type: 'JSON list, for example ["a","b"]', bounds, description };
  return set(jsonFromText, z.array(item).readonly(), byDefault, meta);
}

export function textList(description: string) {
  return listOf(TEXT, { default: [] }, description);
}

/** A list of finite numbers, in JSON when given as text. */
export function numberList(options: Default<readonly number[]> & Bounds, description: string) {
  const bounds = `each ${boundsText(options)}`;
  const meta = { type: "JSON list of numbers", bounds, description };
  return set(jsonFromText, z.array(mapNumber(options)).readonly(), options.default, meta);
}

/** A map with values of one kind, in JSON when given as text. It replaces the default map as a whole. */
export function mapOf<V extends z.ZodType>(
  value: V,
  options: Default<Readonly<Record<string, z.output<V>>>> & {
    readonly bounds?: string;
    readonly isSecret?: boolean;
  },
  description: string,
) {
  const { default: byDefault, ...rest } = options;
  // Not a record: zod drops the key `__proto__` from those, and an owner may have that name.
  const entries = z
    .map(z.string(), value)
    .transform((map): Readonly<Record<string, z.output<V>>> => Object.fromEntries(map));
  const read = (given: unknown) => mapFromObject(jsonFromText(given));
  return set(read, entries, byDefault, { type: "JSON map", isMap: true, description, ...rest });
}

export function mapNumber(bounds: Bounds = {}) {
  return z.preprocess(numberFromText, bounded(z.number(), bounds));
}

export function mapInteger(bounds: Bounds) {
  return z.preprocess(numberFromText, bounded(z.number().int(), bounds));
}

/** Reads the values of a map of whole numbers that may be null. */
export function mapIntegerOrNull(bounds: Bounds) {
  const read = (given: unknown) => numberOrUnset(given) ?? null;
  return z.preprocess(read, bounded(z.number().int(), bounds).nullable());
}

function bounded(schema: z.ZodNumber, { min, above, max }: Bounds): z.ZodNumber {
  let result = schema;
  if (min !== undefined) result = result.min(min);
  if (above !== undefined) result = result.gt(above);
  return max === undefined ? result : result.max(max);
}

function boundsText({ min, above, max }: Bounds): string {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  const parts = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(above === undefined ? [] : [`above ${above}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
  ];
  return parts.join(", ");
}

function oneOf(members: readonly string[]): string {
  return members.length === 1 ? `only ${members[0]}` : `one of ${members.join(", ")}`;
}

function asGiven(value: unknown): unknown {
  return value;
}

function numberFromText(value: unknown): unknown {
  // Negative zero becomes zero, so that equal settings are written equally.
  if (typeof value === "number") return value === 0 ? 0 : value;
  if (typeof value !== "string") return value;
  // Number("") is 0, and Number("0x10") is 16: neither is intended here.
  if (!/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return value;
  return numberFromText(Number(value));
}

function numberOrUnset(value: unknown): unknown {
  return numberFromText(unsetFromText(value));
}

function flagFromText(value: unknown): unknown {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string") return value;
  const word = value.trim();
  if (/^(?:1|true|t|yes|y|on)$/i.test(word)) return true;
  return /^(?:0|false|f|no|n|off)$/i.test(word) ? false : value;
}

function unsetWhenNull(value: unknown): unknown {
  return value === null ? undefined : value;
}

function unsetWhenBlank(value: unknown): unknown {
  return typeof value === "string" && value.trim() === "" ? undefined : unsetWhenNull(value);
}

/** Texts that mean "unset" for an optional setting: `null`, `none`, and the empty text. */
function unsetFromText(value: unknown): unknown {
  const isUnset = typeof value === "string" && /^\s*(?:null|none)?\s*$/i.test(value);
  return isUnset ? undefined : unsetWhenNull(value);
}

function lowerCase(value: unknown): unknown {
  return typeof value === "string" ? value.trim().toLowerCase() : value;
}

function mapFromObject(value: unknown): unknown {
  return isJsonObject(value) ? new Map(Object.entries(value)) : value;
}

function jsonFromText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    // Left as text: the schema rejects it, and the message names the setting and the expected form.
    return value;
  }
}
