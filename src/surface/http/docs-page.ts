import { createHash } from "node:crypto";
import { html, raw } from "hono/html";

type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
};
type Entry = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
};

/** The parts of the OpenAPI document that the page shows. */
type Document = {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  readonly components: { readonly schemas: Schemas };
};

const STYLE = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 13px ui-monospace, monospace; } pre { background: #8881; padding: .6rem; overflow: auto; }
summary { cursor: pointer; overflow-wrap: anywhere; } details { margin: .4rem 0; }
`;
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** The page is self-contained: it loads nothing, runs no script, and has no other style. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The documentation page: every operation with an example. It works offline and without scripts; openapi.json has the fields. */
export function docsPage(document: object): string {
  // SAFETY: `buildOpenApi` makes documents of this form.
  const { info, tags, paths, components } = document as Document;
  const { schemas } = components;
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => ({ path, method, entry })),
  );
  const groups = tags.map(({ name, description }) => {
    const ofGroup = entries.filter(({ entry }) => entry.tags.includes(name));
    return html`<section id="${name}"><h2>${name}</h2><p>${description}</p>
${ofGroup.map(({ path, method, entry }) => operation(path, method, entry, schemas))}</section>`;
  });
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} ${info.version}</title><style>${raw(STYLE)}</style></head>
<body><main>
<h1>${info.title} <small>${info.version}</small></h1>
<p>${info.description} <a href="openapi.json">openapi.json</a> has the fields of each request and answer.</p>
<p>The examples are for a POSIX shell: <code>$SVC_URL</code> is the address of this server, and <code>$SVC_KEY</code> a key if it was started with keys.</p>
${groups}
</main></body>
</html>
`;
  return String(page);
}

function operation(path: string, method: string, entry: Entry, schemas: Schemas): Markup {
  const { parameters = [], requestBody, summary, description, security } = entry;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  const call = { method, path, parameters, body, isPublic: security.length === 0 };
  return html`<details id="${entry.operationId}"><summary><code>${method.toUpperCase()} <span>${path}</span></code> ${summary}</summary>
<p>${description}</p><pre>${exampleCall(call, schemas)}</pre></details>
`;
}

type Call = {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly isPublic: boolean;
};

/** A call that the document allows, with its required members; zeros stand for ids. */
function exampleCall({ method, path, parameters, body, isPublic }: Call, schemas: Schemas): string {
  const textOf = ({ schema }: Parameter): string => String(exampleOf(schema, schemas));
  const needed = parameters.filter(({ required }) => required);
  const ofPath = needed.filter((parameter) => parameter.in === "path");
  const target = ofPath.reduce(
    (text, parameter) => text.replace(`{${parameter.name}}`, encodeURIComponent(textOf(parameter))),
    path,
  );
  const ofQuery = needed.filter((parameter) => parameter.in === "query");
  const query = new URLSearchParams(
    Object.fromEntries(ofQuery.map((one) => [one.name, textOf(one)])),
  ).toString();
  const lines = [
    `curl -X ${method.toUpperCase()} "$SVC_URL${target}${query === "" ? "" : `?${query}`}"`,
    ...(isPublic ? [] : ['-H "Authorization: Bearer $SVC_KEY"']),
    ...(body === undefined
      ? []
      : body["format"] === "binary"
        ? ["--data-binary @FILE"]
        : ["-H 'Content-Type: application/json'", `-d ${quoted(exampleOf(body, schemas))}`]),
  ];
  return lines.join(" \\\n  ");
}

function quoted(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", "'\\''")}'`;
}

type Markup = ReturnType<typeof html>;

/** A part of the OpenAPI document that describes a value. */
export type Schema = Readonly<Record<string, unknown>>;
/** The named schemas of a document. */
export type Schemas = Readonly<Record<string, Schema>>;

/** Placeholder for an identifier that the reader must fill in. */
const EXAMPLE_ID = "00000000-0000-0000-0000-000000000000";
const EXAMPLE_INSTANT = "2026-01-01T00:00:00Z";

/** The schema that a reference names; any other schema unchanged. */
export function followed(schema: Schema, schemas: Schemas): Schema {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  const found = schemas[$ref.slice($ref.lastIndexOf("/") + 1)];
  if (found === undefined) throw new Error(`the document has no ${$ref}`);
  return found;
}

/** A minimal value that a schema allows: its required members, and those with examples. */
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

export function exampleOfObject({ properties, required }: Schema, schemas: Schemas): object {
  // SAFETY: the members of an object in a valid document are schemas.
  const members = Object.entries((properties ?? {}) as Schemas);
  const needed = Array.isArray(required) ? required : [];
  return Object.fromEntries(
    members
      .filter(([name, member]) => needed.includes(name) || "examples" in member)
      .map(([name, member]) => [name, exampleOf(member, schemas)]),
  );
}

export function exampleOfText({ format }: Schema): string {
  if (format === "uuid") return EXAMPLE_ID;
  return format === "date-time" ? EXAMPLE_INSTANT : "text";
}

function numberOr(value: unknown, other: number): number {
  return typeof value === "number" ? value : other;
}
