import { z } from "zod";
import { Secret } from "../lib/secret.ts";
import { expandedPath, pathProblem } from "./path.ts";

/** What the documentation and the error messages say about one setting. */
export type SettingMeta = {
  /** For example `integer`, `one of rrf, weighted`. */
  readonly type: string;
  /** As a person would write it; undefined when the setting is unset by default. */
  readonly defaultText: string | undefined;
  /** For example `0 to 1`; empty when there are none. */
  readonly bounds: string;
  readonly description: string;
  /** Its value is never shown. */
  readonly isSecret: boolean;
  /** Whether single entries may be given as `NAME__<key>`. */
  readonly isMap: boolean;
};

/** Texts that mean "unset" for a setting that may be unset. */
const UNSET_TEXTS = new Set(["", "null", "none"]);
const TRUE_TEXTS = new Set(["1", "true", "t", "yes", "y", "on"]);
const FALSE_TEXTS = new Set(["0", "false", "f", "no", "n", "off"]);

const META = z.registry<SettingMeta>();

/** The metadata of the setting that `schema` reads; undefined for other schemas. */
export function settingMeta(schema: z.ZodType): SettingMeta | undefined {
  return META.get(schema);
}

type Default<T> = { readonly default: T };
type Bounds = { readonly min?: number; readonly above?: number; readonly max?: number };

/** A whole number; text such as `10` and `10.0` is read, `10.5` is not. */
export function integer(options: Default<number> & Bounds, description: string) {
  const schema = z.preprocess(numberFromText, bounded(z.number().int(), options));
  return schema
    .default(options.default)
    .register(META, numberMeta("integer", options, description));
}

/** A finite number. */
export function decimal(options: Default<number> & Bounds, description: string) {
  const schema = z.preprocess(numberFromText, bounded(z.number(), options));
  return schema.default(options.default).register(META, numberMeta("number", options, description));
}

/** A finite number, or unset. */
export function optionalDecimal(
  options: Default<number | undefined> & Bounds,
  description: string,
) {
  return optionalNumber(z.number(), "number or unset", options, description);
}

/** A whole number, or unset. */
export function optionalInteger(
  options: Default<number | undefined> & Bounds,
  description: string,
) {
  return optionalNumber(z.number().int(), "integer or unset", options, description);
}

function optionalNumber(
  number: z.ZodNumber,
  type: string,
  options: Default<number | undefined> & Bounds,
  description: string,
) {
  const inner = bounded(number, options).optional();
  const schema = z.preprocess((value) => numberFromText(unsetFromText(value)), inner);
  // An explicit "unset" must survive, so the default applies only if nothing was given.
  return schema
    .prefault(options.default ?? null)
    .register(META, numberMeta(type, options, description));
}

function bounded(schema: z.ZodNumber, bounds: Bounds): z.ZodNumber {
  let result = schema;
  if (bounds.min !== undefined) result = result.min(bounds.min);
  if (bounds.above !== undefined) result = result.gt(bounds.above);
  if (bounds.max !== undefined) result = result.max(bounds.max);
  return result;
}

function numberMeta(
  type: string,
  options: Default<number | undefined> & Bounds,
  description: string,
): SettingMeta {
  return meta(type, options.default?.toString(), description, {
    bounds: boundsText(options),
  });
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

/** 1/0, true/false, t/f, yes/no, y/n, on/off in any case. */
export function flag(byDefault: boolean, description: string) {
  return z
    .preprocess(flagFromText, z.boolean())
    .default(byDefault)
    .register(META, meta("true or false", String(byDefault), description));
}

/** True, false, or unset; blank text is unset. */
export function optionalFlag(description: string) {
  return z
    .preprocess((value) => {
      const given = unsetWhenBlank(value);
      return given === undefined ? undefined : flagFromText(given);
    }, z.boolean().optional())
    .prefault(null)
    .register(META, meta("true, false or unset", undefined, description));
}

/** Text that must not be blank. */
export function text(byDefault: string, description: string) {
  return z
    .string()
    .trim()
    .min(1)
    .default(byDefault)
    .register(META, meta("text", byDefault, description, { bounds: "not blank" }));
}

/** Text, or unset; blank text is unset. */
export function optionalText(description: string) {
  return z
    .preprocess(unsetWhenBlank, z.string().optional())
    .prefault(null)
    .register(META, meta("text or unset", undefined, description));
}

/** A path: of a file or folder, which need not exist. */
export function path(byDefault: string, description: string) {
  return z
    .string()
    .trim()
    .min(1)
    .transform(readPath)
    .default(byDefault)
    .register(META, meta("path", byDefault, description, { bounds: "not blank" }));
}

/** A path, or unset; blank text is unset. */
export function optionalPath(description: string) {
  return z
    .preprocess(unsetWhenBlank, z.string().trim().transform(readPath).optional())
    .prefault(null)
    .register(META, meta("path or unset", undefined, description));
}

function readPath(text: string, context: z.RefinementCtx): string {
  const message = pathProblem(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
  return expandedPath(text);
}

/** Text, or unset; blank text is kept, for a rule to refuse it. */
export function optionalName(description: string, bounds: string) {
  return z
    .preprocess(undefinedWhenNull, z.string().optional())
    .prefault(null)
    .register(META, meta("text or unset", undefined, description, { bounds }));
}

/** A text that is never shown. */
export const secret = z.string().transform((text) => new Secret(text));

/** Like `optionalText`; never shown. */
export function optionalSecret(description: string) {
  return z
    .preprocess(unsetWhenBlank, secret.optional())
    .prefault(null)
    .register(META, meta("secret text or unset", undefined, description, { isSecret: true }));
}

/** Like `optionalName`; never shown. */
export function optionalSecretName(description: string, bounds: string) {
  return z
    .preprocess(undefinedWhenNull, secret.optional())
    .prefault(null)
    .register(
      META,
      meta("secret text or unset", undefined, description, { bounds, isSecret: true }),
    );
}

/** A member of a closed set, ignoring case. */
export function member<const T extends string>(
  members: readonly T[],
  byDefault: T,
  description: string,
) {
  return z
    .preprocess(lowerCase, z.enum(members))
    .default(() => byDefault)
    .register(META, meta(oneOf(members), byDefault, description));
}

/** A member of a closed set, or unset. */
export function optionalMember<const T extends string>(
  members: readonly T[],
  byDefault: T | undefined,
  description: string,
) {
  return z
    .preprocess((value) => lowerCase(unsetFromText(value)), z.enum(members).optional())
    .prefault(byDefault ?? null)
    .register(META, meta(`${oneOf(members)}, or unset`, byDefault, description));
}

/** Like `optionalMember` for a set with a member `none`: only null and the text `null` unset it. */
export function optionalMemberOrNone<const T extends string>(
  members: readonly ["none", ...T[]],
  description: string,
) {
  return z
    .preprocess(
      (value) => (lowerCase(value) === "null" ? undefined : lowerCase(undefinedWhenNull(value))),
      z.enum(members).optional(),
    )
    .prefault(null)
    .register(META, meta(`${oneOf(members)}, or unset`, undefined, description));
}

/** A list of texts, in JSON when given as text. */
export function textList(description: string) {
  return listOf(z.string().trim().min(1), { default: [] }, description);
}

/** A list of finite numbers, in JSON when given as text. */
export function numberList(options: Default<readonly number[]> & Bounds, description: string) {
  const shown = JSON.stringify(options.default);
  const item = z.preprocess(numberFromText, bounded(z.number(), options));
  return z
    .preprocess(jsonFromText, z.array(item).readonly())
    .default(() => options.default)
    .register(
      META,
      meta("JSON list of numbers", shown, description, { bounds: `each ${boundsText(options)}` }),
    );
}

/** A list of texts of one form, in JSON when given as text. */
export function listOf(
  item: z.ZodType<string>,
  options: Default<readonly string[]> & { readonly bounds?: string },
  description: string,
) {
  const { bounds = "" } = options;
  const shown = JSON.stringify(options.default);
  return z
    .preprocess(jsonFromText, z.array(item).readonly())
    .default(() => options.default)
    .register(META, meta('JSON list, for example ["a","b"]', shown, description, { bounds }));
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
  const { bounds = "", isSecret = false } = options;
  // Not a record: zod leaves the key `__proto__` out of those, and an owner may have that name.
  const entries = z.preprocess(
    (given) => mapFromObject(jsonFromText(given)),
    z.map(z.string(), value),
  );
  return entries
    .transform((map): Readonly<Record<string, z.output<V>>> => Object.fromEntries(map))
    .default(() => options.default)
    .register(
      META,
      meta("JSON map", JSON.stringify(options.default), description, {
        bounds,
        isSecret,
        isMap: true,
      }),
    );
}

/** Reads the values of a map of objects, in JSON when given as text. */
export function mapObject<V extends z.ZodType>(value: V) {
  return z.preprocess(jsonFromText, value);
}

/** Reads the values of a map of numbers. */
export function mapNumber(bounds: Bounds = {}) {
  return z.preprocess(numberFromText, bounded(z.number(), bounds));
}

/** Reads the values of a map of whole numbers. */
export function mapInteger(bounds: Bounds) {
  return z.preprocess(numberFromText, bounded(z.number().int(), bounds));
}

/** Reads the values of a map of whole numbers that may be null. */
export function mapIntegerOrNull(bounds: Bounds) {
  return z.preprocess(
    (value) => (unsetFromText(value) === undefined ? null : numberFromText(value)),
    bounded(z.number().int(), bounds).nullable(),
  );
}

function meta(
  type: string,
  defaultText: string | undefined,
  description: string,
  rest: { readonly bounds?: string; readonly isSecret?: boolean; readonly isMap?: boolean } = {},
): SettingMeta {
  const { bounds = "", isSecret = false, isMap = false } = rest;
  return { type, defaultText, bounds, description, isSecret, isMap };
}

function oneOf(members: readonly string[]): string {
  return members.length === 1 ? `only ${members[0]}` : `one of ${members.join(", ")}`;
}

function numberFromText(value: unknown): unknown {
  // Negative zero becomes zero, so that equal settings are written equally.
  if (typeof value === "number") return value === 0 ? 0 : value;
  if (typeof value !== "string") return value;
  // Number("") is 0, and Number("0x10") is 16: neither is intended here.
  if (!/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return value;
  return numberFromText(Number(value));
}

function flagFromText(value: unknown): unknown {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string") return value;
  const word = value.trim().toLowerCase();
  if (TRUE_TEXTS.has(word)) return true;
  return FALSE_TEXTS.has(word) ? false : value;
}

function unsetFromText(value: unknown): unknown {
  if (value === null) return undefined;
  return typeof value === "string" && UNSET_TEXTS.has(value.trim().toLowerCase())
    ? undefined
    : value;
}

function unsetWhenBlank(value: unknown): unknown {
  if (value === null) return undefined;
  return typeof value === "string" && value.trim() === "" ? undefined : value;
}

function undefinedWhenNull(value: unknown): unknown {
  return value === null ? undefined : value;
}

function lowerCase(value: unknown): unknown {
  return typeof value === "string" ? value.trim().toLowerCase() : value;
}

function mapFromObject(value: unknown): unknown {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? new Map(Object.entries(value)) : value;
}

function jsonFromText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    // Left as text: the schema refuses it and the message names the setting and the expected form.
    return value;
  }
}
