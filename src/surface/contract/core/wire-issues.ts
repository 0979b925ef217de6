import { z } from "zod";
import { SvcError } from "../../../domain/errors.ts";

type Issue = z.core.$ZodIssue;

/** Issues named in one message; the others are counted. */
const SHOWN_ISSUES = 10;
/** Characters of a value repeated in a message. */
const SHOWN_CHARS = 80;

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  null: "null",
};

/**
 * Reads an outside value by its schema.
 * @param whole its name in messages, for example `body`; for a body, keys similar to an unknown one are suggested
 * @throws SvcError invalid_argument with one line that names every bad field and its value
 */
export function parseWire<T>(schema: z.ZodType<T>, value: unknown, whole: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = withoutConsequences(result.error.issues);
  const lines = issues
    .slice(0, SHOWN_ISSUES)
    .flatMap((issue) => describe(issue, value, whole))
    .slice(0, SHOWN_ISSUES);
  const rest = countOf(issues) - lines.length;
  const unknown = issues.find(({ code }) => code === "unrecognized_keys");
  const text = [
    ...lines,
    ...(rest > 0 ? [`and ${rest} more`] : []),
    ...(whole === "body" && unknown ? [knownIn(keysAt(schema, unknown.path), "keys")] : []),
  ].join("; ");
  throw new SvcError(codeOf(issues), text, {
    field: pathText(issues[0]?.path ?? [], whole),
  });
}

/** Without consequences of a wrong kind: a text is not a list, whatever its length. */
function withoutConsequences(issues: readonly Issue[]): readonly Issue[] {
  const wrong = new Set(
    issues.flatMap(({ code, path }) => (code === "invalid_type" ? [path.join("\n")] : [])),
  );
  return wrong.size === 0
    ? issues
    : issues.filter(({ code, path }) => code === "invalid_type" || !wrong.has(path.join("\n")));
}

/** An issue carries the code of the rule that raised it under this name. */
export const REFUSAL = "refusal";

/** The code of the only broken rule. */
function codeOf([first, ...others]: readonly Issue[]): "invalid_argument" | "invalid_speaker" {
  const isSpeaker = first?.code === "custom" && first.params?.[REFUSAL] === "invalid_speaker";
  return isSpeaker && others.length === 0 ? "invalid_speaker" : "invalid_argument";
}

/** An issue about unknown keys counts once for each of them. */
function countOf(issues: readonly Issue[]): number {
  return issues.reduce(
    (count, issue) => count + (issue.code === "unrecognized_keys" ? issue.keys.length : 1),
    0,
  );
}

/** Suggestions for an unknown name. */
export function knownIn(names: readonly string[], what: string): string {
  return names.length === 0 ? `there are no ${what}` : `the known ${what} are ${names.join(", ")}`;
}

/** The keys of the object at a path of a value. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return keysAt(schema.unwrap(), path);
  }
  const [step, ...rest] = path;
  if (schema instanceof z.ZodArray) return keysAt(schema.element, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  if (step === undefined) return Object.keys(schema.shape);
  const member: z.core.$ZodType | undefined = schema.shape[String(step)];
  return member === undefined ? [] : keysAt(member, rest);
}

function describe(issue: Issue, root: unknown, whole: string): string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys
      .slice(0, SHOWN_ISSUES)
      .map((key) => `${pathText([...issue.path, key], whole)}: is not a known key`);
  }
  const found = valueAt(root, issue.path);
  return [`${pathText(issue.path, whole)}: ${reason(issue, found)}`];
}

function reason(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      if (value === undefined) return "is required";
      return `${shown(value)} is not ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return value === undefined
        ? `is required: one of ${issue.values.join(", ")}`
        : `${shown(value)} is not one of ${issue.values.join(", ")}`;
    case "too_small":
      return bound(issue.origin, value, `at least ${issue.minimum}`);
    case "too_big":
      return bound(issue.origin, value, `at most ${issue.maximum}`);
    case "invalid_union":
      return union(issue, value);
    default:
      return issue.message;
  }
}

function bound(origin: string, value: unknown, limit: string): string {
  if (origin === "array" && Array.isArray(value)) {
    const count = value.length === 1 ? "1 entry" : `${value.length} entries`;
    return `has ${count}; it must have ${limit}`;
  }
  if (origin === "string" && typeof value === "string") {
    return `has ${[...value].length} characters; it must have ${limit}`;
  }
  return `${shown(value)} must be ${limit}`;
}

/** Of several alternatives, the one that got furthest explains best. */
function union(issue: Extract<Issue, { code: "invalid_union" }>, value: unknown): string {
  const readings = issue.errors.flatMap((branch) => branch.slice(0, 1));
  const best =
    readings.find((first) => first.path.length > 0) ??
    readings.find((first) => first.code !== "invalid_type");
  if (best !== undefined) {
    const at = best.path.length > 0 ? `entry ${best.path.map(String).join(".")}: ` : "";
    return `${at}${reason(best, valueAt(value, best.path))}`;
  }
  const kinds = readings.map((first) =>
    first.code === "invalid_type" ? (KINDS[first.expected] ?? first.expected) : first.message,
  );
  return `${shown(value)} is not ${kinds.join(" or ")}`;
}

function pathText(path: readonly PropertyKey[], whole: string): string {
  if (path.length === 0) return whole;
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    const name = cut(String(part));
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  return cut(JSON.stringify(sample(value, { left: SHOWN_CHARS })) ?? String(value));
}

function cut(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS - 1)}…` : text;
}

/** A part of the value that suffices to show, so that its size and depth do not matter. */
function sample(value: unknown, room: { left: number }): unknown {
  room.left -= 1;
  if (typeof value === "string") return value.slice(0, SHOWN_CHARS);
  if (typeof value !== "object" || value === null) return value;
  const list: unknown[] = [];
  const object: Record<string, unknown> = {};
  for (const name in value) {
    if (room.left <= 0) break;
    const part = sample(Reflect.get(value, name), room);
    if (Array.isArray(value)) list.push(part);
    else Object.defineProperty(object, cut(name), { value: part, enumerable: true });
  }
  return Array.isArray(value) ? list : object;
}
