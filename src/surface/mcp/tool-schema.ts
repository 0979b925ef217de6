import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";
import { SvcError } from "../../domain/errors.ts";
import type { McpBinding, PreparedCall } from "../contract/operation.ts";

type JsonSchema = Record<string, unknown>;

/** The object of an expected failure: a normal result that the model can act on. */
const errorObjectSchema = z.strictObject({
  error: z.string().meta({ description: "What failed, which value, how to mend it." }),
  conflict: z.literal(true).optional(),
  accepted: z.literal(true).optional().meta({ description: "The source text is safe." }),
  event_id: z.string().optional(),
  reason_code: z.string().optional(),
});

/**
 * The input schema of a tool: shown to clients as JSON Schema, checked by the operation itself, whose messages name
 * every bad argument. What passes is a call that is ready to run.
 * @param isOwnerOpen whether the caller has to name the owner
 */
export function toInputSchema(
  binding: McpBinding,
  isOwnerOpen: boolean,
): StandardSchemaWithJSON<unknown, PreparedCall> {
  const shown = (): JsonSchema => {
    const schema = toJsonSchema(binding.input, "input");
    return binding.needsOwner ? withOwner(schema, isOwnerOpen) : schema;
  };
  return {
    "~standard": {
      version: 1,
      vendor: "svc",
      validate: (args) => {
        try {
          return { value: binding.prepare(args) };
        } catch (error) {
          if (!(error instanceof SvcError)) throw error;
          return { issues: [{ message: error.message }] };
        }
      },
      jsonSchema: { input: shown, output: shown },
    },
  };
}

/** The output schema of a tool: its answer or the error object. Ours to keep, so nothing is checked at run time. */
export function toOutputSchema(binding: McpBinding): StandardSchemaWithJSON<unknown, unknown> {
  const shown = (): JsonSchema => ({
    type: "object",
    anyOf: [toJsonSchema(binding.output, "output"), toJsonSchema(errorObjectSchema, "output")],
  });
  return {
    "~standard": {
      version: 1,
      vendor: "svc",
      validate: (value) => ({ value }),
      jsonSchema: { input: shown, output: shown },
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

function withOwner(schema: JsonSchema, isOwnerOpen: boolean): JsonSchema {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const { user_id: owner, ...others }: JsonSchema = { ...asRecord(schema["properties"]) };
  if (!isOwnerOpen) return { ...schema, properties: { ...others, user_id: owner } };
  const description =
    "Whose memories these are: always the same short name for the same person, for example their user name.";
  return {
    ...schema,
    properties: { ...others, user_id: { ...asRecord(owner), description } },
    required: [...required, "user_id"],
  };
}

function asRecord(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
