import { createHash } from "node:crypto";
import { html, raw } from "hono/html";

type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> };
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
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
};

/** The parts of the OpenAPI document that the page shows. */
type Document = {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  readonly components: { readonly schemas: Schemas };
};

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #15803d; --warm: #b45309; --cool: #1d4ed8; }
@media (prefers-color-scheme: dark) { :root { --good: #86efac; --warm: #fcd34d; --cool: #93c5fd; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
code, pre, .path { font-family: ui-monospace, monospace; font-size: 13px; }
h1 small { font-weight: 400; opacity: .6; } h3 { margin: 1.6rem 0 0; } h4 { margin: .8rem 0 .3rem; }
a { color: var(--cool); }
details { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; overflow-wrap: anywhere; }
.body { padding: 0 .8rem .8rem; overflow-x: auto; scroll-margin-top: 3rem; }
.method { display: inline-block; min-width: 3.2rem; font-weight: 700; font-size: 12px; }
.get { color: var(--cool); } .post { color: var(--good); } .put { color: var(--warm); }
.note { opacity: .8; margin-left: .6rem; }
table { border-collapse: collapse; width: 100%; }
td { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: .3rem .5rem .3rem 0; }
pre { background: var(--soft); padding: .6rem; border-radius: 6px; overflow: auto; margin: .4rem 0; }
@media (max-width: 40rem) { td { display: block; padding: 0; } td:not(:first-child) { border: 0; } tr { display: block; padding: .2rem 0; } }
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

/** The documentation page: every operation with an example and its fields, then every shape. It works offline and without scripts. */
export function docsPage(document: object): string {
  // SAFETY: `buildOpenApi` makes documents of this form.
  const { info, tags, paths, components } = document as Document;
  const { schemas } = components;
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => ({ path, method, entry })),
  );
  const groups = tags.map(({ name, description }) => {
    const ofGroup = entries.filter(({ entry }) => entry.tags.includes(name));
    return html`<section id="${name}"><h3>${name}</h3><p>${description}</p>
${ofGroup.map(({ path, method, entry }) => operation(path, method, entry, schemas))}</section>`;
  });
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} ${info.version}</title><style>${raw(STYLE)}</style></head>
<body><main>
<h1>${info.title} <small>${info.version}</small></h1>
<p>${info.description} This page comes from <a href="openapi.json">openapi.json</a>.</p>
<p>The examples are for a POSIX shell: <code>$SVC_URL</code> is the address of this server, and <code>$SVC_KEY</code> a key if it was started with keys.</p>
<h2>Operations</h2>
<nav>${joined(
    tags.map(({ name }) => html`<a href="#${name}">${name}</a>`),
    " · ",
  )}</nav>
${groups}
<h2>Shapes</h2>
${Object.entries(schemas).map(([name, schema]) => shape(name, schema))}
</main></body>
</html>
`;
  return String(page);
}

function operation(path: string, method: string, entry: Entry, schemas: Schemas): Markup {
  const { parameters = [], requestBody, responses, summary, description, security } = entry;
  const body = schemaOf(requestBody);
  const answers = Object.entries(responses).map(
    ([status, answer]) => html`<tr><td>${status}</td><td>${answer.description}</td>
<td>${typeOf(schemaOf(answer))}</td></tr>`,
  );
  return html`<details id="${entry.operationId}"><summary><span class="method ${method}">${method.toUpperCase()}</span><span class="path">${path}</span><span class="note">${summary}</span></summary>
<div class="body"><p>${description}</p>
<h4>Example</h4><pre>${exampleCall({ method, path, parameters, body, isPublic: security.length === 0 }, schemas)}</pre>
${
  parameters.length > 0
    ? html`<h4>Parameters</h4>
<table>${parameters.map(({ name, schema, required, in: place }) => row(name, schema, required, place))}</table>`
    : undefined
}
${body && html`<h4>Body: ${typeOf(body)}</h4>${fields(followed(body, schemas))}`}
<h4>Answers</h4><table>${answers}</table></div></details>
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

function shape(name: string, schema: Schema): Markup {
  const { description } = schema;
  return html`<details><summary>${name}</summary><div class="body" id="${name}">
${typeof description === "string" ? html`<p>${description}</p>` : undefined}${schema["properties"] === undefined ? typeOf(schema) : fields(schema)}</div></details>
`;
}

function fields({ properties, required }: Schema): Markup {
  const needed = Array.isArray(required) ? required : [];
  // SAFETY: the members of an object are schemas.
  const members = Object.entries((properties ?? {}) as Schemas);
  return html`<table>${members.map(([name, member]) => row(name, member, needed.includes(name), ""))}</table>`;
}

function row(name: string, schema: Schema, isRequired: boolean, place: string): Markup {
  const marks = [place, isRequired ? "required" : ""].filter((mark) => mark !== "");
  const { description } = schema;
  const told = [typeof description === "string" ? description : "", limitsOf(schema)];
  return html`<tr><td><code>${name}</code><span class="note">${marks.join(", ")}</span></td>
<td>${typeOf(schema)}</td><td>${told.filter((text) => text !== "").join(" - ")}</td></tr>`;
}

const LIMITS = ["default", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"];

function limitsOf(schema: Schema): string {
  return LIMITS.filter((key) => schema[key] !== undefined)
    .map((key) => `${key} ${JSON.stringify(schema[key])}`)
    .join(", ");
}

/** A type in a few words; a named shape becomes a link. */
function typeOf(schema: Schema | undefined): Markup {
  if (schema === undefined) return html``;
  const { $ref, enum: members, anyOf, items, type = "any", format } = schema;
  if (typeof $ref === "string") {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return html`<a href="#${name}">${name}</a>`;
  }
  if (schema["const"] !== undefined) return html`${JSON.stringify(schema["const"])}`;
  if (Array.isArray(members))
    return html`${members.map((value) => JSON.stringify(value)).join(" | ")}`;
  if (Array.isArray(anyOf)) return joined(anyOf.map(typeOf), " | ");
  const kind = [type].flat().join(" | ");
  // SAFETY: a list in a valid document names the schema of its items.
  if (items !== undefined) return html`list of ${typeOf(items as Schema)}`;
  return html`${typeof format === "string" ? `${kind} (${format})` : kind}`;
}

function schemaOf(part: Content | undefined): Schema | undefined {
  return Object.values(part?.content ?? {})[0]?.schema;
}

type Markup = ReturnType<typeof html>;

function joined(list: readonly Markup[], between: string): Markup {
  return html`${list.flatMap((one, at) => (at === 0 ? [one] : [between, one]))}`;
}

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
