import { z } from "zod";
import type { McpBinding } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";

type JsonSchema = Record<string, unknown>;

/** What clients see of one tool. */
export type ShownSchemas = {
  readonly input: JsonSchema;
  /** The input where each call has to name the owner. */
  readonly inputWithOwner: JsonSchema;
  readonly output: JsonSchema;
};

/** The object of an expected failure: a normal result that the model can act on. */
const errorObjectSchema = z.strictObject({
  error: z.string().meta({ description: "What failed, which value, how to mend it." }),
  conflict: z.literal(true).optional(),
  accepted: z.literal(true).optional().meta({ description: "The source text is safe." }),
  event_id: z.string().optional(),
  reason_code: z.string().optional(),
});

/**
 * The JSON Schemas of every tool, by its name. Imported as a macro: converting them takes as long as a quarter of the
 * start, so it is done when the program is built.
 */
export function shownSchemas(): Record<string, ShownSchemas> {
  const bindings = OPERATIONS.flatMap((operation) => operation.mcp ?? []);
  return Object.fromEntries(bindings.map((binding) => [binding.tool, schemasOf(binding)]));
}

function schemasOf(binding: McpBinding): ShownSchemas {
  const input = toJsonSchema(binding.input, "input");
  return {
    input,
    inputWithOwner: binding.needsOwner ? withOwner(input) : input,
    output: {
      type: "object",
      anyOf: [toJsonSchema(binding.output, "output"), toJsonSchema(errorObjectSchema, "output")],
    },
  };
}

/** JSON Schema as clients of all ages read it: without references, and shorter. */
function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _dialect, $defs, ...whole } = z.toJSONSchema(schema, { io });
  const definitions = new Map<string, unknown>(Object.entries($defs ?? {}));
  const simple = simplify(whole, definitions, io);
  return typeof simple === "object" && simple !== null ? { ...simple } : {};
}

function simplify(value: unknown, definitions: ReadonlyMap<string, unknown>, io: string): unknown {
  if (Array.isArray(value)) return value.map((item) => simplify(item, definitions, io));
  if (typeof value !== "object" || value === null) return value;
  const { $ref, id: _id, propertyNames: _names, ...rest }: JsonSchema = { ...value };
  if (typeof $ref === "string") {
    const target = definitions.get($ref.replace("#/$defs/", ""));
    return simplify({ ...(typeof target === "object" ? target : {}), ...rest }, definitions, io);
  }
  if (rest["maximum"] === Number.MAX_SAFE_INTEGER) delete rest["maximum"];
  if (rest["minimum"] === Number.MIN_SAFE_INTEGER) delete rest["minimum"];
  const flat = io === "input" ? withoutNull(rest) : rest;
  return Object.fromEntries(
    Object.entries(flat).map(([key, member]) => [
      key,
      key === "properties"
        ? simplifyMembers(member, definitions, io)
        : simplify(member, definitions, io),
    ]),
  );
}

/** A property may be called `id` or `$ref`; only schemas lose theirs. */
function simplifyMembers(
  members: unknown,
  definitions: ReadonlyMap<string, unknown>,
  io: string,
): unknown {
  if (typeof members !== "object" || members === null) return members;
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, simplify(member, definitions, io)]),
  );
}

/** For an argument, null means absent: the model need not hear of it. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const others: unknown[] = anyOf.filter((option: unknown) => !isNullSchema(option));
  const [only] = others;
  if (others.length === 1 && typeof only === "object") return { ...only, ...rest };
  return { ...rest, anyOf: others };
}

function isNullSchema(option: unknown): boolean {
  return (
    typeof option === "object" && option !== null && "type" in option && option.type === "null"
  );
}

function withOwner(schema: JsonSchema): JsonSchema {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties = asRecord(schema["properties"]);
  const description =
    "Whose memories these are: always the same short name for the same person, for example their user name.";
  return {
    ...schema,
    properties: { ...properties, user_id: { ...asRecord(properties["user_id"]), description } },
    required: [...required, "user_id"],
  };
}

function asRecord(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
