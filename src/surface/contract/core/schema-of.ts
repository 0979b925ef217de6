import { z } from "zod";
import type { View } from "../../../lib/form.ts";

/** By notes or by shape, which copies of a form share: a name must not refer to two schemas. */
const made = new WeakMap<object, z.ZodType>();

/** The schema of a form, for documents and clients. Created on demand: it does not check answers. */
export function schemaOf(form: View<never>): z.ZodType {
  const key = form.notes ?? form.shape;
  const known = made.get(key);
  if (known !== undefined) return known;
  const plain = plainSchema(form);
  const schema = form.notes === undefined ? plain : plain.meta({ ...form.notes });
  made.set(key, schema);
  return schema;
}

function plainSchema({ shape }: View<never>): z.ZodType {
  switch (shape.kind) {
    case "member":
      return z.enum(shape.members);
    case "constants":
      return constants(shape.values);
    case "nullable":
      // If made `nullable()`, a named shape would be nullable everywhere in the OpenAPI document.
      return isNamed(shape.of)
        ? z.union([schemaOf(shape.of), z.null()])
        : schemaOf(shape.of).nullable();
    case "omitted":
      return schemaOf(shape.of).optional();
    case "dictionary":
      return z.record(z.string(), schemaOf(shape.of));
    case "list": {
      const members = z.array(schemaOf(shape.of));
      return shape.max === undefined ? members : members.max(shape.max);
    }
    case "object":
      return z.strictObject(
        Object.fromEntries(shape.members.map(({ name, form }) => [name, schemaOf(form)])),
      );
    default:
      return SCALARS[shape.kind];
  }
}

function constants(values: readonly (string | number | boolean)[]): z.ZodType {
  const literals = values.map((value) => z.literal(value));
  return literals.length === 1 ? z.literal(values[0]) : z.union(literals);
}

function isNamed(form: View<never>): boolean {
  return form.notes?.id !== undefined;
}

const SCALARS = {
  text: z.string(),
  flag: z.boolean(),
  number: z.number(),
  nonNegative: z.number().min(0),
  unit: z.number().min(0).max(1),
  count: z.int().min(0),
  integer: z.int(),
  null: z.null(),
  decimal: z.string().meta({ format: "decimal", description: "Exact, in plain notation." }),
  instant: z.string().meta({ format: "date-time" }),
  uuid: z.string().meta({ format: "uuid" }),
  sha256: z.string().meta({ pattern: "^[0-9a-f]{64}$" }),
  json: z.unknown(),
  bytes: z.string().meta({ format: "binary" }),
  anyObject: z.record(z.string(), z.unknown()),
};
