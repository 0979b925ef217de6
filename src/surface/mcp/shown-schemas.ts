import { z } from "zod";
import type { McpBinding } from "../contract/core/operation.ts";
import { OPERATIONS } from "../contract/core/operations.ts";
import { schemaOf } from "../contract/core/schema-of.ts";
import type { Repeatable } from "./link/relay.ts";
import { TOOLS } from "./tool-list.ts";

type JsonSchema = Record<string, unknown>;

/** The schemas of one tool as clients see them. */
export type ShownSchemas = {
  /** Without the owner. */
  readonly input: JsonSchema;
  readonly output: JsonSchema;
};

/** Rules that the operation checks and explains; in a list that every conversation pays for, they are not worth their tokens. */
const UNSHOWN_RULES = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "pattern",
  "propertyNames",
  "examples",
];
/**
 * The JSON Schemas of every tool, by name, without references, which older clients do not resolve. Imported as a macro: converting them
 * would take a quarter of the start-up time, so it happens at build time.
 */
export function shownSchemas(): Record<string, ShownSchemas> {
  const shownBy = new Map<string, string>();
  for (const { tool, output } of TOOLS) {
    const id = output.notes?.id;
    if (id !== undefined && !shownBy.has(id)) shownBy.set(id, tool);
  }
  return Object.fromEntries(
    TOOLS.map((binding) => {
      const { tool, input, output, silentArguments = [] } = binding;
      const first = shownBy.get(output.notes?.id ?? "");
      const isShownBefore = first !== undefined && first !== tool;
      return [
        tool,
        {
          input: shownInput(input, ["user_id", ...silentArguments]),
          output: isShownBefore ? answerAs(first) : shownOutput(binding, shownBy),
        },
      ];
    }),
  );
}

/** Complete except for such rules and null: the model need not know that null counts as absent. */
function shownInput(schema: z.ZodObject, unshown: readonly string[]): JsonSchema {
  const { $defs, ...whole } = z.toJSONSchema(schema, { io: "input" });
  const definitions = new Map<string, unknown>(Object.entries($defs ?? {}));
  const shown = asRecord(simplifyInput(whole, definitions));
  const properties = Object.entries(asRecord(shown["properties"]));
  const required = Array.isArray(shown["required"]) ? shown["required"] : [];
  return {
    type: "object",
    properties: Object.fromEntries(properties.filter(([name]) => !unshown.includes(name))),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function simplifyInput(value: unknown, definitions: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => simplifyInput(item, definitions));
  if (typeof value !== "object" || value === null) return value;
  const {
    $ref,
    $schema: _dialect,
    id: _id,
    additionalProperties: _any,
    ...rest
  }: JsonSchema = {
    ...value,
  };
  if (typeof $ref === "string") return simplifyInput(named($ref, definitions, rest), definitions);
  const plain = withoutNull(rest);
  if (plain !== rest) return simplifyInput(plain, definitions);
  const shown = Object.entries(rest).filter(([key, rule]) => isShown(key, rule));
  return Object.fromEntries(
    shown.map(([key, member]) => {
      if (key === "items") return [key, briefEntry(simplifyInput(member, definitions))];
      if (key !== "properties") return [key, simplifyInput(member, definitions)];
      return [key, mapMembers(member, (schema) => simplifyInput(schema, definitions))];
    }),
  );
}

/** An object in a list: its members by name and type; members of the same name are described elsewhere. */
function briefEntry(value: unknown): unknown {
  const entry = asRecord(value);
  if (entry["properties"] === undefined) return value;
  const telling = Object.entries(asRecord(entry["properties"])).filter(
    ([, member]) => !("const" in asRecord(member)),
  );
  const properties = telling.map(([name, member]) => {
    const { description: _text, enum: _members, default: _value, ...brief } = asRecord(member);
    return [name, brief];
  });
  return { ...entry, properties: Object.fromEntries(properties) };
}

function isShown(key: string, value: unknown): boolean {
  if (UNSHOWN_RULES.includes(key)) return false;
  // An id has several notations, of which the format accepts only one.
  if (key === "format") return value !== "uuid";
  return value !== Number.MAX_SAFE_INTEGER && value !== Number.MIN_SAFE_INTEGER;
}

/** A named shape with a description is shown by its description. */
function named(
  reference: string,
  definitions: ReadonlyMap<string, unknown>,
  beside: JsonSchema,
): JsonSchema {
  const shape = { ...resolve(reference, definitions), ...beside };
  return shape["description"] === undefined
    ? shape
    : { type: shape["type"], description: shape["description"] };
}

/** For an argument, null means absent. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(type)) return { type: type.find((name) => name !== "null"), ...rest };
  if (!Array.isArray(anyOf)) return schema;
  const others: unknown[] = anyOf.filter((option: unknown) => asRecord(option)["type"] !== "null");
  if (others.length === anyOf.length) return schema;
  const [only] = others;
  return others.length === 1 ? { ...asRecord(only), ...rest } : { ...rest, anyOf: others };
}

/**
 * The names and types of an answer's members, and the form of a failure. Everyday tools also show the members of list entries. A named
 * shape is shown by the first tool that returns it; others refer to that tool. Constant members are not shown. Outside the core set entries
 * are not shown, and texts, numbers and flags only by name.
 */
function shownOutput(
  { output, toolSet }: McpBinding,
  shownBy: ReadonlyMap<string, string>,
): JsonSchema {
  const { $ref, $defs, ...whole } = z.toJSONSchema(schemaOf(output), { io: "output" });
  const definitions = new Map<string, unknown>(Object.entries($defs ?? {}));
  const { properties } = $ref === undefined ? whole : resolve($ref, definitions);
  const telling = Object.entries(asRecord(properties)).filter(
    ([, member]) => !("const" in asRecord(member)),
  );
  const members = telling.map(([name, member]) => {
    const { items } = asRecord(member);
    if (toolSet !== "core" && isPlain(member)) return [name, {}];
    if (items === undefined) return [name, memberOf(member, shownBy)];
    if (toolSet !== "core") return [name, { type: "array" }];
    return [name, { type: "array", items: entryOf(items, shownBy) }];
  });
  return {
    type: "object",
    properties: { ...Object.fromEntries(members), error: { type: "string" } },
  };
}

function isPlain(member: unknown): boolean {
  return !typesOf(member).some((type) => type === "object" || type === "array");
}

function answerAs(tool: string): JsonSchema {
  return { type: "object", description: `As ${tool}.`, properties: { error: { type: "string" } } };
}

/** An entry of a list, with its members. */
function entryOf(value: unknown, shownBy: ReadonlyMap<string, string>): JsonSchema {
  const { properties } = asRecord(value);
  if (properties === undefined) return memberOf(value, shownBy);
  return {
    type: "object",
    properties: mapMembers(properties, (member) => memberOf(member, shownBy)),
  };
}

/** A member, by its type alone. */
function memberOf(value: unknown, shownBy: ReadonlyMap<string, string>): JsonSchema {
  const { $ref } = asRecord(value);
  const tool = typeof $ref === "string" ? shownBy.get($ref.replace("#/$defs/", "")) : undefined;
  const types = typesOf(value);
  const [only] = types;
  return {
    ...(types.length > 0 && { type: types.length === 1 ? only : types }),
    ...(tool !== undefined && { description: `As ${tool}.` }),
  };
}

/** Undefined if it may be anything. */
function typesOf(value: unknown): readonly unknown[] {
  const { $ref, anyOf, type } = asRecord(value);
  if ($ref !== undefined) return ["object"];
  if (Array.isArray(anyOf)) return [...new Set(anyOf.flatMap(typesOf))];
  if (type === undefined) return [];
  return Array.isArray(type) ? type : [type];
}

function resolve(reference: string, definitions: ReadonlyMap<string, unknown>): JsonSchema {
  return asRecord(definitions.get(reference.replace("#/$defs/", "")));
}

/** A property may be called `id` or `$ref`; these are removed from schemas only. */
function mapMembers(members: unknown, change: (schema: unknown) => unknown): JsonSchema {
  return Object.fromEntries(
    Object.entries(asRecord(members)).map(([name, member]) => [name, change(member)]),
  );
}

function asRecord(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** What clients see of a tool besides its schemas, and which clients. */
export type ToolDescription = Pick<
  McpBinding,
  "tool" | "title" | "description" | "toolSet" | "coreArguments" | "annotations" | "needsOwner"
>;

/**
 * Every tool in the order of the list. Imported as a macro: loading the operations behind the tools takes a quarter of the
 * start-up time, and a client that requests the list needs none of them.
 */
export function toolDescriptions(): readonly ToolDescription[] {
  return TOOLS.map((binding) => {
    const { tool, title, description, toolSet, coreArguments, annotations, needsOwner } = binding;
    const told = { tool, title, description, toolSet, annotations, needsOwner };
    return coreArguments === undefined ? told : { ...told, coreArguments };
  });
}

/** Tools that change nothing if a call is repeated. Imported as a macro, since computing it loads all operations. */
export function repeatableTools(): Repeatable {
  const tools = OPERATIONS.flatMap(({ mcp }) => mcp ?? []);
  const isRepeatable = ({ annotations }: (typeof tools)[number]): boolean =>
    annotations.readOnlyHint || annotations.idempotentHint;
  return {
    tools: tools.filter(isRepeatable).map(({ tool }) => tool),
    byRequestId: tools
      .filter((tool) => !isRepeatable(tool) && takesRequestId(tool.input))
      .map(({ tool }) => tool),
  };
}

/** Whether a caller may give a call a request id. A required `request_id` is a retrieval's. */
function takesRequestId({ shape }: z.ZodObject): boolean {
  const field = shape["request_id"];
  return field !== undefined && z.safeParse(field, undefined).success;
}
