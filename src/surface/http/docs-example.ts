/** A part of the OpenAPI document that describes a value. */
export type Schema = Readonly<Record<string, unknown>>;
/** The named schemas of a document. */
export type Schemas = Readonly<Record<string, Schema>>;

/** Placeholder for an identifier that the reader must fill in. */
export const EXAMPLE_ID = "00000000-0000-0000-0000-000000000000";
const EXAMPLE_INSTANT = "2026-01-01T00:00:00Z";

/** The schema that a reference names; any other schema unchanged. */
export function followed(schema: Schema, schemas: Schemas): Schema {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  const found = schemas[$ref.slice($ref.lastIndexOf("/") + 1)];
  if (found === undefined) throw new Error(`the document has no ${$ref}`);
  return found;
}

/** A small value that a schema allows: its required members, and those for which it has examples. */
export function exampleOf(unread: Schema, schemas: Schemas): unknown {
  const schema = followed(unread, schemas);
  const { examples, anyOf, enum: members, const: only, type } = schema;
  if (Array.isArray(examples)) return examples[0];
  if (only !== undefined) return only;
  if (Array.isArray(members)) return members[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], schemas);
  switch (Array.isArray(type) ? type[0] : type) {
    case "object":
      return exampleOfObject(schema, schemas);
    case "array":
      // SAFETY: a list in a valid document names the schema of its items.
      return numberOr(schema["minItems"], 0) > 0
        ? [exampleOf(schema["items"] as Schema, schemas)]
        : [];
    case "integer":
    case "number":
      return numberOr(schema["minimum"], 0);
    case "boolean":
      return false;
    default:
      return exampleOfText(schema);
  }
}

function exampleOfObject({ properties, required }: Schema, schemas: Schemas): object {
  // SAFETY: the members of an object in a valid document are schemas.
  const members = Object.entries((properties ?? {}) as Schemas);
  const needed = Array.isArray(required) ? required : [];
  return Object.fromEntries(
    members
      .filter(([name, member]) => needed.includes(name) || "examples" in member)
      .map(([name, member]) => [name, exampleOf(member, schemas)]),
  );
}

function exampleOfText({ format }: Schema): string {
  if (format === "uuid") return EXAMPLE_ID;
  return format === "date-time" ? EXAMPLE_INSTANT : "text";
}

function numberOr(value: unknown, other: number): number {
  return typeof value === "number" ? value : other;
}
